"""Joining deltas: text is never changed, only cut differently."""

from __future__ import annotations

import random

import pytest

from jupyter_agentchat.protocol.events import (
    AssistantText,
    EventBody,
    Notice,
    Thinking,
    ToolUseUpdate,
)
from jupyter_agentchat.providers.base import Step
from jupyter_agentchat.runs.coalesce import (
    BATCH_LIMIT,
    BATCH_LIMIT_BYTES,
    QUIET_S,
    WINDOW_S,
    Batch,
    join,
)


def text(item: str, delta: str) -> AssistantText:
    return AssistantText(item_id=item, delta=delta)


def test_neighbouring_deltas_of_one_item_become_one() -> None:
    joined = join([text("a", "Hel"), text("a", "lo"), text("b", "!"), text("a", "?")])
    assert [(body.item_id, body.delta) for body in joined if isinstance(body, AssistantText)] == [
        ("a", "Hello"),
        ("b", "!"),
        ("a", "?"),
    ]


def test_reasoning_and_answer_with_the_same_id_are_never_mixed() -> None:
    joined = join([Thinking(item_id="a", delta="hm"), text("a", "yes")])
    assert [body.type for body in joined] == ["thinking", "assistant_text"]


def test_joining_keeps_every_character_in_order() -> None:
    chance = random.Random(7)
    bodies: list[EventBody] = []
    for number in range(500):
        kind = chance.choice(["text", "think", "tool", "notice"])
        item = chance.choice("ab")
        if kind == "text":
            bodies.append(text(item, f"{number} "))
        elif kind == "think":
            bodies.append(Thinking(item_id=item, delta=f"{number} "))
        elif kind == "tool":
            bodies.append(ToolUseUpdate(tool_id=item, output_delta=f"{number} "))
        else:
            bodies.append(Notice(code="n", text=f"{number} "))

    def spoken(items: list[EventBody]) -> str:
        out = []
        for body in items:
            match body:
                case AssistantText() | Thinking():
                    out.append(body.delta or "")
                case ToolUseUpdate():
                    out.append(body.output_delta or "")
                case Notice():
                    out.append(body.text)
        return "".join(out)

    joined = join(bodies)
    assert spoken(joined) == spoken(bodies)
    assert len(joined) < len(bodies)


def test_the_first_delta_after_a_pause_goes_at_once_and_a_fast_stream_in_windows() -> None:
    batch = Batch()
    batch.add(Step((text("a", "1"),)), at=10.0)
    assert batch.wait_s(10.0) == 0.0
    batch.take()
    batch.add(Step((text("a", "2"),)), at=10.0 + QUIET_S / 2)
    assert batch.wait_s(10.0 + QUIET_S / 2) == pytest.approx(WINDOW_S)


def test_the_first_delta_is_not_held_back_by_what_came_right_before_it() -> None:
    batch = Batch()
    batch.add(Step((Notice(code="n", text="look"),)), at=10.0)
    batch.take()
    batch.add(Step((text("a", "1"),)), at=10.001)
    assert batch.wait_s(10.001) == 0.0


def test_anything_but_a_delta_goes_at_once() -> None:
    batch = Batch()
    batch.add(Step((text("a", "1"),)), at=10.0)
    batch.take()
    batch.add(Step((Notice(code="n", text="look"),), offset=77), at=10.001)
    assert batch.wait_s(10.001) == 0.0
    assert batch.take()[1] == 77


def test_an_offset_without_bodies_is_kept_until_the_window_ends() -> None:
    batch = Batch()
    assert batch.wait_s(1.0) is None
    batch.add(Step((), offset=5), at=1.0)
    assert batch.wait_s(1.0) == WINDOW_S
    assert batch.take() == ([], 5)


def test_a_batch_is_full_by_its_bodies_or_by_the_bytes_of_their_lines() -> None:
    batch = Batch()
    for number in range(BATCH_LIMIT):
        assert not batch.full
        batch.add(Step((text("a", "x"),), offset=number), at=1.0)
    assert batch.full
    batch.take()
    batch.add(Step((text("a", "x"),), offset=BATCH_LIMIT + BATCH_LIMIT_BYTES), at=1.0)
    assert batch.full
    assert batch.wait_s(1.0) == 0.0


def test_the_lines_of_another_child_count_from_their_own_beginning() -> None:
    batch = Batch()
    batch.add(Step((text("a", "x"),), offset=10 * BATCH_LIMIT_BYTES), at=1.0)
    batch.take()
    batch.add(Step((text("a", "x"),), offset=100), at=1.0)
    batch.add(Step((text("a", "x"),), offset=100 + BATCH_LIMIT_BYTES), at=1.0)
    assert batch.full
