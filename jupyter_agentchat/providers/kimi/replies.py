"""Answers to Kimi Code's asks, by a person or by the chat's permission. Pure."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import JsonValue

from ...protocol.resources import AskAnswer
from ...protocol.words import Permission
from .translate import OpenAsk, Places, is_edit_inside, is_plan, kind_of
from .translate.asks import CHOICE
from .wire import Json, object_of, objects_of, text_of, true_at

READ_ONLY: Final = "This chat is read-only: files are not changed and commands are not run."

_HARMLESS: Final = frozenset({"read", "search", "fetch", "web_search"})


def decide(
    payload: Json, permission: Permission, rules: frozenset[str], rule: str, places: Places
) -> Literal["ask", "allow", "deny"]:
    """Who answers an approval: a person, or the permission (and what it remembers) alone.

    A plan is always a person's. `read_only` refuses what could change something, so that no
    "allow" of a person lifts it.
    """
    if is_plan(payload):
        return "ask"
    if permission == "read_only":
        harmless = kind_of(text_of(payload, "tool_name")) in _HARMLESS
        return "ask" if harmless else "deny"
    if permission == "full" or rule in rules:
        return "allow"
    if permission == "accept_edits" and is_edit_inside(payload, places):
        return "allow"
    return "ask"


def allow() -> Json:
    """Let the call run, this once: what "for this chat" means is remembered here, not there, so
    that it never outlives a lower permission."""
    return {"decision": "approved"}


def deny(message: str | None) -> Json:
    """The model reads `message` and goes on."""
    return {"decision": "rejected", "feedback": message} if message else {"decision": "rejected"}


def approval(opened: OpenAsk, answer: AskAnswer) -> Json:
    """A person's answer to an approval or a plan."""
    if answer.decision != "allow":
        return deny(answer.message)
    chosen = answer.option_id or ""
    if not chosen.startswith(CHOICE):
        return allow()
    options = objects_of(object_of(opened.request, "tool_input_display"), "options")
    number = int(chosen.removeprefix(CHOICE))
    label = text_of(options[number], "label") if number < len(options) else ""
    return {**allow(), "selected_label": label}


def question(opened: OpenAsk, answer: AskAnswer) -> Json | None:
    """A person's answer to a form; None dismisses it."""
    if answer.decision != "answered":
        return None
    given = answer.answers or {}
    answers: Json = {
        text_of(item, "id"): _one(item, given.get(text_of(item, "id")))
        for item in objects_of(opened.request, "questions")
    }
    body: Json = {"answers": answers}
    if answer.message:
        body["note"] = answer.message
    return body


def _one(item: Json, given: list[str] | str | None) -> JsonValue:
    values = [given] if isinstance(given, str) else given or []
    ids = {
        text_of(option, "label"): text_of(option, "id") for option in objects_of(item, "options")
    }
    chosen: list[JsonValue] = [ids[value] for value in values if value in ids]
    other = "; ".join(value for value in values if value not in ids and value.strip())
    if true_at(item, "multi_select"):
        if other and chosen:
            return {"kind": "multi_with_other", "option_ids": chosen, "other_text": other}
        if chosen:
            return {"kind": "multi", "option_ids": chosen}
    elif chosen:
        return {"kind": "single", "option_id": chosen[0]}
    return {"kind": "other", "text": other} if other else {"kind": "skipped"}
