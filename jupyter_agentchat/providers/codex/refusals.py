"""What Codex refuses, in our words. Pure.

Nearly all of it comes under one code, so that its text decides.
"""

from __future__ import annotations

import re
from typing import Final

from ...errors import ProcessExited, ProviderError, SessionRejected
from ...process.jsonrpc import RpcError

ARCHIVED: Final = "is archived"

_LOST: Final = re.compile(
    r"no rollout found|invalid (session|thread) id|rollout .{0,400}\bis empty",
    re.IGNORECASE | re.DOTALL,
)
_UNLOADED: Final = "thread not found"
_TAKEN: Final = "already has an active writer"
_BROKEN: Final = "failed to load configuration"
_MESSAGE_LIMIT: Final = 300


class ThreadUnloaded(ProviderError):
    """The thread is not loaded any more: it is there, and has to be resumed first."""


def explained(error: RpcError, thread_id: str | None, name: str) -> ProviderError:
    """The error for an answer that refuses something about a thread."""
    text = error.message
    if thread_id and _LOST.search(text):
        return SessionRejected(
            f"{name} does not know this conversation any more.",
            provider_session_id=thread_id,
            reason=text[:_MESSAGE_LIMIT],
        )
    if _UNLOADED in text:
        return ThreadUnloaded(f"{name} has put this conversation down.")
    if _TAKEN in text:
        return ProviderError(
            "This conversation is open in another Codex process.",
            hint="Close it there (a terminal, the desktop app), then send the prompt again.",
        )
    hint = "Send the prompt again, or start a new chat."
    if _BROKEN in text:
        hint = "Mend the config.toml that it names, then send the prompt again."
    return ProviderError(
        f"{name} refused: {text[:_MESSAGE_LIMIT]}", hint=hint, rpc_code=error.rpc_code
    )


def not_started(ended: ProcessExited, name: str) -> ProcessExited:
    """The error for a process that ended before it had greeted us, with its last words."""
    words = ended.stderr_tail.strip().splitlines()
    if not words:
        return ended
    return ProcessExited(
        f"{name} did not start: {words[-1][:_MESSAGE_LIMIT]}",
        exit_code=ended.exit_code,
        signal=ended.signal,
        stderr_tail=ended.stderr_tail,
        hint="Run `codex` once in a terminal to see what is wrong.",
    )
