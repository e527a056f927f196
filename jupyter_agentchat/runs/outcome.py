"""How a run ended, from how its work ended. Pure."""

from __future__ import annotations

import asyncio

from ..errors import AgentChatError, NotFound, ProviderError, StorageError
from ..protocol.events import Error
from ..protocol.words import ErrorCode, Outcome
from .tracker import RunTracker


def settle(
    work: asyncio.Task[None], tracker: RunTracker, cancelling: bool, end_as: Outcome
) -> tuple[Outcome, AgentChatError | None]:
    """(outcome, error) of a finished `work`. What a person stopped is never shown as a failure."""
    said = tracker.complete
    if said is not None and not work.cancelled() and work.exception() is None:
        if cancelling and said.outcome != "completed":
            return end_as, None
        return said.outcome, None
    if cancelling or work.cancelled():
        return end_as, None
    error = work.exception()
    if isinstance(error, AgentChatError):
        return "failed", error
    if error is not None:
        return "failed", None  # its owner has logged the traceback
    return "failed", ProviderError(
        "The agent stopped without finishing its answer.", hint="Send the prompt again."
    )


def error_event(error: AgentChatError | None) -> Error:
    """The `error` event of a failed run; None is a fault of our own."""
    if isinstance(error, ProviderError):
        code: ErrorCode = error.event_code  # type: ignore[assignment]
        return Error(code=code, message=error.message, hint=error.hint, detail=error.details)
    if isinstance(error, StorageError):
        return Error(
            code="storage",
            message=error.message,
            hint="Free some space, then send the prompt again.",
            detail=error.details,
        )
    if isinstance(error, NotFound):
        return Error(code="provider_missing", message=error.message, detail=error.details)
    if error is not None:
        return Error(code="provider_error", message=error.message, detail=error.details)
    return Error(
        code="internal",
        message="Something went wrong inside agentchat; the run was ended.",
        hint="The server's log has the details. Send the prompt again.",
    )
