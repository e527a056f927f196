"""Who answers an agent's ask, and what the answer is on the wire. Pure."""

from __future__ import annotations

from typing import Final, Literal

from ...protocol.resources import AskAnswer
from ...protocol.words import Permission
from .translate import OpenAsk
from .wire import Json

CANCELLED: Final[Json] = {"outcome": {"outcome": "cancelled"}}

_HARMLESS: Final = frozenset({"read", "search", "fetch", "web_search", "subagent", "question"})


def decide(
    opened: OpenAsk, permission: Permission, *, own_mode: bool, inside: bool
) -> Literal["ask", "allow", "deny"]:
    """Who answers: a person, or the chat's permission alone.

    `own_mode`: the agent itself is in a mode of that meaning, so that what it still asks is meant
    for a person. `inside`: all that the call touches lies in the project. A question or a plan is
    always a person's; `read_only` refuses what could change something, so that no "allow" of a
    person can lift it.
    """
    if opened.ask.kind != "permission" or opened.call.kind in ("question", "plan"):
        return "ask"
    if permission == "full":
        return "allow" if opened.allow else "ask"
    if permission == "read_only" and opened.call.kind not in _HARMLESS:
        return "deny"
    edits = opened.call.kind in ("edit", "write") and inside and opened.allow is not None
    if permission == "accept_edits" and edits and not own_mode:
        return "allow"
    return "ask"


def selected(option: str | None) -> Json:
    """The answer that picks an option of the agent's; a cancel where it has none of that kind."""
    if option is None:
        return CANCELLED
    return {"outcome": {"outcome": "selected", "optionId": option}}


def answer_ask(opened: OpenAsk, answer: AskAnswer) -> Json:
    """A person's answer in the agent's words."""
    if opened.ask.kind == "question":
        if answer.decision != "answered":
            return selected(opened.decline)
        if opened.form:
            return {**selected(opened.allow), "answers": _form_answers(opened, answer)}
        given = next(iter((answer.answers or {}).values()), "")
        label = given if isinstance(given, str) else "".join(given[:1])
        return selected(opened.options.get(label, opened.decline))
    if answer.option_id in opened.options:
        return selected(opened.options[answer.option_id])
    return selected(opened.allow if answer.decision == "allow" else opened.decline)


def _form_answers(opened: OpenAsk, answer: AskAnswer) -> Json:
    """By the number of the question; several labels stand in one text."""
    given = answer.answers or {}
    return {
        str(number): value if isinstance(value, str) else ", ".join(value)
        for number, question in enumerate(opened.ask.questions)
        if (value := given.get(question.id)) is not None
    }
