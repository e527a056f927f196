"""Turns a `session/request_permission` into an ask: a permission, a question or a plan. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ....protocol.events import Ask
from ....protocol.tools import AskOption, Question, QuestionOption
from ....protocol.words import Permission
from ..wire import Json, first_text, object_of, objects_of, sound_id, text_of
from .diffs import diffs_of
from .places import Places
from .tools import Described, describe, plain_kind

_LABEL_LIMIT = 120
_CHOICE: Final = re.compile(r"q(\d{1,3})_opt_\d{1,3}")
_LASTING: Final = re.compile(
    r"(?i)(?<![a-z])(project|user|workspace|global|everywhere|permanent)|_and_save"
)
_FULL: Final = re.compile(r"(?i)yolo|bypass|full.?access|all tools")
_EDITS: Final = re.compile(r"(?i)edit|auto")


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """An ask with what its answer needs. `options` are the agent's, by our option ids or labels."""

    ask: Ask
    request_id: str
    call_id: str
    call: Described
    protocol_kind: str
    options: dict[str, str]
    decline: str | None
    """The agent's option that says no; None where it has none: the ask is cancelled then."""
    allow: str | None
    """The agent's option that allows the least."""
    form: bool = False
    """Several questions, whose answers go beside the option."""


def open_ask(
    request_id: str, ask_id: str, tool_id: str, known: Json, asked: Json, places: Places
) -> OpenAsk:
    """`known` is what is known of the call, `asked` the request's params."""
    call, options = describe(known, places), objects_of(asked, "options")
    kept = _without_lasting(options)
    by_id = {sound_id(text_of(option, "optionId")): text_of(option, "optionId") for option in kept}
    rejects = [o for o in kept if text_of(o, "kind").startswith("reject")]
    decline = next((text_of(o, "optionId") for o in _once_first(rejects)), None)
    allows = [o for o in kept if text_of(o, "kind").startswith("allow")]
    allow = next((text_of(o, "optionId") for o in _once_first(allows)), None)
    words = _words(asked)
    if options and all(_is_choice(option) for option in options):
        choices = [option for option in options if _CHOICE.fullmatch(text_of(option, "optionId"))]
        by_label = {text_of(option, "name"): text_of(option, "optionId") for option in choices}
        ask = _question(ask_id, tool_id, words or call.title, list(by_label))
        return OpenAsk(
            ask, request_id, text_of(known, "toolCallId"), call, "question", by_label, decline, None
        )
    kind = plain_kind(known)
    if form := objects_of(object_of(known, "_meta"), "qwenQuestions"):
        asked_form = _form(ask_id, tool_id, form)
        return OpenAsk(
            asked_form,
            request_id,
            text_of(known, "toolCallId"),
            call,
            "question",
            {},
            decline,
            allow,
            form=True,
        )
    if kind == "switch_mode":
        ask = _plan(ask_id, tool_id, known, words, kept)
    else:
        ask = _permission(ask_id, tool_id, call, known, words, kept, places)
    return OpenAsk(ask, request_id, text_of(known, "toolCallId"), call, kind, by_id, decline, allow)


def _permission(
    ask_id: str,
    tool_id: str,
    call: Described,
    known: Json,
    words: str,
    options: list[Json],
    places: Places,
) -> Ask:
    # a command's title is the agent's own word for it; the command itself stands in the input
    title = "Run a command" if call.kind == "shell" else call.title
    return Ask(
        ask_id=ask_id,
        kind="permission",
        tool_id=tool_id or None,
        title=title or "Use a tool",
        detail="" if words in title else words,
        input=call.input,
        diffs=diffs_of(objects_of(known, "content"), places),
        options=[
            AskOption(
                id=sound_id(text_of(option, "optionId")),
                label=_cut(text_of(option, "name") or text_of(option, "optionId")),
                decision="allow" if text_of(option, "kind").startswith("allow") else "deny",
                scope="chat" if text_of(option, "kind").endswith("always") else "once",
            )
            for option in _once_first(options)
        ],
    )


def _plan(ask_id: str, tool_id: str, known: Json, words: str, options: list[Json]) -> Ask:
    arguments = object_of(known, "rawInput")
    return Ask(
        ask_id=ask_id,
        kind="plan",
        tool_id=tool_id or None,
        title="The agent proposes a plan",
        plan=first_text(arguments, "plan", "content", "text") or words,
        options=[
            AskOption(
                id=sound_id(text_of(option, "optionId")),
                label=_cut(text_of(option, "name") or text_of(option, "optionId")),
                decision="allow" if text_of(option, "kind").startswith("allow") else "deny",
                leads_to=_leads_to(option),
            )
            for option in _once_first(options)
        ],
    )


def _leads_to(option: Json) -> Permission | None:
    """What an approval of a plan raises the chat to, by what the agent calls it."""
    if not text_of(option, "kind").startswith("allow"):
        return None
    said = f"{text_of(option, 'optionId')} {text_of(option, 'name')}"
    if _FULL.search(said):
        return "full"
    lasting = text_of(option, "kind") == "allow_always" or _EDITS.search(said)
    return "accept_edits" if lasting and "manual" not in said.lower() else "ask"


def _question(ask_id: str, tool_id: str, question: str, labels: list[str]) -> Ask:
    return Ask(
        ask_id=ask_id,
        kind="question",
        tool_id=tool_id or None,
        title="The agent has a question",
        questions=[
            Question(
                id="q1",
                question=question,
                options=[QuestionOption(label=label) for label in labels],
                allow_other=False,
            )
        ],
    )


def _form(ask_id: str, tool_id: str, questions: list[Json]) -> Ask:
    """The questions of Qwen Code, which sends them beside what looks like a permission."""
    return Ask(
        ask_id=ask_id,
        kind="question",
        tool_id=tool_id or None,
        title="The agent has a question" if len(questions) == 1 else "The agent has questions",
        questions=[
            Question(
                id=f"q{number}",
                header=text_of(one, "header"),
                question=text_of(one, "question"),
                multi_select=one.get("multiSelect") is True,
                options=[
                    QuestionOption(
                        label=text_of(option, "label"), description=text_of(option, "description")
                    )
                    for option in objects_of(one, "options")
                ],
            )
            for number, one in enumerate(questions)
        ],
    )


def _is_choice(option: Json) -> bool:
    name = text_of(option, "optionId")
    return bool(_CHOICE.fullmatch(name)) or name.endswith("_skip")


def _without_lasting(options: list[Json]) -> list[Json]:
    """Without what would be written into settings of the project or the user: nobody could see or
    take it back here. Kept where nothing else would allow the call."""
    kept = [
        option
        for option in options
        if text_of(option, "optionId")
        and not (
            text_of(option, "kind").endswith("always")
            and _LASTING.search(f"{text_of(option, 'optionId')} {text_of(option, 'name')}")
        )
    ]
    if any(text_of(option, "kind").startswith("allow") for option in kept):
        return kept
    return [option for option in options if text_of(option, "optionId")]


def _once_first(options: list[Json]) -> list[Json]:
    order = {"allow_once": 0, "allow_always": 1, "reject_once": 2, "reject_always": 3}
    return sorted(options, key=lambda option: order.get(text_of(option, "kind"), 4))


def _words(asked: Json) -> str:
    blocks = objects_of(object_of(asked, "toolCall"), "content")
    texts = [text_of(object_of(block, "content"), "text") for block in blocks]
    return "\n".join(text for text in texts if text).strip()


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL_LIMIT else f"{line[: _LABEL_LIMIT - 1]}…"
