"""Answers to what Codex asks, by a person or by the chat's permission. Pure."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import JsonValue

from ...protocol.resources import AskAnswer
from ...protocol.tools import Question
from ...protocol.words import Permission
from .translate.asks import ELICITATION, FILES, QUESTIONS, RIGHTS, OpenAsk, needs_a_person
from .translate.forms import ALLOW_CHAT, choices_of, fields_of, is_tool_approval
from .wire import Json, object_of, text_of

_OPTION_NOTE: Final = "user_note: "


def decide(
    method: str, params: Json, permission: Permission, *, inside: bool
) -> Literal["ask", "allow", "deny"]:
    """Who answers: a person, or the permission alone. `inside`: it is about files of the project.

    A question is always a person's. `read_only` refuses everything else, so that no "allow" of a
    person can lift it; `full` allows what is still asked. With `accept_edits` Codex does not ask
    for edits in the project, but a turn that began with less does.
    """
    if needs_a_person(method, params):
        return "ask"
    match permission:
        case "read_only":
            return "deny"
        case "full":
            return "allow"
        case "accept_edits" if method == FILES and inside:
            return "allow"
    return "ask"


def accepted(method: str, params: Json, *, for_chat: bool = False) -> Json:
    """What allows it, once or for as long as the thread is loaded."""
    match method:
        case _ if method == RIGHTS:
            scope = "session" if for_chat else "turn"
            return {"permissions": _without_nulls(object_of(params, "permissions")), "scope": scope}
        case _ if method == ELICITATION:
            meta: JsonValue = {"persist": "session"} if for_chat else None
            return {"action": "accept", "content": {}, "_meta": meta}
        case _ if method == QUESTIONS:
            return {"answers": {}}
    return {"decision": "acceptForSession" if for_chat else "accept"}


def refusal(method: str, params: Json) -> Json:
    """What refuses it; the model goes on."""
    match method:
        case _ if method == RIGHTS:
            return {"permissions": {}, "scope": "turn"}
        case _ if method == ELICITATION:
            return {"action": "decline", "content": None, "_meta": None}
        case _ if method == QUESTIONS:
            return {"answers": {}}
    return {"decision": "decline"}


def answer_ask(opened: OpenAsk, answer: AskAnswer) -> Json:
    """A person's `answer` in Codex' words."""
    method, params = opened.method, opened.params
    if method == QUESTIONS and answer.decision == "answered":
        return {"answers": _answers(opened.ask.questions, answer)}
    if method == ELICITATION and answer.decision == "answered" and not is_tool_approval(params):
        return {"action": "accept", "content": _content(params, answer), "_meta": None}
    if answer.decision != "allow":
        return refusal(method, params)
    return accepted(method, params, for_chat=answer.option_id == ALLOW_CHAT)


def _answers(questions: list[Question], answer: AskAnswer) -> Json:
    """Labels as they are; what a person wrote beside them is marked as their note."""
    given = answer.answers or {}
    answers: Json = {}
    for question in questions:
        value = given.get(question.id)
        if value is None:
            continue
        labels = {option.label for option in question.options}
        texts = [value] if isinstance(value, str) else list(value)
        answers[question.id] = {
            "answers": [
                text if text in labels or not labels else f"{_OPTION_NOTE}{text}" for text in texts
            ]
        }
    return answers


def _content(params: Json, answer: AskAnswer) -> Json:
    given = answer.answers or {}
    content: Json = {}
    for name, field in fields_of(params).items():
        value = given.get(name)
        if value is not None:
            content[name] = _field_value(field, [value] if isinstance(value, str) else list(value))
    return content


def _field_value(field: Json, texts: list[str]) -> JsonValue:
    by_label = {label: value for value, label in choices_of(field)}
    values = [by_label.get(text, text) for text in texts]
    kind = text_of(field, "type")
    if kind == "array":
        return list(values)
    value = values[0] if values else ""
    try:
        match kind:
            case "boolean":
                return value == "true"
            case "integer":
                return int(value)
            case "number":
                return float(value)
    except ValueError:
        pass
    return value


def _without_nulls(permissions: Json) -> Json:
    return {name: value for name, value in permissions.items() if value is not None}
