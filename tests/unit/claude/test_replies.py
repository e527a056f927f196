"""Who answers an ask, and in what words."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.protocol.words import Permission
from jupyter_agentchat.providers.claude.replies import answer_ask, decide
from jupyter_agentchat.providers.claude.translate.asks import OpenAsk, open_ask
from jupyter_agentchat.providers.claude.translate.places import Places

RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "touch a"}],
    "behavior": "allow",
    "destination": "localSettings",
}
EDITS = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def _request(name: str, **more: Any) -> dict[str, Any]:
    return {"subtype": "can_use_tool", "tool_name": name, "input": {}, **more}


def _opened(name: str, arguments: dict[str, Any], **more: Any) -> OpenAsk:
    return open_ask("r1", _request(name, **{"input": arguments, **more}), Places("/project"))


@pytest.mark.parametrize(
    ("name", "read_only", "full"),
    [
        ("Bash", "deny", "allow"),
        ("Write", "deny", "allow"),
        ("mcp__demo__add", "deny", "allow"),
        ("Newest", "deny", "allow"),
        ("WebFetch", "ask", "allow"),
        ("AskUserQuestion", "ask", "ask"),
        ("ExitPlanMode", "ask", "ask"),
    ],
)
def test_who_answers_depends_on_the_permission(name: str, read_only: str, full: str) -> None:
    given: dict[Permission, str] = {
        "read_only": read_only,
        "ask": "ask",
        "accept_edits": "ask",
        "full": full,
    }
    for permission, expected in given.items():
        assert decide(_request(name), permission) == expected


def test_what_needs_a_person_is_never_allowed_by_itself() -> None:
    assert decide(_request("Newest", requires_user_interaction=True), "full") == "ask"


def test_allow_for_this_chat_is_kept_out_of_the_projects_settings() -> None:
    opened = _opened("Bash", {"command": "touch a"}, permission_suggestions=[RULE, EDITS])
    labels = {option.id: option.label for option in opened.ask.options}
    assert labels["allow_chat"] == "Allow for this chat: touch a"
    reply = answer_ask(opened, AskAnswer(decision="allow", option_id="allow_chat"))
    assert reply["updatedPermissions"] == [{**RULE, "destination": "session"}]
    once = answer_ask(opened, AskAnswer(decision="allow", option_id="allow_once"))
    assert once == {"behavior": "allow", "updatedInput": {"command": "touch a"}}


def test_edits_are_allowed_for_the_chats_folder_only() -> None:
    def options(path: str, **more: Any) -> list[str]:
        opened = _opened("Write", {"file_path": path}, permission_suggestions=[EDITS], **more)
        assert all(rule["type"] == "addRules" for rule in opened.rules)
        return [option.id for option in opened.ask.options]

    assert options("/project/a.txt") == ["allow_once", "allow_chat", "deny"]
    assert options("/elsewhere/a.txt") == ["allow_once", "deny"]
    assert options("/project/../a.txt") == ["allow_once", "deny"]
    assert options("/project/.claude/x", decision_reason_type="safetyCheck") == [
        "allow_once",
        "deny",
    ]
    assert options("/project/a.txt", suppress_always_allow_rule=True) == ["allow_once", "deny"]


def test_an_ask_says_the_command_not_the_agents_word_for_it() -> None:
    arguments = {"command": "rm -rf /", "description": "List files"}
    ask = _opened("Bash", arguments, decision_reason="\x1b[31mrisky\x1b[0m").ask
    assert ask.title == "Run a command"
    assert ask.input is not None
    assert ask.input.kind == "shell"
    assert ask.detail == "risky"


def test_a_denial_carries_the_persons_reason() -> None:
    opened = _opened("Bash", {"command": "ls"})
    said = answer_ask(opened, AskAnswer(decision="deny", message="Not here."))
    assert said == {"behavior": "deny", "message": "Not here."}
    assert answer_ask(opened, AskAnswer(decision="deny"))["message"]


def test_answers_are_given_by_the_text_of_their_question() -> None:
    questions = [
        {"question": "Colour?", "options": [{"label": "Red"}]},
        {"question": "Formats?", "multiSelect": True, "options": [{"label": "PNG"}]},
        {"question": "Left out?", "options": []},
    ]
    opened = _opened("AskUserQuestion", {"questions": questions})
    assert [question.id for question in opened.ask.questions] == ["q1", "q2", "q3"]
    given: dict[str, list[str] | str] = {"q1": ["Red"], "q2": ["PNG", "my own"]}
    reply = answer_ask(opened, AskAnswer(decision="answered", answers=given))
    expected = {"Colour?": "Red", "Formats?": "PNG, my own"}
    assert reply["updatedInput"] == {"questions": questions, "answers": expected}
    assert answer_ask(opened, AskAnswer(decision="deny"))["behavior"] == "deny"


@pytest.mark.parametrize(
    ("option", "mode"), [("approve_ask", "default"), ("approve_accept_edits", "acceptEdits")]
)
def test_an_approved_plan_sets_the_mode_it_leads_to(option: str, mode: str) -> None:
    opened = _opened("ExitPlanMode", {"plan": "# Plan"})
    assert opened.ask.plan == "# Plan"
    reply = answer_ask(opened, AskAnswer(decision="allow", option_id=option))
    assert reply["updatedPermissions"] == [
        {"type": "setMode", "mode": mode, "destination": "session"}
    ]
    back = answer_ask(opened, AskAnswer(decision="deny", message="More tests."))
    assert back == {"behavior": "deny", "message": "More tests."}
