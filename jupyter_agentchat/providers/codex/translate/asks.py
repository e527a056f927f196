"""Turns what Codex asks for into asks. Pure; forms stand in `forms`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ....protocol.events import Ask
from ....protocol.tools import AskOption, Diff
from ..wire import Json, list_of, object_of, objects_of, text_of, texts_of, true_at
from .forms import elicitation, is_tool_approval, permission_options, questions
from .places import Places
from .tools import Described, describe_command

COMMAND: Final = "item/commandExecution/requestApproval"
FILES: Final = "item/fileChange/requestApproval"
RIGHTS: Final = "item/permissions/requestApproval"
QUESTIONS: Final = "item/tool/requestUserInput"
ELICITATION: Final = "mcpServer/elicitation/request"
ASKING: Final = (COMMAND, FILES, RIGHTS, QUESTIONS, ELICITATION)
"""The requests that a person can answer; all others are refused, so that no turn waits for ever."""


PLAN: Final = "plan"
"""What stands in place of a method for a plan."""
APPROVE_ASK: Final = "approve_ask"
APPROVE_EDITS: Final = "approve_accept_edits"
KEEP_PLANNING: Final = "keep_planning"

_REMEMBERED: Final = frozenset({"acceptForSession", "acceptWithExecpolicyAmendment"})


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """An ask with what its answer needs."""

    ask: Ask
    request_id: int | str
    method: str
    params: Json


def open_ask(
    ask_id: str,
    request_id: int | str,
    method: str,
    params: Json,
    *,
    tool_id: str | None,
    diffs: list[Diff],
    touched: Described | None,
    places: Places,
) -> OpenAsk:
    """The ask for a request of Codex; `touched` and `diffs` are of the file change it is about."""
    match method:
        case "item/commandExecution/requestApproval":
            ask = _command(ask_id, params, places)
        case "item/fileChange/requestApproval":
            ask = _files(ask_id, params, touched, diffs)
        case "item/permissions/requestApproval":
            ask = _rights(ask_id, params)
        case "item/tool/requestUserInput":
            ask = questions(ask_id, params)
        case _:
            ask = elicitation(ask_id, params)
    return OpenAsk(ask.model_copy(update={"tool_id": tool_id}), request_id, method, params)


def open_plan(ask_id: str, plan: str) -> OpenAsk:
    """The ask for a plan that a turn ended with. Codex itself waits for nothing then."""
    ask = Ask(
        ask_id=ask_id,
        kind="plan",
        title="Codex proposes a plan",
        plan=plan,
        options=[
            AskOption(
                id=APPROVE_ASK,
                label="Approve, ask before each change",
                decision="allow",
                leads_to="ask",
            ),
            AskOption(
                id=APPROVE_EDITS,
                label="Approve and accept edits",
                decision="allow",
                leads_to="accept_edits",
            ),
            AskOption(id=KEEP_PLANNING, label="Keep planning", decision="deny"),
        ],
    )
    return OpenAsk(ask, -1, PLAN, {})


def needs_a_person(method: str, params: Json) -> bool:
    """Whether only a person can answer: questions and forms, in every permission."""
    return method == QUESTIONS or (method == ELICITATION and not is_tool_approval(params))


def _command(ask_id: str, params: Json, places: Places) -> Ask:
    described = describe_command(params, places)
    offered = list_of(params, "availableDecisions")
    may_remember = not offered or any(map(_remembers, offered))
    return Ask(
        ask_id=ask_id,
        kind="permission",
        title="Run a command",
        detail=text_of(params, "reason"),
        input=described.input,
        options=permission_options(remember="this command" if may_remember else ""),
    )


def _remembers(decision: JsonValue) -> bool:
    """Whether Codex would keep this decision: one that it cannot keep is not offered."""
    names = decision if isinstance(decision, dict) else {str(decision): None}
    return bool(_REMEMBERED & names.keys())


def _files(ask_id: str, params: Json, touched: Described | None, diffs: list[Diff]) -> Ask:
    root = text_of(params, "grantRoot")
    what = f"changes below {root}" if root else "these files"
    return Ask(
        ask_id=ask_id,
        kind="permission",
        title=touched.title if touched else "Change files",
        detail=text_of(params, "reason"),
        input=touched.input if touched else None,
        diffs=diffs,
        options=permission_options(remember=what),
    )


def _rights(ask_id: str, params: Json) -> Ask:
    wanted = object_of(params, "permissions")
    lines = [text_of(params, "reason")]
    if true_at(object_of(wanted, "network"), "enabled"):
        lines.append("Network access.")
    files = object_of(wanted, "fileSystem")
    for word in ("read", "write"):
        if paths := texts_of(files, word):
            lines.append(f"{word.capitalize()}: {', '.join(paths)}")
    for entry in objects_of(files, "entries"):
        path = object_of(entry, "path")
        place = text_of(path, "path") or text_of(path, "pattern")
        place = place or text_of(object_of(path, "value"), "kind")
        lines.append(f"{text_of(entry, 'access').capitalize()}: {place}")
    return Ask(
        ask_id=ask_id,
        kind="permission",
        title="Grant more rights",
        detail="\n".join(line for line in lines if line),
        options=permission_options(remember="these rights"),
    )
