"""Tool calls from their first sign in the stream to their result."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ....protocol.events import EventBody, ToolUseEnd, ToolUseStart
from ....protocol.tools import ContentBlock, Diff, ImageBlock, JsonBlock, TextBlock
from ....protocol.words import ToolKind, ToolStatus
from ..wire import Json, int_of, object_of, objects_of, sound_id, text_of, true_at
from . import checklist as checklists
from .diffs import diffs_of_result
from .helpers import Helpers
from .places import Places
from .tools import describe

_ANNOUNCE_CHARS: Final = 2048
# whole string fields in the beginning of a JSON object
_FIELD: Final = re.compile(r'"(\w{1,40})":\s?("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*")')
_EXIT_CODE = re.compile(r"Exit code (\d{1,9})(?:\n|$)")
_ERROR_TAGS = re.compile(r"</?tool_use_error>")


@dataclass
class _Streaming:
    tool_id: str
    name: str
    head: str = ""


class ToolCalls:
    """The tool calls of one run; tool ids are the CLI's own."""

    def __init__(self, places: Places, helpers: Helpers, checklist: checklists.Checklist) -> None:
        self._places = places
        self._helpers = helpers
        self._checklist = checklist
        self._listing: dict[str, tuple[str, Json]] = {}
        self._kinds: dict[str, ToolKind] = {}
        self._streaming: dict[int, _Streaming] = {}
        self._announced: set[str] = set()

    def stream_begins(self, index: int, block: Json) -> None:
        """A call begins to stream as block `index` of its message; its arguments follow."""
        tool_id = sound_id(text_of(block, "id"))
        if tool_id:
            self._streaming[index] = _Streaming(tool_id, text_of(block, "name"))

    def stream_goes_on(self, index: int, piece: str) -> list[EventBody]:
        """Announce a call with long arguments as soon as it is known what it is about."""
        call = self._streaming.get(index)
        if call is None or call.tool_id in self._announced:
            return []
        call.head += piece
        if len(call.head) < _ANNOUNCE_CHARS:
            return []  # it will be whole in a moment
        del self._streaming[index]
        arguments: Json = {name: json.loads(text) for name, text in _FIELD.findall(call.head)}
        kind, title, typed = describe(call.name, arguments, self._places)
        if kind == "other":
            return []
        self._announced.add(call.tool_id)
        return [
            ToolUseStart(tool_id=call.tool_id, name=call.name, kind=kind, title=title, input=typed)
        ]

    def begin(self, block: Json, parent: str) -> list[EventBody]:
        """The call with its whole input; replaces what was announced."""
        tool_id, name = sound_id(text_of(block, "id")), text_of(block, "name")
        if not tool_id:
            return []
        arguments = object_of(block, "input")
        kind, title, typed = describe(name, arguments, self._places)
        self._announced.discard(tool_id)
        self._kinds[tool_id] = kind
        if kind == "subagent":
            self._helpers.begins(tool_id)
        elif name in checklists.TOOLS and not parent:
            self._listing[tool_id] = name, arguments
        return [
            ToolUseStart(
                tool_id=tool_id,
                parent_tool_id=sound_id(parent) or None,
                name=name,
                kind=kind,
                title=title,
                input=typed,
                raw_input=arguments,
            )
        ]

    def abandon(self) -> list[EventBody]:
        """End the calls that were announced and never made: their message was cut off."""
        gone, self._announced, self._streaming = sorted(self._announced), set(), {}
        return [ToolUseEnd(tool_id=tool_id, status="cancelled") for tool_id in gone]

    def end(self, line: Json) -> list[EventBody]:
        """The results in a `user` line; parallel calls end in any order."""
        blocks = [
            block
            for block in objects_of(object_of(line, "message"), "content")
            if text_of(block, "type") == "tool_result"
        ]
        # the structured form stands on the line and belongs to its one result
        structured = object_of(line, "tool_use_result") if len(blocks) == 1 else {}
        metas = {text_of(meta, "id"): meta for meta in objects_of(line, "tool_result_meta")}
        ends: list[EventBody] = []
        for block in blocks:
            raw_id = text_of(block, "tool_use_id")
            ends += self.finish(raw_id, block, structured, metas.get(raw_id, {}))
        return ends

    def finish(self, raw_id: str, block: Json, structured: Json, meta: Json) -> list[EventBody]:
        """One result."""
        if not raw_id:
            return []
        tool_id = sound_id(raw_id)
        if self._helpers.works_on(tool_id, structured):
            return []
        status = _status(block, meta)
        output = _output(block, structured)
        exit_code = None
        kind = self._kinds.get(tool_id)
        if kind == "shell" and status == "failed":
            exit_code, output = _split_exit_code(output)
        diffs = diffs_of_result(structured, self._places) if status == "completed" else []
        listed = self._listing.pop(tool_id, None)
        plan: list[EventBody] = []
        if listed is not None and status == "completed":
            plan, output = self._checklist.change(*listed, structured), []
        return [
            ToolUseEnd(
                tool_id=tool_id,
                status=status,
                is_error=true_at(block, "is_error"),
                output=[] if _is_for_model(kind, status, diffs) else output,
                diffs=diffs,
                exit_code=exit_code,
            ),
            *plan,
        ]


