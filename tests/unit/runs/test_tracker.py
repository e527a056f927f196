"""What stays open in a run is closed, once, and finals take the place of their deltas."""

from __future__ import annotations

from jupyter_agentchat.protocol.events import (
    Ask,
    AskResolved,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
    ToolUseUpdate,
)
from jupyter_agentchat.protocol.tools import ShellInput, TextBlock
from jupyter_agentchat.runs.tracker import RunTracker
from jupyter_agentchat.store.base import Draft


def delta(text: str, item: str = "m:0") -> AssistantText:
    return AssistantText(item_id=item, delta=text)


def final(text: str, item: str = "m:0") -> AssistantText:
    return AssistantText(item_id=item, text=text, final=True)


def shell(tool_id: str) -> ToolUseStart:
    return ToolUseStart(
        tool_id=tool_id, name="Bash", kind="shell", input=ShellInput(command="ls"), title="ls"
    )


def test_a_final_replaces_its_deltas_and_stands_where_the_first_was() -> None:
    tracker = RunTracker()
    assert tracker.drafts([delta("Hel")], 5) == [Draft(delta("Hel"))]
    tracker.drafts([delta("lo")], 8)
    (draft,) = tracker.drafts([final("Hello")], 9)
    assert draft.replaces == (5, 8)
    assert isinstance(draft.body, AssistantText)
    assert draft.body.first_seq == 5


def test_a_final_without_deltas_stands_at_its_own_seq() -> None:
    (draft,) = RunTracker().drafts([final("Hello")], 12)
    assert draft.replaces is None
    assert isinstance(draft.body, AssistantText)
    assert draft.body.first_seq == 12


def test_deltas_in_one_batch_with_their_final_are_not_stored() -> None:
    drafts = RunTracker().drafts([delta("Hel"), delta("lo"), final("Hello")], 3)
    assert [getattr(draft.body, "text", None) for draft in drafts] == ["Hello"]


def test_partial_text_survives_an_interrupted_run() -> None:
    tracker = RunTracker()
    tracker.drafts([delta("Half an ans"), Thinking(item_id="t", delta="why")], 1)
    bodies = tracker.closing("interrupted")
    assert [(b.type, b.text) for b in bodies if isinstance(b, AssistantText | Thinking)] == [
        ("assistant_text", "Half an ans"),
        ("thinking", "why"),
    ]


def test_open_tools_and_asks_are_closed_once() -> None:
    tracker = RunTracker()
    ask = Ask(ask_id="q", kind="permission", title="May I?")
    update = ToolUseUpdate(tool_id="t1", output_delta="so far")
    tracker.drafts([shell("t1"), shell("t2"), update, ask, ToolUseEnd(tool_id="t2")], 1)
    assert tracker.phase == "waiting"
    bodies = tracker.closing("cancelled")
    assert bodies == [
        AskResolved(ask_id="q", decision="withdrawn"),
        ToolUseEnd(tool_id="t1", status="cancelled", output=[TextBlock(text="so far")]),
    ]
    tracker.drafts(bodies, 9)
    assert tracker.closing("cancelled") == []


def test_tools_of_a_failed_run_are_shown_as_failed() -> None:
    tracker = RunTracker()
    tracker.drafts([shell("t")], 1)
    (end,) = tracker.closing("failed")
    assert isinstance(end, ToolUseEnd)
    assert (end.status, end.is_error) == ("failed", True)


def test_an_end_for_a_tool_or_ask_that_is_not_open_is_dropped() -> None:
    stray: list[EventBody] = [
        ToolUseEnd(tool_id="ghost"),
        ToolUseUpdate(tool_id="ghost", output_delta="x"),
        AskResolved(ask_id="ghost", decision="withdrawn"),
    ]
    assert RunTracker().drafts(stray, 1) == []


def test_the_end_is_kept_back_and_the_first_error_counts() -> None:
    tracker = RunTracker()
    first, second = Error(code="network", message="a"), Error(code="network", message="b")
    assert tracker.drafts([first, second, Complete(outcome="failed")], 1) == []
    assert (tracker.error, tracker.complete) == (first, Complete(outcome="failed"))


def test_an_agent_that_only_says_done_does_not_erase_its_answer() -> None:
    tracker = RunTracker()
    tracker.drafts([delta("Hel")], 1)
    (draft,) = tracker.drafts([delta("lo"), AssistantText(item_id="m:0", final=True)], 2)
    assert isinstance(draft.body, AssistantText)
    assert draft.body.text == "Hello"


def test_what_could_not_be_stored_is_forgotten_and_still_open() -> None:
    tracker = RunTracker()
    ask = Ask(ask_id="q", kind="permission", title="May I?")
    tracker.drafts([shell("t1"), ask, delta("Hel")], 1)
    before = tracker.save()
    lost: list[EventBody] = [
        ToolUseEnd(tool_id="t1"),
        AskResolved(ask_id="q", decision="allow"),
        delta("lo"),
        final("Hello"),
        shell("t2"),
        delta("more", "m:1"),
    ]
    tracker.drafts(lost, 4)
    tracker.restore(before)
    assert (list(tracker.asks), list(tracker.tools), tracker.resolved) == (["q"], ["t1"], {})
    (kept, withdrawn, ended) = tracker.closing("failed")
    assert isinstance(kept, AssistantText)
    assert (kept.text, withdrawn.type, ended.type) == ("Hel", "ask_resolved", "tool_use_end")
    (draft, *_) = tracker.drafts([kept], 4)
    assert draft.replaces == (3, 3)


def test_the_phase_follows_what_the_agent_does() -> None:
    tracker = RunTracker()
    seen = [tracker.phase]
    for body in (Thinking(item_id="t", delta="."), delta("a"), shell("t1"), final("a")):
        tracker.drafts([body], 1)
        seen.append(tracker.phase)
    assert seen == ["starting", "thinking", "writing", "tool", "writing"]
