"""Tool calls, from their first sign to their end: whatever comes first, and whatever is missing.

A call may begin with a `tool_call`, with an update of a call that was never announced, or with the
ask for it; it may have no arguments at first, or never. What is known of it is put together here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from ....protocol.events import EventBody, ToolUseEnd, ToolUseStart, ToolUseUpdate
from ....protocol.tools import Diff
from ..wire import Json, object_of, objects_of, sound_id, text_of
from .diffs import diffs_of, has_diff
from .outputs import outcome, streamed_text
from .places import Places
from .tools import Described, describe

_FIELDS = ("kind", "title", "status", "rawInput", "rawOutput", "content", "locations", "_meta")
_ENDS = ("completed", "failed")


@dataclass
class _Call:
    fields: Json = field(default_factory=dict)
    shown: Described | None = None
    printed: str = ""
    asked_diffs: list[Diff] = field(default_factory=list)
    denied: bool = False
    ended: bool = False

    def merge(self, update: Json, *, asked: bool = False) -> None:
        """Take what `update` says; an ask's content and status are of the ask, not of the call."""
        self.fields["toolCallId"] = text_of(update, "toolCallId")
        for key in _FIELDS:
            value = update.get(key)
            if value is None or (asked and key in ("status", "content")):
                continue
            self.fields[key] = value
        if "firstTitle" not in self.fields and text_of(update, "title"):
            self.fields["firstTitle"] = text_of(update, "title")
        if "rawInput" not in self.fields:
            arguments = _streamed_arguments(self.fields)
            if arguments:
                self.fields["rawInput"] = arguments


class ToolCalls:
    """The calls of one run. Tool ids are the agent's own behind the run's id: some agents count
    from one in every process."""

    def __init__(self, run: str, places: Places) -> None:
        self._run = run
        self._places = places
        self._calls: dict[str, _Call] = {}

    def take(self, update: Json) -> list[EventBody]:
        """The bodies of a `tool_call` or `tool_call_update`."""
        raw_id = text_of(update, "toolCallId")
        if not raw_id:
            return []
        call = self._calls.setdefault(raw_id, _Call())
        if call.ended:
            return []
        call.merge(update)
        if text_of(call.fields, "status") in _ENDS:
            return [*self._show(raw_id, call), self._end(raw_id, call)]
        if call.shown is None and self._is_preparing(call):
            return []
        return [*self._show(raw_id, call), *self._printed(raw_id, call)]

    def ask(self, asked: Json) -> tuple[list[EventBody], Json]:
        """An ask is about this call: its start, if it was not shown, and all that is known of it.

        Empty where the ask names no call.
        """
        raw_id = text_of(asked, "toolCallId")
        if not raw_id:
            return [], asked
        call = self._calls.setdefault(raw_id, _Call())
        if call.ended:
            return [], asked
        call.merge(asked, asked=True)
        call.asked_diffs = diffs_of(objects_of(asked, "content"), self._places)
        known: Json = {**call.fields, "content": asked.get("content"), "toolCallId": raw_id}
        return self._show(raw_id, call), known

    def deny(self, raw_id: str) -> None:
        """A person said no: its failure will be that."""
        if raw_id in self._calls:
            self._calls[raw_id].denied = True

    def has_ended(self, raw_id: str) -> bool:
        """Whether the call is over."""
        return raw_id in self._calls and self._calls[raw_id].ended

    def finish(self) -> list[EventBody]:
        """The turn is over: end the calls that were denied and of which no more was heard."""
        bodies: list[EventBody] = []
        for raw_id, call in self._calls.items():
            if call.denied and call.shown and not call.ended:
                call.ended = True
                bodies.append(
                    ToolUseEnd(tool_id=self.tool_id(raw_id), status="denied", is_error=True)
                )
        return bodies

    def tool_id(self, raw_id: str) -> str:
        """The id of a call on our wire."""
        return sound_id(f"{self._run}:{raw_id}")

    def _is_preparing(self, call: _Call) -> bool:
        """Whether more must come before it can be said what the call is."""
        if text_of(call.fields, "status") not in ("pending", ""):
            return False
        if call.fields.get("rawInput") == {}:
            return True
        return describe(call.fields, self._places).kind == "other"

    def _show(self, raw_id: str, call: _Call) -> list[EventBody]:
        known = describe(call.fields, self._places)
        before, call.shown = call.shown, known
        if before == known:
            return []
        if before is not None and (before.name, before.kind) == (known.name, known.kind):
            return [
                ToolUseUpdate(tool_id=self.tool_id(raw_id), title=known.title, input=known.input)
            ]
        parent = text_of(object_of(call.fields, "_meta"), "parentToolCallId")
        arguments = call.fields.get("rawInput")
        return [
            ToolUseStart(
                tool_id=self.tool_id(raw_id),
                parent_tool_id=self.tool_id(parent) if parent in self._calls else None,
                name=known.name,
                kind=known.kind,
                title=known.title,
                input=known.input,
                raw_input=arguments if isinstance(arguments, dict) and arguments else None,
            )
        ]

    def _printed(self, raw_id: str, call: _Call) -> list[EventBody]:
        if call.shown is None or call.shown.kind != "shell":
            return []
        text = streamed_text(call.fields)
        if len(text) <= len(call.printed) or not text.startswith(call.printed):
            return []
        piece, call.printed = text[len(call.printed) :], text
        return [ToolUseUpdate(tool_id=self.tool_id(raw_id), output_delta=piece)]

    def _end(self, raw_id: str, call: _Call) -> ToolUseEnd:
        call.ended = True
        content = objects_of(call.fields, "content")
        kind = call.shown.kind if call.shown else "other"
        found = outcome(call.fields, kind)
        failed = text_of(call.fields, "status") == "failed" or bool(found.exit_code)
        diffs: list[Diff] = []
        if not failed:
            # some say what they change when they ask, and only then
            diffs = diffs_of(content, self._places) if has_diff(content) else call.asked_diffs
        return ToolUseEnd(
            tool_id=self.tool_id(raw_id),
            status="denied" if failed and call.denied else "failed" if failed else "completed",
            is_error=failed,
            output=[] if diffs else found.output,
            diffs=diffs,
            exit_code=found.exit_code,
        )


def _streamed_arguments(fields: Json) -> Json:
    """The arguments of an agent that streams them as the call's content."""
    blocks = objects_of(fields, "content")
    if len(blocks) != 1 or text_of(fields, "status") in _ENDS:
        return {}
    text = text_of(object_of(blocks[0], "content"), "text")
    if not text.startswith("{"):
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
