"""Answers are checked against what was asked."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.errors import BadRequest
from jupyter_agentchat.protocol.events import Ask
from jupyter_agentchat.protocol.resources import AskAnswer, Author
from jupyter_agentchat.protocol.tools import AskOption, Question, QuestionOption
from jupyter_agentchat.runs.asks import check_answer, resolution, within

PERMISSION = Ask(
    ask_id="p",
    kind="permission",
    title="Run a command",
    options=[
        AskOption(id="chat", label="Allow for this chat", decision="allow", scope="chat"),
        AskOption(id="once", label="Allow once", decision="allow"),
        AskOption(id="no", label="Deny", decision="deny"),
    ],
)
FORM = Ask(
    ask_id="q",
    kind="question",
    title="Question",
    questions=[
        Question(id="one", question="One?", options=[QuestionOption(label="a")], allow_other=False),
        Question(id="key", question="Key?", secret=True),
    ],
)


def test_an_allow_without_an_option_is_the_narrowest() -> None:
    assert check_answer(PERMISSION, AskAnswer(decision="allow")).option_id == "once"


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "answered", "answers": {}},
        {"decision": "allow", "option_id": "no"},
        {"decision": "deny", "option_id": "once"},
        {"decision": "allow", "option_id": "nobody"},
    ],
)
def test_an_answer_that_does_not_fit_a_permission_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        check_answer(PERMISSION, AskAnswer(**answer))


@pytest.mark.parametrize(
    "answers",
    [
        {"one": "a"},  # the second is missing
        {"one": "b", "key": "k"},  # not a choice, and no other is allowed
        {"one": ["a", "a"], "key": "k"},  # single choice
        {"one": "a", "key": "k", "three": "x"},  # no such question
    ],
)
def test_a_form_is_checked_page_by_page(answers: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        check_answer(FORM, AskAnswer(decision="answered", answers=answers))


def test_secret_answers_reach_the_agent_but_not_the_log() -> None:
    answer = check_answer(FORM, AskAnswer(decision="answered", answers={"one": "a", "key": "s3"}))
    stored = resolution(FORM, answer, Author(username="owner", name="You"))
    assert answer.answers == {"one": "a", "key": "s3"}
    assert stored.answers == {"one": "a", "key": None}
    assert stored.by == Author(username="owner", name="You")


def test_a_plan_offers_nothing_above_the_admins_maximum() -> None:
    plan = Ask(
        ask_id="p",
        kind="plan",
        title="Plan",
        options=[
            AskOption(id="ask", label="Approve", decision="allow", leads_to="ask"),
            AskOption(id="edits", label="Accept edits", decision="allow", leads_to="accept_edits"),
            AskOption(id="no", label="Keep planning", decision="deny"),
        ],
    )
    assert within(plan, "full") is plan
    assert [option.id for option in within(plan, "ask").options] == ["ask", "no"]
    assert [option.id for option in within(plan, "read_only").options] == ["no"]
