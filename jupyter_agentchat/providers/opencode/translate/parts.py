"""The pieces of an answer: text, reasoning, tool calls; each is told once, however often it comes.

opencode sends a part again with every change, and after a cut of the connection all of them are
read once more: a part whose end was told is passed over.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from ....protocol.events import (
    AssistantText,
    EventBody,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
    ToolUseUpdate,
)
from ....protocol.tools import ContentBlock, ImageBlock, TextBlock
from ....protocol.words import ToolStatus
from ..wire import Json, int_of, object_of, objects_of, text_of, true_at
from .diffs import diffs_of_call
from .places import Places
from .tools import describe

_REJECTED: Final = ("rejected permission", "The user dismissed", "rule which prevents")
_ABORTED: Final = "aborted"
_TRAILER: Final = 400
_STREAMED: Final[dict[str, type[AssistantText] | type[Thinking]]] = {
    "text": AssistantText,
    "reasoning": Thinking,
}


@dataclass(slots=True)
class Call:
    """A tool call: `tool_id` is the part's id, as opencode's own names repeat."""

    tool_id: str
    name: str
    started: bool = False
    told_input: Json | None = None
    output: str = ""
    asked_patch: str = ""
    denied: bool = False


class Parts:
    """What was told of each part so far."""

    def __init__(self, places: Places, servers: Collection[str]) -> None:
        self._places = places
        self._servers = servers
        self._texts: dict[str, tuple[str, str]] = {}  # part id: its type, what was told
        self._over: set[str] = set()
        self._calls: dict[str, Call] = {}
        self._of_model: dict[tuple[str, str], Call] = {}
        self.parents: dict[str, str] = {}
        """Session of a subagent: the id of the call that began it."""

    @property
    def open_texts(self) -> bool:
        """Whether a text is being written."""
        return any(part not in self._over for part in self._texts)

    def call(self, asked: Json) -> Call | None:
        """The call that an ask is about."""
        tool = object_of(asked, "tool")
        return self._of_model.get((text_of(tool, "messageID"), text_of(tool, "callID")))

    def announce(self, call: Call, arguments: Json, session: str) -> list[EventBody]:
        """Begin a call that asks before its input was sent."""
        return [] if call.started else [self._start(call, arguments, session)]

    def streamed(self, part: Json) -> list[EventBody]:
        """A text or reasoning part."""
        part_id, kind = text_of(part, "id"), text_of(part, "type")
        if part_id in self._over:
            return []
        whole = text_of(part, "text")
        _, told = self._texts.get(part_id, (kind, ""))
        if int_of(object_of(part, "time"), "end") is not None:
            self._over.add(part_id)
            self._texts[part_id] = (kind, whole)
            if not whole and not told:
                return []
            return [_STREAMED[kind](item_id=part_id, text=whole, final=True)]
        self._texts[part_id] = (kind, told)
        if len(whole) > len(told) and whole.startswith(told):
            self._texts[part_id] = (kind, whole)
            return [_STREAMED[kind](item_id=part_id, delta=whole[len(told) :])]
        return []

    def delta(self, properties: Json) -> list[EventBody]:
        """A piece of a text or reasoning part."""
        part_id, piece = text_of(properties, "partID"), text_of(properties, "delta")
        known = self._texts.get(part_id)
        if known is None or part_id in self._over or not piece:
            return []
        kind, told = known
        self._texts[part_id] = (kind, told + piece)
        return [_STREAMED[kind](item_id=part_id, delta=piece)]

    def tool(self, part: Json) -> list[EventBody]:
        """A tool part: begins with its input, goes on with output, ends once."""
        part_id = text_of(part, "id")
        if part_id in self._over:
            return []
        call = self._calls.setdefault(part_id, Call(part_id, text_of(part, "tool")))
        self._of_model[text_of(part, "messageID"), text_of(part, "callID")] = call
        state = object_of(part, "state")
        child = text_of(object_of(state, "metadata"), "sessionId")
        if child:
            self.parents[child] = part_id
        status = text_of(state, "status")
        if status not in ("running", "completed", "error"):
            return []  # its input is still being written
        bodies: list[EventBody] = []
        arguments = object_of(state, "input")
        if not call.started or (arguments and arguments != call.told_input):
            bodies.append(self._start(call, arguments, text_of(part, "sessionID")))
        if status in ("completed", "error"):
            self._over.add(part_id)
            # what it makes of a call that fits no tool of its own
            invalid = text_of(part, "tool") == "invalid"
            bodies.append(self._end(call, state, failed=status == "error", invalid=invalid))
        else:
            bodies += self._progress(call, text_of(object_of(state, "metadata"), "output"))
        return bodies

    def _progress(self, call: Call, output: str) -> list[EventBody]:
        """opencode sends the whole output each time, later only its end: that cannot be told as
        it comes, and the call's own end brings all of it."""
        if output == call.output or not output.startswith(call.output):
            return []
        piece, call.output = output[len(call.output) :], output
        return [ToolUseUpdate(tool_id=call.tool_id, output_delta=piece)]

    def _start(self, call: Call, arguments: Json, session: str) -> ToolUseStart:
        call.started, call.told_input = True, arguments
        kind, title, typed = describe(call.name, arguments, self._places, self._servers)
        return ToolUseStart(
            tool_id=call.tool_id,
            parent_tool_id=self.parents.get(session),
            name=call.name,
            kind=kind,
            title=title,
            input=typed,
            raw_input=arguments,
        )

    def _end(self, call: Call, state: Json, *, failed: bool, invalid: bool) -> ToolUseEnd:
        metadata = object_of(state, "metadata")
        code = int_of(metadata, "exit")
        error = text_of(state, "error")
        # of a command that was killed there is no exit code, and it counts as completed
        killed = call.name == "bash" and "exit" in metadata and code is None
        stopped = killed and "aborted the command" in text_of(state, "output")[-_TRAILER:]
        status: ToolStatus = "completed"
        if failed and (call.denied or any(words in error for words in _REJECTED)):
            status = "denied"
        elif stopped or (failed and (_ABORTED in error.lower() or _interrupted(metadata))):
            status = "cancelled"
        elif failed or invalid or killed or (call.name == "bash" and code not in (None, 0)):
            status = "failed"
        times = object_of(state, "time")
        start, end = int_of(times, "start"), int_of(times, "end")
        text = error or text_of(state, "output")
        output: list[ContentBlock] = [TextBlock(text=text)] if text else []
        arguments = object_of(state, "input")
        return ToolUseEnd(
            tool_id=call.tool_id,
            status=status,
            is_error=status == "failed",
            output=[*output, *_images(state)],
            diffs=diffs_of_call(arguments, metadata, call.asked_patch, self._places)
            if status == "completed"
            else [],
            exit_code=code,
            duration_ms=end - start if start is not None and end is not None else None,
        )


def _interrupted(metadata: Json) -> bool:
    return true_at(metadata, "interrupted")


def _images(state: Json) -> list[ContentBlock]:
    blocks: list[ContentBlock] = []
    for one in objects_of(state, "attachments"):
        head, _, data = text_of(one, "url").partition(";base64,")
        mime = head.removeprefix("data:")
        if data and mime.startswith("image/"):
            blocks.append(ImageBlock(mime=mime, data=data))
    return blocks
