"""Approvals, plan reviews and questions as asks. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ....protocol.events import Ask
from ....protocol.tools import AskOption, Question, QuestionOption
from ..wire import Json, object_of, objects_of, sound_id, text_of, true_at
from .diffs import diffs_of
from .places import Places
from .tools import arguments_of, describe, kind_of

ALLOW_ONCE: Final = "allow_once"
ALLOW_CHAT: Final = "allow_chat"
DENY: Final = "deny"
APPROVE_ASK: Final = "approve_ask"
APPROVE_EDITS: Final = "approve_accept_edits"
CHOICE: Final = "choice_"
KEEP_PLANNING: Final = "keep_planning"

_LABEL_LIMIT = 80


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """An ask with what its answer needs: Kimi Code's id, and its own words for the choices."""

    ask: Ask
    kind: Literal["approval", "question"]
    request_id: str
    request: Json

    @property
    def rule(self) -> str:
        """What "Allow for this chat" remembers: the same tool with the same words."""
        request = self.request
        return f"{text_of(request, 'tool_name')}\n{arguments_of(request)!r}"


def open_approval(payload: Json, tool_id: str | None, places: Places) -> OpenAsk:
    """The ask for `event.approval.requested`."""
    request_id = text_of(payload, "approval_id")
    display = object_of(payload, "tool_input_display")
    is_plan = text_of(display, "kind") == "plan_review"
    make = _plan if is_plan else _permission
    return OpenAsk(make(request_id, payload, tool_id, places), "approval", request_id, payload)


def open_question(payload: Json, tool_id: str | None) -> OpenAsk:
    """The ask for `event.question.requested`."""
    request_id = text_of(payload, "question_id")
    questions = [
        Question(
            id=text_of(item, "id"),
            header=text_of(item, "header"),
            question="\n".join(filter(None, (text_of(item, "question"), text_of(item, "body")))),
            multi_select=true_at(item, "multi_select"),
            options=[
                QuestionOption(
                    label=text_of(option, "label"), description=text_of(option, "description")
                )
                for option in objects_of(item, "options")
            ],
            allow_other=item.get("allow_other") is not False,
        )
        for item in objects_of(payload, "questions")
        if text_of(item, "id")
    ]
    ask = Ask(
        ask_id=sound_id(request_id),
        kind="question",
        tool_id=tool_id,
        title="Kimi has a question" if len(questions) == 1 else "Kimi has questions",
        questions=questions,
    )
    return OpenAsk(ask, "question", request_id, payload)


def is_plan(payload: Json) -> bool:
    """Whether an approval is of a plan: only a person can give it."""
    return text_of(object_of(payload, "tool_input_display"), "kind") == "plan_review"


def _permission(request_id: str, payload: Json, tool_id: str | None, places: Places) -> Ask:
    name, arguments = text_of(payload, "tool_name"), arguments_of(payload)
    kind, title, typed = describe(name, arguments, places, text_of(payload, "action"))
    what = title
    if kind == "shell":
        # a command's title is the agent's own word for it; the command itself stands in the input
        title, what = "Run a command", text_of(arguments, "command")
    detail = text_of(arguments, "description") if kind == "shell" else ""
    return Ask(
        ask_id=sound_id(request_id),
        kind="permission",
        tool_id=tool_id,
        title=title,
        detail=detail,
        input=typed,
        diffs=diffs_of(name, arguments, places),
        options=[
            AskOption(id=ALLOW_ONCE, label="Allow once", decision="allow"),
            AskOption(
                id=ALLOW_CHAT,
                label=_cut(f"Allow for this chat: {what}"),
                decision="allow",
                scope="chat",
            ),
            AskOption(id=DENY, label="Deny", decision="deny"),
        ],
    )


def _plan(request_id: str, payload: Json, tool_id: str | None, places: Places) -> Ask:
    display = object_of(payload, "tool_input_display")
    choices = [
        label for item in objects_of(display, "options") if (label := text_of(item, "label"))
    ]
    approve = [
        AskOption(
            id=f"{CHOICE}{number}",
            label=_cut(f"Approve: {label}"),
            decision="allow",
            leads_to="ask",
        )
        for number, label in enumerate(choices)
    ] or [
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
    ]
    keep = AskOption(id=KEEP_PLANNING, label="Keep planning", decision="deny")
    return Ask(
        ask_id=sound_id(request_id),
        kind="plan",
        tool_id=tool_id,
        title="Kimi proposes a plan",
        plan=text_of(display, "plan"),
        options=[*approve, keep],
    )


def is_edit_inside(payload: Json, places: Places) -> bool:
    """Whether an approval is of a change to a file of the project."""
    path = text_of(arguments_of(payload), "path")
    return kind_of(text_of(payload, "tool_name")) in ("write", "edit") and places.contains(path)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL_LIMIT else f"{line[: _LABEL_LIMIT - 1]}…"
