"""Who answers what, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.protocol.resources import AskAnswer, Attachment, RunRequest
from jupyter_agentchat.providers.kimi.prompts import prompt_body
from jupyter_agentchat.providers.kimi.replies import approval, decide, question
from jupyter_agentchat.providers.kimi.translate import Places, open_approval
from jupyter_agentchat.providers.kimi.translate.asks import open_question

PLACES = Places("/w")


def asked(name: str, display: dict[str, Any]) -> dict[str, Any]:
    """An approval that is asked for."""
    return {
        "approval_id": "a1",
        "tool_call_id": "c1",
        "tool_name": name,
        "action": "Doing it",
        "tool_input_display": display,
    }


SHELL = asked("Bash", {"kind": "command", "command": "make"})
EDIT = asked("Edit", {"kind": "file_io", "path": "/w/a", "before": "x", "after": "y"})
OUTSIDE = asked("Edit", {"kind": "file_io", "path": "/etc/a", "before": "x", "after": "y"})
UPWARDS = asked("Write", {"kind": "file_io", "path": "/w/../etc/a", "content": "x"})
READ = asked("Read", {"kind": "file_io", "path": "/etc/a"})
PLAN = asked("ExitPlanMode", {"kind": "plan_review", "plan": "# Plan"})


@pytest.mark.parametrize(
    ("payload", "read_only", "ask", "accept_edits", "full"),
    [
        (SHELL, "deny", "ask", "ask", "allow"),
        (EDIT, "deny", "ask", "allow", "allow"),
        (OUTSIDE, "deny", "ask", "ask", "allow"),
        (UPWARDS, "deny", "ask", "ask", "allow"),
        (READ, "ask", "ask", "ask", "allow"),
        (PLAN, "ask", "ask", "ask", "ask"),
    ],
)
def test_the_permission_answers_what_it_can(
    payload: dict[str, Any], read_only: str, ask: str, accept_edits: str, full: str
) -> None:
    rule = open_approval(payload, None, PLACES).rule
    given = {"read_only": read_only, "ask": ask, "accept_edits": accept_edits, "full": full}
    for permission, expected in given.items():
        answer = decide(payload, permission, frozenset(), rule, PLACES)  # type: ignore[arg-type]
        assert answer == expected
    remembered = decide(payload, "ask", frozenset({rule}), rule, PLACES)
    assert remembered == ("ask" if payload is PLAN else "allow")
    strict = decide(payload, "read_only", frozenset({rule}), rule, PLACES)
    assert strict == read_only


def test_a_rule_is_of_the_same_tool_with_the_same_words() -> None:
    other = asked("Bash", {"kind": "command", "command": "make install"})
    rules = {open_approval(one, None, PLACES).rule for one in (SHELL, other, EDIT)}
    assert len(rules) == 3
    assert open_approval(dict(SHELL, approval_id="a2"), None, PLACES).rule in rules


def test_approvals_and_refusals_in_kimi_codes_words() -> None:
    opened = open_approval(SHELL, "t", PLACES)
    labels = [option.label for option in opened.ask.options]
    assert labels == ["Allow once", "Allow for this chat: make", "Deny"]
    for option in ("allow_once", "allow_chat"):
        # what is allowed for a chat is remembered here, so that it never outlives the permission
        answer = AskAnswer(decision="allow", option_id=option)
        assert approval(opened, answer) == {"decision": "approved"}
    denied = AskAnswer(decision="deny", message="use git")
    assert approval(opened, denied) == {"decision": "rejected", "feedback": "use git"}
    assert approval(opened, AskAnswer(decision="deny")) == {"decision": "rejected"}


def test_a_plan_with_choices_is_answered_with_the_chosen_one() -> None:
    options = [{"label": "Small", "description": ""}, {"label": "Large", "description": ""}]
    display = {"kind": "plan_review", "plan": "# Plan", "options": options}
    opened = open_approval(asked("ExitPlanMode", display), None, PLACES)
    assert [(o.id, o.leads_to) for o in opened.ask.options] == [
        ("choice_0", "ask"),
        ("choice_1", "ask"),
        ("keep_planning", None),
    ]
    chosen = AskAnswer(decision="allow", option_id="choice_1")
    assert approval(opened, chosen) == {"decision": "approved", "selected_label": "Large"}


def test_answers_to_a_form_single_several_own_words_and_none() -> None:
    options = [{"id": "o0", "label": "Red"}, {"id": "o1", "label": "Blue"}]
    form = [
        {"id": "q_0", "question": "One?", "options": options},
        {"id": "q_1", "question": "Many?", "options": options, "multi_select": True},
        {"id": "q_2", "question": "Many?", "options": options, "multi_select": True},
        {"id": "q_3", "question": "One?", "options": options},
        {"id": "q_4", "question": "One?", "options": options},
    ]
    opened = open_question({"question_id": "x", "questions": form}, None)
    given: dict[str, list[str] | str] = {
        "q_0": "Blue",
        "q_1": ["Red", "Blue"],
        "q_2": ["Red", "Green"],
        "q_3": "Green",
        "q_4": "",
    }
    answers = {
        "q_0": {"kind": "single", "option_id": "o1"},
        "q_1": {"kind": "multi", "option_ids": ["o0", "o1"]},
        "q_2": {"kind": "multi_with_other", "option_ids": ["o0"], "other_text": "Green"},
        "q_3": {"kind": "other", "text": "Green"},
        "q_4": {"kind": "skipped"},
    }
    answered = AskAnswer(decision="answered", answers=given)
    assert question(opened, answered) == {"answers": answers}
    assert question(opened, AskAnswer(decision="deny")) is None


def test_an_image_that_cannot_be_sent_is_named_by_its_path(tmp_path: Any) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"png")
    images = [
        Attachment(id="1", name="a", path=str(picture), mime="image/png", kind="image"),
        Attachment(id="2", name="b", path="/none.png", mime="image/png", kind="image"),
        Attachment(id="3", name="c", path="/c.tiff", mime="image/tiff", kind="image"),
    ]
    request = RunRequest(
        chat_id="c", run_id="r", prompt="see", cwd="/w", attachments=images, transcript="Before."
    )
    body = prompt_body(request, ("Skill",))
    texts = [part["text"] for part in body["content"] if part["type"] == "text"]  # type: ignore
    assert texts == ["Before.", "see\n\nImage: /none.png\nImage: /c.tiff"]
    assert [part["type"] for part in body["content"]] == ["text", "text", "image"]  # type: ignore
    assert (body["prompt_id"], body["disabled_tools"]) == ("agentchat-r", ["Skill"])
