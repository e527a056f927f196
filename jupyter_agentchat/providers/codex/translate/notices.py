"""What is told of the conversation beside its content: notices and system events. Pure."""

from __future__ import annotations

import re
from typing import Final

from ....protocol.events import EventBody, Notice, Plan, System
from ....protocol.tools import PlanEntry
from ....protocol.words import PlanStatus
from ..wire import Json, int_of, object_of, objects_of, text_of, thread_of

QUIET: Final = frozenset(
    {
        "configWarning",
        "deprecationNotice",
        "thread/started",
        "thread/status/changed",
        "thread/readState/changed",
        "thread/archived",
        "thread/unarchived",
        "thread/closed",
        "thread/deleted",
        "thread/reverted",
        "thread/name/updated",
        "thread/section/changed",
        "thread/attachment/updated",
        "thread/goal/updated",
        "thread/goal/cleared",
        "thread/prediction/updated",
        "thread/queue/changed",
        "thread/project/updated",
        "thread/environment/connected",
        "thread/environment/disconnected",
        "thread/settings/updated",
        "turn/started",
        "turn/moderationMetadata",
        "hook/started",
        "hook/completed",
        "item/autoApprovalReview/started",
        "item/autoApprovalReview/completed",
        "item/commandExecution/terminalInteraction",
        "item/fileChange/outputDelta",
        "item/fileChange/patchUpdated",
        "item/mcpToolCall/progress",
        "item/reasoning/summaryPartAdded",
        "thread/compacted",
        "model/verification",
        "model/safetyBuffering/updated",
        "modelProvider/authRecoveryStarted",
        "modelProvider/authRecoveryCompleted",
    }
)
"""Known, and nothing for a person."""

_STATUS: Final[dict[str, PlanStatus]] = {
    "pending": "pending",
    "inProgress": "in_progress",
    "in_progress": "in_progress",
    "completed": "completed",
}
_DIGITS: Final = re.compile(r"\d+")
_LIMIT: Final = 1000


class Notices:
    """Notices of one run, each said once."""

    def __init__(self, *, first_turn: bool, knows_models: bool) -> None:
        self._first_turn = first_turn
        self._knows_models = knows_models
        self._said: set[str] = set()

    def once(self, level: str, code: str, text: str) -> list[EventBody]:
        """A notice, unless it was said; numbers in it do not make it another one."""
        key = f"{code}:{_DIGITS.sub('#', text)}"
        if not text or key in self._said:
            return []
        self._said.add(key)
        return [Notice.model_validate({"level": level, "code": code, "text": text[:_LIMIT]})]

    def warning(self, params: Json) -> list[EventBody]:
        """A warning of Codex'."""
        text = text_of(params, "message")
        if text.startswith("Model metadata for") and not (self._first_turn and self._knows_models):
            return []  # it comes with every turn of a model that Codex does not know
        return self.once("warning", "codex_warning", text)

    def retrying(self, params: Json) -> list[EventBody]:
        """A call of the model failed and is made again; each try says so."""
        text = text_of(object_of(params, "error"), "message")
        return self.once("warning", "retrying", text or "The model did not answer; trying again.")

    def server(self, params: Json) -> list[EventBody]:
        """An MCP server's start; only a failure is told."""
        if text_of(params, "status") != "failed":
            return []
        name, error = text_of(params, "name"), text_of(params, "error")
        text = f"The MCP server {name} did not start." + (f" {error}" if error else "")
        return self.once("warning", "mcp_failed", text)


def plan_of(params: Json) -> list[EventBody]:
    """A `turn/plan/updated`: the whole checklist."""
    entries = [
        PlanEntry(
            text=text_of(step, "step"), status=_STATUS.get(text_of(step, "status"), "pending")
        )
        for step in objects_of(params, "plan")
    ]
    return [Plan(entries=entries)] if entries else []


def rerouted(params: Json) -> list[EventBody]:
    """A `model/rerouted`."""
    data = {key: text_of(params, key) for key in ("fromModel", "toModel", "reason")}
    return [System(subtype="model_rerouted", data={k: v for k, v in data.items() if v})]


def lost_line(params: Json) -> Notice:
    """A line above the limit; whose it was is not known."""
    text = f"A message of {int_of(params, 'size') or 0} bytes was too long and was left out."
    return Notice(level="warning", code="line_too_long", text=text)


def about_thread(params: Json, thread_id: str | None) -> bool:
    """Whether a message is about this thread itself, not about a helper's."""
    return not thread_of(params) or thread_of(params) == thread_id
