"""An ask at the terminal: everything to judge it is shown, and only a clear answer counts."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.command.ask_form import AskForm, Unclear

PERMISSION: dict[str, Any] = {
    "ask_id": "a",
    "kind": "permission",
    "title": "Claude wants to run a command",
    "detail": "To see what is there.",
    "input": {"kind": "shell", "command": "ls\nrm x"},
    "options": [
        {"id": "once", "label": "Allow once", "decision": "allow"},
        {"id": "chat", "label": "Allow for this chat", "decision": "allow"},
        {"id": "no", "label": "Deny", "decision": "deny"},
    ],
}
QUESTIONS: dict[str, Any] = {
    "ask_id": "q",
    "kind": "question",
    "title": "Two questions",
    "questions": [
        {
            "id": "colour",
            "question": "Which?",
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}],
        },
        {
            "id": "parts",
            "question": "What?",
            "multi_select": True,
            "options": [{"label": "A"}, {"label": "B"}, {"label": "C"}],
            "allow_other": False,
        },
    ],
}


def test_a_permission_shows_the_exact_command_and_its_choices() -> None:
    form = AskForm(PERMISSION)
    assert form.intro().split("\n") == [
        "Claude wants to run a command",
        "To see what is there.",
        "  ls",
        "  rm x",
    ]
    assert form.choices().split("\n")[1] == "  2  Allow for this chat"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("1\n", {"decision": "allow", "option_id": "once"}),
        (" 2 ", {"decision": "allow", "option_id": "chat"}),
        ("3", {"decision": "deny", "option_id": "no"}),
        ("n", {"decision": "deny"}),
        ("no use another file\n", {"decision": "deny", "message": "use another file"}),
        (None, {"decision": "deny"}),
    ],
)
def test_a_number_chooses_and_no_denies_with_a_reason(
    line: str | None, answer: dict[str, Any]
) -> None:
    assert AskForm(PERMISSION).feed(line) == answer


@pytest.mark.parametrize("line", ["", "\n", "  ", "0", "4", "y", "yes", "-1", "1 2", "allow", "²"])
def test_nothing_but_a_clear_choice_allows(line: str) -> None:
    with pytest.raises(Unclear):
        AskForm(PERMISSION).feed(line)


def test_questions_come_page_by_page() -> None:
    form = AskForm(QUESTIONS)
    assert form.choices() == "(1/2) Which?\n  1  Red: warm\n  2  Blue"
    assert form.feed("2\n") is None
    assert form.choices().startswith("(2/2) What?")
    assert form.feed("3, 1 3\n") == {
        "decision": "answered",
        "answers": {"colour": ["Blue"], "parts": ["C", "A"]},
    }


def test_words_of_ones_own_count_where_the_question_takes_them() -> None:
    form = AskForm(QUESTIONS)
    assert form.feed("Green, I think") is None
    with pytest.raises(Unclear):
        form.feed("something else")
    assert form.feed("1") == {
        "decision": "answered",
        "answers": {"colour": ["Green, I think"], "parts": ["A"]},
    }


@pytest.mark.parametrize("line", ["3", "0", "1 2", ""])
def test_a_wrong_choice_is_asked_again(line: str) -> None:
    form = AskForm(QUESTIONS)
    with pytest.raises(Unclear):
        form.feed(line)
    assert form.choices().startswith("(1/2)")


def test_a_secret_is_typed_unseen() -> None:
    form = AskForm({**QUESTIONS, "questions": [{"id": "k", "question": "Key?", "secret": True}]})
    assert form.secret
    assert form.feed("12345\n") == {"decision": "answered", "answers": {"k": ["12345"]}}
    assert not form.secret


def test_a_diff_is_shown_whole_up_to_a_limit() -> None:
    patch = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"
    assert (
        AskForm({**PERMISSION, "diffs": [{"path": "a", "patch": patch}]})
        .intro()
        .endswith("-old\n+new")
    )
    new = "\n".join(str(n) for n in range(1000))
    shown = AskForm({**PERMISSION, "diffs": [{"path": "a", "change": "add", "new": new}]}).intro()
    assert "add a\n+0\n+1" in shown
    assert shown.endswith("(601 more lines)")


def test_a_plan_is_shown_and_each_way_to_go_on_has_a_number() -> None:
    options = [{"id": "auto", "label": "Accept edits", "decision": "allow"}]
    form = AskForm(
        {"ask_id": "p", "kind": "plan", "title": "Plan", "plan": "1. do it", "options": options}
    )
    assert form.intro() == "Plan\n1. do it"
    assert form.feed("1") == {"decision": "allow", "option_id": "auto"}
