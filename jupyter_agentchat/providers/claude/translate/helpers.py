"""The agent's helpers (subagents) and background commands, from their start to their end. Pure.

A helper works beside the conversation: the CLI ends the call that started it at once, and tells
its real end by a `task_notification`. Here the call stays open until then; what the helper says
goes into the call's output, never into the answer. Source: recordings helper and background.
"""

from __future__ import annotations

from typing import Final

from ....protocol.events import EventBody, System, ToolUseEnd, ToolUseUpdate
from ....protocol.tools import TextBlock
from ....protocol.words import ToolStatus
from ..wire import Json, sound_id, text_of

HELPER: Final = "local_agent"
"""The `task_type` of a helper; a background command is a `local_bash`."""

_ENDS: Final[dict[str, ToolStatus]] = {
    "completed": "completed",
    "failed": "failed",
    "stopped": "cancelled",
    "killed": "cancelled",
}


class Helpers:
    """The helpers of one run that are at work; tool ids are those of the calls that began them."""

    def __init__(self) -> None:
        self.stopped = False
        """Somebody stopped a helper or a background command, and no turn told of it yet."""
        self._beside: set[str] = set()
        self._words: dict[str, list[str]] = {}

    def begins(self, tool_id: str) -> None:
        """A call that hands work to a helper."""
        self._words.setdefault(tool_id, [])

    def works_on(self, tool_id: str, structured: Json) -> bool:
        """Whether a call's result only says that its helper works on beside the conversation."""
        if tool_id in self._words and text_of(structured, "status") == "async_launched":
            self._beside.add(tool_id)
            return True
        self._words.pop(tool_id, None)
        return False

    def says(self, parent: str, text: str) -> list[EventBody]:
        """Words of the helper that call `parent` began."""
        words = self._words.get(parent)
        if words is None or not text:
            return []
        gap = "\n\n" if words else ""
        words.append(text)
        return [ToolUseUpdate(tool_id=parent, output_delta=gap + text)]

    def notified(self, message: Json) -> list[EventBody]:
        """A `task_notification`: a helper or a background command has ended."""
        tool_id = sound_id(text_of(message, "tool_use_id"))
        said, text = text_of(message, "status"), text_of(message, "summary")
        status = _ENDS.get(said, "completed")
        self.stopped = self.stopped or status == "cancelled"
        if tool_id not in self._beside:
            data = {"tool_id": tool_id or None, "status": said, "text": text}
            return [System(subtype="background_task", data=data)]
        self._beside.discard(tool_id)
        words = self._words.pop(tool_id, [])
        if status != "cancelled" and text not in words:
            words.append(text)  # its report; of one that was stopped it is only its title
        output = "\n\n".join(word for word in words if word)
        return [
            ToolUseEnd(
                tool_id=tool_id,
                status=status,
                is_error=status == "failed",
                output=[TextBlock(text=output)] if output else [],
            )
        ]
