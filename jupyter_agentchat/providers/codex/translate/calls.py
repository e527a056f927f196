"""Tool calls of one run: their beginning, what they print, their end. Pure."""

from __future__ import annotations

from typing import Final

from ....protocol.events import EventBody, ToolUseEnd, ToolUseStart, ToolUseUpdate
from ....protocol.tools import ContentBlock, Diff, ImageBlock, JsonBlock, OtherInput, TextBlock
from ....protocol.words import ToolStatus
from ..wire import Json, int_of, object_of, objects_of, sound_json, text_of
from .diffs import diffs_of
from .places import Places
from .tools import Described, describe

_STATUS: Final[dict[str, ToolStatus]] = {
    "completed": "completed",
    "failed": "failed",
    "declined": "denied",
    "interrupted": "cancelled",
}
_BULKY: Final = frozenset({"aggregatedOutput", "result", "contentItems", "results"})


class ToolCalls:
    """The calls that were begun; an item is known by its key."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._open: dict[str, Json] = {}
        self._done: set[str] = set()

    def changes(self, key: str) -> tuple[Described | None, list[Diff]]:
        """What an open file change is about: Codex asks for it without saying so again."""
        item = self._open.get(key, {})
        if text_of(item, "type") != "fileChange":
            return None, []
        return describe(item, self._places), diffs_of(item, self._places)

    def of_server(self, server: str, tool: str) -> str | None:
        """The newest open call of a tool of an MCP server: its approval does not name it."""
        for key, item in reversed(self._open.items()):
            if (text_of(item, "server"), text_of(item, "tool")) == (server, tool):
                return key
        return None

    def is_open(self, key: str) -> bool:
        """Whether the call was begun and has not ended."""
        return key in self._open

    def begin(self, key: str, item: Json, parent: str | None = None) -> list[EventBody]:
        """A call begins, of a helper's when it has a `parent`; known ones are begun anew."""
        if key in self._done:
            return []
        self._open[key] = item
        described = describe(item, self._places)
        raw = sound_json({name: value for name, value in item.items() if name not in _BULKY})
        kind = text_of(item, "type") or "item"
        return [
            ToolUseStart(
                tool_id=key,
                parent_tool_id=parent,
                name=(described.name if described else kind) or kind,
                kind=described.kind if described else "other",
                title=described.title if described else kind,
                input=described.input if described else OtherInput(),
                raw_input=raw if isinstance(raw, dict) else None,
            )
        ]

    def prints(self, key: str, delta: str) -> list[EventBody]:
        """Output as it comes."""
        return (
            [ToolUseUpdate(tool_id=key, output_delta=delta)] if delta and key in self._open else []
        )

    def end(self, key: str, item: Json, parent: str | None = None) -> list[EventBody]:
        """A call ended. One whose beginning never came is begun here."""
        if key in self._done:
            return []
        known = self._open.get(key)
        bodies: list[EventBody] = []
        if known is None or _gained(known, item):
            bodies += self.begin(key, item, parent)
        self._open.pop(key, None)
        self._done.add(key)
        status = _status(item)
        return [
            *bodies,
            ToolUseEnd(
                tool_id=key,
                status=status,
                is_error=status == "failed",
                output=_output(item),
                diffs=diffs_of(item, self._places) if text_of(item, "type") == "fileChange" else [],
                exit_code=int_of(item, "exitCode"),
                duration_ms=int_of(item, "durationMs"),
            ),
        ]


def _gained(before: Json, after: Json) -> bool:
    """Whether the end says more of the call than its beginning did."""
    return any(
        before.get(name) in (None, "", []) and after.get(name) not in (None, "", [])
        for name in ("query", "command", "changes", "arguments", "path", "prompt")
    )


def _status(item: Json) -> ToolStatus:
    said = _STATUS.get(text_of(item, "status"), "completed")
    failed = (
        (int_of(item, "exitCode") or 0) != 0
        or bool(object_of(item, "error"))
        or item.get("success") is False
    )
    return "failed" if said == "completed" and failed else said


def _output(item: Json) -> list[ContentBlock]:
    match text_of(item, "type"):
        case "commandExecution":
            text = text_of(item, "aggregatedOutput")
            return [TextBlock(text=text)] if text else []
        case "mcpToolCall":
            if error := text_of(object_of(item, "error"), "message"):
                return [TextBlock(text=error)]
            return _blocks(objects_of(object_of(item, "result"), "content"))
        case "dynamicToolCall":
            return _blocks(objects_of(item, "contentItems"))
    return []


def _blocks(contents: list[Json]) -> list[ContentBlock]:
    blocks: list[ContentBlock] = []
    for content in contents:
        match text_of(content, "type"):
            case "text" | "inputText":
                blocks.append(TextBlock(text=text_of(content, "text")))
            case "image":
                mime, data = text_of(content, "mimeType") or "image/png", text_of(content, "data")
                blocks.append(ImageBlock(mime=mime, data=data))
            case _:
                blocks.append(JsonBlock(value=sound_json(content)))
    return blocks
