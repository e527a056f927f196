"""Question forms, and what MCP servers ask of a person. Pure."""

from __future__ import annotations

from typing import Final

from ....protocol.events import Ask
from ....protocol.tools import AskOption, McpInput, Question, QuestionOption, ToolInput
from ..wire import Json, object_of, objects_of, sound_json, text_of, texts_of, true_at

ALLOW_ONCE: Final = "allow_once"
ALLOW_CHAT: Final = "allow_chat"
DENY: Final = "deny"


def permission_options(*, remember: str) -> list[AskOption]:
    options = [AskOption(id=ALLOW_ONCE, label="Allow once", decision="allow")]
    if remember:
        label = f"Allow for this chat: {remember}"
        options.append(AskOption(id=ALLOW_CHAT, label=label, decision="allow", scope="chat"))
    return [*options, AskOption(id=DENY, label="Deny", decision="deny")]


def is_tool_approval(params: Json) -> bool:
    """Whether an elicitation only asks whether a tool of an MCP server may be called."""
    return text_of(object_of(params, "_meta"), "codex_approval_kind") == "mcp_tool_call"


def fields_of(params: Json) -> dict[str, Json]:
    """The fields of an elicitation's form."""
    properties = object_of(object_of(params, "requestedSchema"), "properties")
    return {name: field for name, field in properties.items() if isinstance(field, dict)}


def choices_of(field: Json) -> list[tuple[str, str]]:
    """(value, label) of a field that offers a choice; a boolean is one, too."""
    if text_of(field, "type") == "boolean":
        return [("true", "Yes"), ("false", "No")]
    source = object_of(field, "items") if text_of(field, "type") == "array" else field
    titled = objects_of(source, "oneOf") or objects_of(source, "anyOf")
    if titled:
        return [(text_of(one, "const"), text_of(one, "title")) for one in titled]
    values, names = texts_of(source, "enum"), texts_of(source, "enumNames")
    return list(zip(values, names if len(names) == len(values) else values, strict=True))


def questions(ask_id: str, params: Json) -> Ask:
    questions = [
        Question(
            id=text_of(item, "id") or f"q{index + 1}",
            header=text_of(item, "header"),
            question=text_of(item, "question"),
            options=[
                QuestionOption(
                    label=text_of(option, "label"), description=text_of(option, "description")
                )
                for option in objects_of(item, "options")
            ],
            secret=true_at(item, "isSecret"),
            allow_other=true_at(item, "isOther") or not objects_of(item, "options"),
        )
        for index, item in enumerate(objects_of(params, "questions"))
    ]
    title = "Codex has a question" if len(questions) == 1 else "Codex has questions"
    return Ask(ask_id=ask_id, kind="question", title=title, questions=questions)


def elicitation(ask_id: str, params: Json) -> Ask:
    server, message = text_of(params, "serverName"), text_of(params, "message")
    if is_tool_approval(params):
        return _tool_approval(ask_id, params)
    if text_of(params, "mode") == "url" or not fields_of(params):
        return Ask(
            ask_id=ask_id,
            kind="permission",
            title=f"{server or 'An MCP server'} asks you",
            detail="\n".join(part for part in (message, text_of(params, "url")) if part),
            options=[
                AskOption(id=ALLOW_ONCE, label="Done, go on", decision="allow"),
                AskOption(id=DENY, label="Decline", decision="deny"),
            ],
        )
    questions = [
        Question(
            id=name,
            header=text_of(field, "title") or name,
            question=text_of(field, "description") or text_of(field, "title") or name,
            multi_select=text_of(field, "type") == "array",
            options=[QuestionOption(label=label or value) for value, label in choices_of(field)],
            allow_other=not choices_of(field),
        )
        for name, field in fields_of(params).items()
    ]
    title = message or f"{server or 'An MCP server'} has a question"
    return Ask(ask_id=ask_id, kind="question", title=title, questions=questions)


def _tool_approval(ask_id: str, params: Json) -> Ask:
    meta = object_of(params, "_meta")
    server, tool = text_of(params, "serverName"), text_of(meta, "tool_name")
    typed: ToolInput | None = None
    if server and tool:
        typed = McpInput(server=server, tool=tool, arguments=sound_json(meta.get("tool_params")))
    persist = meta.get("persist")
    lasting = persist == "session" or (isinstance(persist, list) and "session" in persist)
    return Ask(
        ask_id=ask_id,
        kind="permission",
        title=f"{server}: {tool}" if server and tool else "Call a tool",
        detail=text_of(params, "message"),
        input=typed,
        options=permission_options(remember="this tool" if lasting else ""),
    )
