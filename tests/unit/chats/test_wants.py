"""What a row of the chat list says that an agent wants."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.chats.wants import SUBJECT_CHARS, wants_of
from jupyter_agentchat.protocol.events import Ask
from jupyter_agentchat.protocol.resources import Wants
from jupyter_agentchat.protocol.tools import (
    EditInput,
    McpInput,
    OtherInput,
    Question,
    ShellInput,
    ToolInput,
)


def permission(given: ToolInput | None, title: str = "May I?") -> Wants:
    return wants_of(Ask(ask_id="a", kind="permission", title=title, input=given))


@pytest.mark.parametrize(
    ("given", "tool", "subject"),
    [
        (ShellInput(command="rm -r\n  build"), "shell", "rm -r build"),
        (EditInput(path="src/ä b.py"), "edit", "src/ä b.py"),
        (McpInput(server="github", tool="merge"), "mcp", "github: merge"),
        (OtherInput(), "other", "May I?"),
        (None, None, "May I?"),
    ],
)
def test_a_permission_names_what_it_is_for(given: Any, tool: str | None, subject: str) -> None:
    assert permission(given) == Wants(kind="permission", tool=tool, subject=subject)


def test_a_question_is_told_by_its_first_page_and_a_plan_by_its_kind() -> None:
    questions = [Question(id="1", question="Which one?"), Question(id="2", question="And then?")]
    asked = Ask(ask_id="a", kind="question", title="Question", questions=questions)
    assert wants_of(asked) == Wants(kind="question", subject="Which one?")
    plan = Ask(ask_id="a", kind="plan", title="Plan", plan="1. All of it")
    assert wants_of(plan) == Wants(kind="plan")


def test_a_long_subject_is_cut_between_characters_and_the_cut_is_seen() -> None:
    subject = permission(ShellInput(command="👋" * 5_000)).subject
    assert subject == "👋" * (SUBJECT_CHARS - 1) + "…"
    whole = "x" * SUBJECT_CHARS
    assert permission(ShellInput(command=whole)).subject == whole
