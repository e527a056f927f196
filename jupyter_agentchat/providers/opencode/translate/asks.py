"""What opencode asks a person: a permission or a form of questions. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ....protocol.events import Ask
from ....protocol.resources import AskAnswer
from ....protocol.tools import AskOption, Question, QuestionOption
from ..permissions import GO_ON
from ..wire import Json, object_of, objects_of, text_of, texts_of, true_at
from .diffs import diffs_of_ask
from .places import Places
from .tools import describe

ALLOW_ONCE: Final = "allow_once"
ALLOW_ALWAYS: Final = "allow_always"
DENY: Final = "deny"

_LABEL_LIMIT: Final = 80
_TOOLS: Final = {
    "external_directory": "Work outside the project",
    "doom_loop": "Go on with the same call again and again",
}


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """An ask with where its answer goes: pending asks are only known to their own directory."""

    ask: Ask
    directory: str
    count: int = 0
    """How many questions it has; 0: a permission."""


def permission_ask(
    asked: Json, directory: str, tool: str, tool_id: str | None, places: Places
) -> OpenAsk:
    """The ask for a `permission.asked`. `tool` is the name of the call's tool, if it is known."""
    name, metadata = text_of(asked, "permission"), object_of(asked, "metadata")
    kind, title, typed = describe(tool or name, arguments_of(asked), places)
    if kind == "shell":
        # a command's title is the agent's own word for it; the command itself stands in the input
        title = "Run a command"
    elif kind == "other" or name in _TOOLS:
        title = _TOOLS.get(name, f"Use {name}")
    patterns = texts_of(asked, "patterns")
    options = [AskOption(id=ALLOW_ONCE, label="Allow once", decision="allow")]
    if always := texts_of(asked, "always"):
        what = name if always == ["*"] else "; ".join(always)
        label = _cut(f"Allow here until opencode ends: {what}")
        options.append(AskOption(id=ALLOW_ALWAYS, label=label, decision="allow", scope="project"))
    options.append(AskOption(id=DENY, label="Deny", decision="deny"))
    ask = Ask(
        ask_id=text_of(asked, "id"),
        kind="permission",
        tool_id=tool_id,
        title=title,
        detail="" if kind in ("shell", "edit", "write") else "\n".join(patterns),
        input=typed,
        diffs=diffs_of_ask(metadata, places),
        options=options,
    )
    return OpenAsk(ask, directory)


def arguments_of(asked: Json) -> Json:
    """A call's arguments, as far as its ask names them."""
    metadata = object_of(asked, "metadata")
    found: Json = {}
    if text_of(metadata, "command"):
        found["command"] = text_of(metadata, "command")
    if path := text_of(metadata, "filepath") or text_of(metadata, "filePath"):
        found["filePath"] = path
    for name in ("url", "query", "pattern", "description", "subagent_type"):
        if text_of(metadata, name):
            found[name] = text_of(metadata, name)
    return found


def question_ask(asked: Json, directory: str, tool_id: str | None) -> OpenAsk:
    """The form for a `question.asked`."""
    questions = [
        Question(
            id=question_id(index),
            header=text_of(one, "header"),
            question=text_of(one, "question"),
            multi_select=true_at(one, "multiple"),
            options=[
                QuestionOption(
                    label=text_of(option, "label"), description=text_of(option, "description")
                )
                for option in objects_of(one, "options")
            ],
            allow_other=one.get("custom") is not False,
        )
        for index, one in enumerate(objects_of(asked, "questions"))
    ]
    ask = Ask(
        ask_id=text_of(asked, "id"),
        kind="question",
        tool_id=tool_id,
        title="opencode has a question" if len(questions) == 1 else "opencode has questions",
        questions=questions,
    )
    return OpenAsk(ask, directory, len(questions))


def question_id(index: int) -> str:
    """The id of the form's question `index`, from 0: opencode goes by their order."""
    return f"q{index + 1}"


def reply_to(asked: OpenAsk, answer: AskAnswer) -> tuple[str, JsonValue]:
    """(the end of the path, the body) of the answer to an ask."""
    if asked.count:
        if answer.decision == "deny":
            return "reject", {}
        given = answer.answers or {}
        answers: list[JsonValue] = []
        for index in range(asked.count):
            one = given.get(question_id(index), [])
            answers.append([one] if isinstance(one, str) else list(one))
        return "reply", {"answers": answers}
    if answer.decision == "deny":
        # without words opencode ends the turn
        return "reply", {"reply": "reject", "message": answer.message or GO_ON}
    always = answer.option_id == ALLOW_ALWAYS
    return "reply", {"reply": "always" if always else "once"}


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL_LIMIT else f"{line[: _LABEL_LIMIT - 1]}…"
