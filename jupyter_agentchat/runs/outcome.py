"""How a run ended, from how its work ended. Pure."""

from __future__ import annotations

import asyncio

from ..errors import AgentChatError, NotFound, ProviderError, StorageError
from ..protocol.events import Error
from ..protocol.words import ErrorCode, Outcome
from .tracker import RunTracker


class Untraceable(AgentChatError):
    """A run of an earlier server that cannot be taken over, or whose end nobody can tell."""


def settle(
    work: asyncio.Task[AgentChatError | None],
    tracker: RunTracker,
    cancelling: bool,
    end_as: Outcome,
) -> tuple[Outcome, AgentChatError | None]:
    """(outcome, error) of `work`, ended or given up. What a person stopped is no failure."""
    if not work.done():
        return end_as, None
    # an adapter may let a CancelledError out that nobody here asked for
    error = None if work.cancelled() else work.exception() or work.result()
    said = None if work.cancelled() else tracker.complete
    if said is not None and error is None:
        if cancelling and said.outcome != "completed":
            return end_as, None
        if said.outcome == "failed" or tracker.error is not None:
            # an error and a success at once: the error is not hidden
            return "failed", ProviderError("The agent says that it failed, and not why.")
        return said.outcome, None
    if cancelling:
        return end_as, None
    if isinstance(error, Untraceable):
        return "interrupted", None
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
