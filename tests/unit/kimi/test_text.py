"""Pieces of text by their offset; turns and the messages steered into them."""

from __future__ import annotations

from jupyter_agentchat.protocol.events import AssistantText, EventBody
from jupyter_agentchat.providers.kimi.plan_usage import plan_usage
from jupyter_agentchat.providers.kimi.translate.text import TextStream
from jupyter_agentchat.providers.kimi.translate.turns import Turns

DELTA = "assistant.delta"


def said(bodies: list[EventBody]) -> str:
    return "".join(body.delta or "" for body in bodies if isinstance(body, AssistantText))


def test_what_is_known_is_dropped_what_overlaps_is_cut_and_a_hole_is_noticed() -> None:
    text = TextStream()
    text.begin("s")
    assert said(text.piece(DELTA, "abc", 0)) == "abc"
    assert text.piece(DELTA, "abc", 0) == []
    assert said(text.piece(DELTA, "bcde", 1)) == "de"
    assert text.piece(DELTA, "h", 7) == []
    assert text.gap
    assert said(text.piece(DELTA, "abcdefgh", 0)) == "fgh"
    (final,) = text.finish()
    assert isinstance(final, AssistantText)
    assert final.text == "abcdefgh"


def test_characters_outside_the_basic_plane_count_twice_and_are_never_halved() -> None:
    smile = "\N{GRINNING FACE}"
    text = TextStream()
    text.begin("s")
    assert said(text.piece(DELTA, f"a{smile}", 0)) == f"a{smile}"
    assert said(text.piece(DELTA, f"{smile}b", 1)) == "b"
    halves = smile.encode("utf-16-le")
    first = halves[:2].decode("utf-16-le", "surrogatepass")
    second = halves[2:].decode("utf-16-le", "surrogatepass")
    assert text.piece(DELTA, first, 4) == []
    assert said(text.piece(DELTA, f"{second}!", 5)) == f"{smile}!"
    (final,) = text.finish()
    assert isinstance(final, AssistantText)
    assert final.text == f"a{smile}b{smile}!"


def test_a_step_that_is_tried_again_takes_its_words_back() -> None:
    text = TextStream()
    text.begin("one")
    text.piece(DELTA, "half an ans", 0)
    (gone,) = text.withdraw()
    assert isinstance(gone, AssistantText)
    assert (gone.item_id, gone.text, gone.final) == ("one:text", "", True)
    text.begin("two")
    assert said(text.piece(DELTA, "an answer", 0)) == "an answer"


def test_a_run_lasts_until_what_was_steered_into_it_is_done() -> None:
    turns = Turns("r")
    named = turns.expect()
    assert named == "agentchat-r-0"
    turns.read("prompt.submitted", {"promptId": "agentchat-r"})
    turns.read("turn.started", {"promptId": "agentchat-r", "turnId": 4})
    assert turns.has(4)
    assert turns.active
    turns.read("prompt.submitted", {"promptId": named})
    turns.read("turn.ended", {"turnId": 4})
    turns.read("prompt.aborted", {"promptId": "agentchat-r"})
    assert (turns.over, turns.waiting) == (False, True)
    turns.read("turn.started", {"promptId": named, "turnId": 5})
    assert (turns.waiting, turns.begun_by_steer) == (False, named)
    turns.read("turn.ended", {"turnId": 5})
    assert turns.over
    assert turns.expect() == "agentchat-r-1"


def test_a_message_that_was_taken_up_needs_no_turn_and_another_runs_is_not_ours() -> None:
    turns = Turns("r")
    turns.read("turn.started", {"promptId": "agentchat-r", "turnId": 1})
    turns.read("prompt.submitted", {"promptId": "agentchat-r-7"})
    turns.read("turn.steer", {"promptIds": ["agentchat-r-7"], "turnId": 1})
    turns.read("prompt.completed", {"promptId": "agentchat-rr"})
    assert not turns.over
    turns.read("prompt.completed", {"promptId": "agentchat-r"})
    assert turns.over
    assert turns.expect(skip=8) == "agentchat-r-16"


def test_a_turn_that_nobody_asked_for_is_a_run_of_one_turn() -> None:
    turns = Turns("r", unasked=True)
    turns.read("turn.started", {"promptId": "msg_other", "turnId": 1})
    turns.read("turn.started", {"turnId": 2})
    turns.read("turn.ended", {"turnId": 1})
    assert (turns.has(1), turns.has(2), turns.over) == (False, True, False)
    turns.read("turn.ended", {"turnId": 2})
    assert turns.over


def test_plan_usage_names_its_windows_and_is_none_when_nobody_can_say() -> None:
    rows = [
        {"name": "weekly", "used": 5, "limit": 20, "reset_at": "2026-12-07T00:00:00Z"},
        {"window": {"duration": 5, "unit": "hour"}, "used": 90, "limit": 60},
        {"used": "?", "limit": 1},
    ]
    usage = plan_usage({"kind": "ok", "summary": None, "limits": rows})  # type: ignore[dict-item]
    assert usage is not None
    assert [(w.name, w.used_percent) for w in usage.windows] == [("weekly", 25.0), ("5 h", 100.0)]
    assert plan_usage({"kind": "error", "message": "No token"}) is None
    assert plan_usage({"kind": "ok", "limits": []}) is None