def _is_for_model(kind: ToolKind | None, status: ToolStatus, diffs: list[Diff]) -> bool:
    """Whether the CLI's words only tell the model what a person sees anyway."""
    answered = status == "completed" and kind in ("question", "plan")
    return bool(diffs) or status == "cancelled" or answered


def _status(block: Json, meta: Json) -> ToolStatus:
    decision = text_of(object_of(meta, "permission_decision"), "decision")
    why_not_run = text_of(meta, "non_execution_kind")
    if why_not_run == "user-rejected" and not decision:
        return "cancelled"  # so says the CLI of calls that an interrupt stopped
    if decision == "reject" or why_not_run:
        return "denied"
    return "failed" if true_at(block, "is_error") else "completed"


def _output(block: Json, structured: Json) -> list[ContentBlock]:
    if isinstance(structured.get("stdout"), str) and not true_at(block, "is_error"):
        printed = text_of(structured, "stdout") + text_of(structured, "stderr")
        if not printed:
            return []  # the CLI puts words of its own where a command printed nothing
        if kept := text_of(structured, "persistedOutputPath"):
            # the model gets the first two kilobytes only
            size = int_of(structured, "persistedOutputSize") or len(printed)
            return [TextBlock(text=f"{printed}\n… {size} bytes in all, kept in {kept}")]
    file = object_of(structured, "file")
    if text_of(structured, "type") == "text" and isinstance(file.get("content"), str):
        # what the model gets has line numbers in it
        return [TextBlock(text=text_of(file, "content"))]
    content = block.get("content")
    if isinstance(content, str):
        return _text(content)
    blocks: list[ContentBlock] = []
    for item in content if isinstance(content, list) else []:
        blocks += _content(item)
    return blocks


def _content(item: JsonValue) -> list[ContentBlock]:
    if not isinstance(item, dict):
        return [JsonBlock(value=item)]
    if text_of(item, "type") == "text":
        return _text(text_of(item, "text"))
    source = object_of(item, "source")
    if text_of(item, "type") == "image" and text_of(source, "type") == "base64":
        mime = text_of(source, "media_type") or "image/png"
        return [ImageBlock(mime=mime, data=text_of(source, "data"))]
    return [JsonBlock(value=item)]


def _text(text: str) -> list[ContentBlock]:
    text = _ERROR_TAGS.sub("", text)
    return [TextBlock(text=text)] if text else []


def _split_exit_code(output: list[ContentBlock]) -> tuple[int | None, list[ContentBlock]]:
    first = output[0] if output else None
    found = _EXIT_CODE.match(first.text) if isinstance(first, TextBlock) else None
    if found is None or not isinstance(first, TextBlock):
        return None, output
    rest: list[ContentBlock] = []
    if first.text[found.end() :]:
        rest.append(TextBlock(text=first.text[found.end() :]))
    return int(found[1]), rest + output[1:]
