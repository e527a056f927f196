"""Tool calls of the main agent and of its helpers, from their first sign to their result. Pure.

With an approval the first sign is the request, without the arguments; else it is the call itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from ....protocol.events import EventBody, Plan, ToolUseEnd, ToolUseStart, ToolUseUpdate
from ....protocol.tools import ContentBlock, Diff, ImageBlock, JsonBlock, PlanEntry, TextBlock
from ....protocol.words import PlanStatus, ToolStatus
from ..wire import (
    MAIN,
    Json,
    object_of,
    objects_of,
    sound,
    sound_id,
    sound_value,
    text_of,
    true_at,
)
from .diffs import diffs_of
from .places import Places
from .tools import arguments_of, describe, kind_of

_EXIT_CODE: Final = re.compile(r"(?:^|\n)Command failed with exit code: (\d{1,9})\.?\s*\Z")
_SILENT: Final = "Command executed successfully."
_INTERRUPTED: Final = re.compile(r"(?:\A|(?<=\n))Interrupted by user\s*\Z")
_PLAN_STATUS: Final[dict[str, PlanStatus]] = {"in_progress": "in_progress", "done": "completed"}


@dataclass
class _Call:
    tool_id: str
    name: str
    arguments: Json = field(default_factory=dict)
    denied: bool = False
    ended: bool = False


class ToolCalls:
    """The calls of one run. Ids are `{run}.{agent}.{the call's own}`: models number their calls
    anew in each turn, and each helper has numbers of its own."""

    def __init__(self, run_id: str, places: Places) -> None:
        self._run_id = run_id
        self._places = places
        self._calls: dict[tuple[str, str], _Call] = {}
        self._parents: dict[str, str] = {}
        self._used: set[str] = set()

    def helper(self, payload: Json) -> None:
        """A helper agent began: its calls belong below the call that began it."""
        caller = text_of(payload, "parentAgentId") or MAIN
        call = self._calls.get((caller, text_of(payload, "parentToolCallId")))
        if call is not None:
            self._parents[text_of(payload, "subagentId")] = call.tool_id

    def begin(self, payload: Json, agent: str) -> list[EventBody]:
        """A call begins (`tool.call.started`): the whole of it."""
        call = self._call(agent, text_of(payload, "toolCallId"), text_of(payload, "name"))
        if call is None:
            return []
        call.arguments = arguments_of(payload)
        return [self._start(call, agent, payload, raw=object_of(payload, "args"))]

    def announce(self, payload: Json, agent: str) -> tuple[str | None, list[EventBody]]:
        """(tool id, bodies) of the call that an approval is about."""
        call = self._call(agent, text_of(payload, "tool_call_id"), text_of(payload, "tool_name"))
        if call is None:
            return None, []
        if call.arguments:
            return call.tool_id, []
        call.arguments = arguments_of(payload)
        return call.tool_id, [self._start(call, agent, payload, raw=None)]

    def tool_id_of(self, agent: str, call_id: str) -> str | None:
        """The id of a call that was met."""
        call = self._calls.get((agent, call_id))
        return call.tool_id if call else None

    def refuse(self, tool_id: str) -> None:
        """A person said no: the result that follows is not the call's own failure."""
        for call in self._calls.values():
            if call.tool_id == tool_id:
                call.denied = True

    def progress(self, payload: Json, agent: str) -> list[EventBody]:
        """Output as it comes."""
        call = self._calls.get((agent, text_of(payload, "toolCallId")))
        text = text_of(object_of(payload, "update"), "text")
        if call is None or call.ended or not text:
            return []
        return [ToolUseUpdate(tool_id=call.tool_id, output_delta=text)]

    def end(self, payload: Json, agent: str) -> list[EventBody]:
        """The result of a call; one that was never met is passed over."""
        call = self._calls.get((agent, text_of(payload, "toolCallId")))
        if call is None or call.ended:
            return []
        call.ended = True
        failed = true_at(payload, "isError")
        output = _output(payload.get("output"))
        stopped, output = _without_interruption(output) if failed else (False, output)
        status = _status(call, stopped=stopped, failed=failed)
        exit_code = None
        if kind_of(call.name) == "shell":
            exit_code, output = _shell_output(output, failed=failed)
        done = status == "completed"
        diffs = diffs_of(call.name, call.arguments, self._places) if done else []
        ended = ToolUseEnd(
            tool_id=call.tool_id,
            status=status,
            is_error=failed,
            output=[] if _is_for_model(call.name, status, diffs) else output,
            diffs=diffs,
            exit_code=exit_code,
        )
        return [ended, *(_checklist(call) if done else [])]

    def _call(self, agent: str, call_id: str, name: str) -> _Call | None:
        if not call_id:
            return None
        known = self._calls.get((agent, call_id))
        if known is not None and not known.ended:
            return known
        tool_id = base = f"{self._run_id}.{agent}.{call_id}"
        number = 2
        while tool_id in self._used:
            tool_id = f"{base}.{number}"
            number += 1
        self._used.add(tool_id)
        call = self._calls[agent, call_id] = _Call(sound_id(tool_id), name)
        return call

    def _start(self, call: _Call, agent: str, payload: Json, *, raw: Json | None) -> ToolUseStart:
        said = text_of(payload, "description") or text_of(payload, "action")
        kind, title, typed = describe(call.name, call.arguments, self._places, said)
        cleaned = sound_value(raw) if raw is not None else None
        return ToolUseStart(
            tool_id=call.tool_id,
            parent_tool_id=self._parents.get(agent),
            name=call.name,
            kind=kind,
            title=title,
            input=typed,
            raw_input=cleaned if isinstance(cleaned, dict) else None,
        )


