"""Who answers what Codex asks, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.codex.replies import answer_ask, decide, refusal
from jupyter_agentchat.providers.codex.translate.asks import (
    COMMAND,
    ELICITATION,
    FILES,
    QUESTIONS,
    RIGHTS,
    OpenAsk,
    open_ask,
)
from jupyter_agentchat.providers.codex.translate.places import Places

TOOL: dict[str, Any] = {
    "serverName": "demo",
    "message": "Allow it?",
    "_meta": {
        "codex_approval_kind": "mcp_tool_call",
        "tool_name": "add",
        "tool_params": {"a": 1},
        "persist": ["session", "always"],
    },
}
FORM: dict[str, Any] = {
    "serverName": "demo",
    "mode": "form",
    "message": "Who are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name"},
            "age": {"type": "integer"},
            "ratio": {"type": "number"},
            "sure": {"type": "boolean"},
            "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "kind": {"type": "string", "oneOf": [{"const": "k1", "title": "First"}]},
        },
    },
}


def opened(method: str, params: dict[str, Any]) -> OpenAsk:
    return open_ask(
        "a1",
        0,
        method,
        params,
        tool_id=None,
        diffs=[],
        touched=None,
        places=Places("/project"),
    )


def allow(option: str = "allow_once") -> AskAnswer:
    return AskAnswer(decision="allow", option_id=option)


DENY = AskAnswer(decision="deny", option_id="deny")


@pytest.mark.parametrize("method", [COMMAND, FILES, RIGHTS])
def test_the_permission_decides_where_it_can(method: str) -> None:
    decided = [
        decide(method, {}, permission, inside=True)
        for permission in ("read_only", "ask", "accept_edits", "full")
    ]
    edits = "allow" if method == FILES else "ask"
    assert decided == ["deny", "ask", edits, "allow"]
    assert decide(FILES, {}, "accept_edits", inside=False) == "ask"


def test_a_question_is_always_a_persons() -> None:
    for permission in ("read_only", "ask", "accept_edits", "full"):
        assert decide(QUESTIONS, {}, permission, inside=False) == "ask"
        assert decide(ELICITATION, FORM, permission, inside=False) == "ask"
    assert decide(ELICITATION, TOOL, "read_only", inside=False) == "deny"
    assert decide(ELICITATION, TOOL, "full", inside=False) == "allow"


@pytest.mark.parametrize("method", [COMMAND, FILES])
def test_commands_and_edits_have_one_word_each(method: str) -> None:
    ask = opened(method, {"command": "make"})
    assert answer_ask(ask, allow()) == {"decision": "accept"}
    assert answer_ask(ask, allow("allow_chat")) == {"decision": "acceptForSession"}
    assert answer_ask(ask, DENY) == {"decision": "decline"} == refusal(method, {})


def test_allow_for_the_chat_is_only_offered_where_codex_would_keep_it() -> None:
    def options(offered: list[Any] | None) -> list[str]:
        params = {"command": "make"} | ({} if offered is None else {"availableDecisions": offered})
        return [option.id for option in opened(COMMAND, params).ask.options]

    amendment = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["make"]}}
    assert "allow_chat" in options(None)
    assert "allow_chat" in options(["accept", amendment, "cancel"])
    assert "allow_chat" in options(["accept", "acceptForSession"])
    assert options(["accept", "cancel", 7]) == ["allow_once", "deny"]


def test_rights_are_given_as_they_were_asked_for() -> None:
    wanted = {
        "network": {"enabled": True},
        "fileSystem": {
            "write": ["/data"],
            "entries": [{"access": "read", "path": {"type": "path", "path": "/etc"}}],
        },
    }
    ask = opened(RIGHTS, {"reason": "To fetch.", "permissions": {**wanted, "other": None}})
    assert ask.ask.detail == "To fetch.\nNetwork access.\nWrite: /data\nRead: /etc"
    assert answer_ask(ask, allow()) == {"permissions": wanted, "scope": "turn"}
    assert answer_ask(ask, allow("allow_chat")) == {"permissions": wanted, "scope": "session"}
    assert answer_ask(ask, DENY) == {"permissions": {}, "scope": "turn"}


def test_a_question_is_answered_by_labels_and_notes() -> None:
    question = {
        "id": "q",
        "question": "Which?",
        "isOther": True,
        "isSecret": True,
        "options": [{"label": "Red", "description": "Warm"}],
    }
    ask = opened(QUESTIONS, {"questions": [question, {"question": "Why?", "options": None}]})
    assert [one.id for one in ask.ask.questions] == ["q", "q2"]
    assert ask.ask.questions[0].secret
    given = AskAnswer(decision="answered", answers={"q": ["Red", "but dark"], "q2": "Because."})
    assert answer_ask(ask, given) == {
        "answers": {
            "q": {"answers": ["Red", "user_note: but dark"]},
            "q2": {"answers": ["Because."]},
        }
    }
    assert answer_ask(ask, DENY) == {"answers": {}}


def test_a_servers_form_is_filled_in_with_the_right_types() -> None:
    ask = opened(ELICITATION, FORM)
    assert ask.ask.kind == "question"
    multi = {one.id: one.multi_select for one in ask.ask.questions}
    assert multi["tags"] and not multi["size"]
    given = {
        "name": "Ada",
        "age": "36",
        "ratio": "0.5",
        "sure": ["Yes"],
        "size": ["Large"],
        "tags": ["a", "b"],
        "kind": ["First"],
    }
    answer = AskAnswer.model_validate({"decision": "answered", "answers": given})
    assert answer_ask(ask, answer) == {
        "action": "accept",
        "content": {
            "name": "Ada",
            "age": 36,
            "ratio": 0.5,
            "sure": True,
            "size": "l",
            "tags": ["a", "b"],
            "kind": "k1",
        },
        "_meta": None,
    }
    assert answer_ask(ask, DENY)["action"] == "decline"


def test_a_tool_of_a_server_is_allowed_once_or_for_the_chat() -> None:
    ask = opened(ELICITATION, TOOL)
    assert ask.ask.title == "demo: add"
    assert [option.id for option in ask.ask.options] == ["allow_once", "allow_chat", "deny"]
    assert answer_ask(ask, allow()) == {"action": "accept", "content": {}, "_meta": None}
    assert answer_ask(ask, allow("allow_chat"))["_meta"] == {"persist": "session"}
    once = opened(ELICITATION, {**TOOL, "_meta": {**TOOL["_meta"], "persist": None}})
    assert [option.id for option in once.ask.options] == ["allow_once", "deny"]


def test_an_address_is_shown_to_be_opened() -> None:
    ask = opened(ELICITATION, {"mode": "url", "message": "Sign in", "url": "http://127.0.0.1/x"})
    assert ask.ask.detail == "Sign in\nhttp://127.0.0.1/x"
    assert answer_ask(ask, allow())["action"] == "accept"
