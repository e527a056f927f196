"""Turns a `can_use_tool` request into an ask: a permission, a question form or a plan. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ....protocol.events import Ask
from ....protocol.tools import AskOption, Question, QuestionOption
from ..wire import Json, object_of, objects_of, sound_id, text_of, true_at
from .diffs import diffs_of_ask
from .places import Places
from .tools import describe, kind_of

ALLOW_ONCE: Final = "allow_once"
ALLOW_CHAT: Final = "allow_chat"
DENY: Final = "deny"
APPROVE_ASK: Final = "approve_ask"
APPROVE_EDITS: Final = "approve_accept_edits"
KEEP_PLANNING: Final = "keep_planning"

_EDITORS: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_LABEL_LIMIT = 80


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """An ask with what its answer needs: the CLI's request, and what "for this chat" adds."""

    ask: Ask
    request_id: str
    request: Json
    rules: tuple[Json, ...] = ()


def open_ask(request_id: str, request: Json, places: Places, before: str | None = None) -> OpenAsk:
    """The ask for a `can_use_tool` request; `before`: the text of the file it would change."""
    match text_of(request, "tool_name"):
        case "AskUserQuestion":
            return OpenAsk(_question(request_id, request), request_id, request)
        case "ExitPlanMode":
            return OpenAsk(_plan(request_id, request), request_id, request)
    rules, what = chat_rules(request, places)
    ask = _permission(request_id, request, places, what, before)
    return OpenAsk(ask, request_id, request, rules)


def needs_a_person(request: Json) -> bool:
    """Whether only a person can answer: questions and plans, in every permission."""
    name = text_of(request, "tool_name")
    return true_at(request, "requires_user_interaction") or kind_of(name) in ("question", "plan")


def question_id(index: int) -> str:
    """The id of the form's question `index`, from 0: the CLI itself goes by their text."""
    return f"q{index + 1}"


def _permission(
    request_id: str, request: Json, places: Places, what: str, before: str | None
) -> Ask:
    name, arguments = text_of(request, "tool_name"), object_of(request, "input")
    kind, title, typed = describe(name, arguments, places)
    if kind == "shell":
        # a command's title is the agent's own word for it; the command itself stands in the input
        title = "Run a command"
    options = [AskOption(id=ALLOW_ONCE, label="Allow once", decision="allow")]
    if what:
        label = f"Allow for this chat: {what}"
        options.append(AskOption(id=ALLOW_CHAT, label=label, decision="allow", scope="chat"))
    options.append(AskOption(id=DENY, label="Deny", decision="deny"))
    return Ask(
        ask_id=sound_id(request_id),
        kind="permission",
        tool_id=sound_id(text_of(request, "tool_use_id")) or None,
        title=title,
        detail=_detail(request, title),
        input=typed,
        diffs=diffs_of_ask(name, arguments, places, before),
        options=options,
    )


def _detail(request: Json, title: str) -> str:
    said = (text_of(request, "description"), text_of(request, "decision_reason"))
    lines = [_ANSI.sub("", text).strip() for text in said]
    return "\n".join(line for line in lines if line and line not in title)


def chat_rules(request: Json, places: Places) -> tuple[tuple[Json, ...], str]:
    """What "Allow for this chat" remembers, and its words; nothing when the CLI offers no rule.

    The CLI would keep rules in the project's own settings; these last as long as its process.
    """
    if true_at(request, "suppress_always_allow_rule"):
        return (), ""
    suggestions = objects_of(request, "permission_suggestions")
    allowing = [
        item
        for item in suggestions
        if text_of(item, "type") == "addRules" and text_of(item, "behavior") == "allow"
    ]
    if allowing:
        folders = [item for item in suggestions if text_of(item, "type") == "addDirectories"]
        texts = [_rule_text(rule) for item in allowing for rule in objects_of(item, "rules")]
        kept = tuple({**item, "destination": "session"} for item in allowing + folders)
        return kept, _cut("; ".join(texts))
    if _may_edit_freely(request, suggestions, places):
        # what it suggests is its mode for edits, which would outlive this chat's permission
        rule: Json = {"toolName": "Edit", "ruleContent": "/**"}
        kept_rule: Json = {"type": "addRules", "rules": [rule], "behavior": "allow"}
        return ({**kept_rule, "destination": "session"},), "edits in this folder"
    return (), ""


def _may_edit_freely(request: Json, suggestions: list[Json], places: Places) -> bool:
    arguments = object_of(request, "input")
    path = text_of(arguments, "file_path") or text_of(arguments, "notebook_path")
    return (
        text_of(request, "tool_name") in _EDITORS
        # a rule does not satisfy the CLI's own checks of sensitive files
        and text_of(request, "decision_reason_type") != "safetyCheck"
        and any(text_of(item, "type") == "setMode" for item in suggestions)
        and bool(path)
        and places.contains(path)
    )


def _rule_text(rule: Json) -> str:
    name, content = text_of(rule, "toolName"), text_of(rule, "ruleContent")
    if content:
        return content
    prefix, _, rest = name.partition("mcp__")
    return rest.replace("__", ": ", 1) if not prefix and rest else name


def _question(request_id: str, request: Json) -> Ask:
    questions = [
        Question(
            id=question_id(index),
            header=text_of(item, "header"),
            question=text_of(item, "question"),
            multi_select=true_at(item, "multiSelect"),
            options=[
                QuestionOption(
                    label=text_of(option, "label"), description=text_of(option, "description")
                )
                for option in objects_of(item, "options")
            ],
        )
        for index, item in enumerate(objects_of(object_of(request, "input"), "questions"))
    ]
    return Ask(
        ask_id=sound_id(request_id),
        kind="question",
        tool_id=sound_id(text_of(request, "tool_use_id")) or None,
        title="Claude has a question" if len(questions) == 1 else "Claude has questions",
        questions=questions,
    )


def _plan(request_id: str, request: Json) -> Ask:
    return Ask(
        ask_id=sound_id(request_id),
        kind="plan",
        tool_id=sound_id(text_of(request, "tool_use_id")) or None,
        title="Claude proposes a plan",
        plan=text_of(object_of(request, "input"), "plan"),
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


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL_LIMIT else f"{line[: _LABEL_LIMIT - 1]}…"