def _status(call: _Call, *, stopped: bool, failed: bool) -> ToolStatus:
    if call.denied:
        return "denied"
    if stopped:
        return "cancelled"
    return "failed" if failed else "completed"


def _without_interruption(output: list[ContentBlock]) -> tuple[bool, list[ContentBlock]]:
    """(whether Stop ended the call, what it had said until then)."""
    last = output[-1] if output else None
    if not isinstance(last, TextBlock) or not (found := _INTERRUPTED.search(last.text)):
        return False, output
    rest: list[ContentBlock] = [*output[:-1]]
    if said := last.text[: found.start()]:
        rest.append(TextBlock(text=said))
    return True, rest


def _is_for_model(name: str, status: ToolStatus, diffs: list[Diff]) -> bool:
    """Whether Kimi Code's words only tell the model what a person sees anyway."""
    answered = status == "completed" and kind_of(name) in ("question", "plan")
    return bool(diffs) or answered


def _shell_output(
    output: list[ContentBlock], *, failed: bool
) -> tuple[int | None, list[ContentBlock]]:
    """(exit code, what the command printed): Kimi Code adds words of its own."""
    last = output[-1] if output else None
    if not isinstance(last, TextBlock):
        return None, output
    if not failed:
        silent = last.text.strip() == _SILENT
        return None, output[:-1] if silent else output
    found = _EXIT_CODE.search(last.text)
    if found is None:
        return None, output
    printed = last.text[: found.start()]
    rest: list[ContentBlock] = [*output[:-1]]
    if printed:
        rest.append(TextBlock(text=printed))
    return int(found[1]), rest


def _output(value: JsonValue) -> list[ContentBlock]:
    if isinstance(value, str):
        return [TextBlock(text=sound(value))] if value else []
    if isinstance(value, list):
        return [block for item in value for block in _block(item)]
    return [] if value is None else [JsonBlock(value=sound_value(value))]


def _block(item: JsonValue) -> list[ContentBlock]:
    if isinstance(item, str):
        return _output(item)
    if not isinstance(item, dict):
        return [JsonBlock(value=item)]
    source = object_of(item, "source")
    match text_of(item, "type"):
        case "text":
            return _output(text_of(item, "text"))
        case "image" if data := text_of(source, "data") or text_of(item, "data"):
            mime = text_of(source, "media_type") or text_of(item, "mimeType") or "image/png"
            return [ImageBlock(mime=mime, data=data)]
    return [JsonBlock(value=sound_value(item))]


def _checklist(call: _Call) -> list[EventBody]:
    """The checklist that a call has set."""
    if call.name != "TodoList" or "todos" not in call.arguments:
        return []
    entries = [
        PlanEntry(text=title, status=_PLAN_STATUS.get(text_of(item, "status"), "pending"))
        for item in objects_of(call.arguments, "todos")
        if (title := text_of(item, "title"))
    ]
    return [Plan(entries=entries)]
