"""The exceptions of this package, as one tree; fields to branch on, never prose to parse.

AgentChatError                   code, status, message, details
 ├─ NotFound                     not_found 404      no such chat, ask, project: or not yours to see
 ├─ Refused                      the request is understood and declined; nothing was changed
 │   ├─ BadRequest               bad_request 400
 │   ├─ Forbidden                forbidden 403
 │   ├─ Busy                     busy 409           a run is active here, or another server holds it
 │   ├─ LogMoved                 stale 409          an append counted from an older end of the log
 │   ├─ Stale                    stale 409          what the person saw is no longer so
 │   ├─ AlreadyResolved          already_resolved 409
 │   ├─ NotTrusted               not_trusted 409    the project has configuration nobody decided on
 │   ├─ Gone                     gone 410           load anew
 │   ├─ TooLarge                 too_large 413
 │   ├─ Unsupported              unsupported 422
 │   │   └─ SteerUnsupported     unsupported 409    the contract's one exception
 │   └─ RateLimited              rate_limited 429
 ├─ StorageError                 storage 507        disk full, read-only, corrupt
 │   └─ StoreClosed              busy 409           the server stops: nothing is wrong with the disk
 └─ ProviderError                becomes an `error` event of the run
     ├─ NotInstalled             provider_missing
     ├─ TooOld                   provider_too_old
     ├─ AuthRequired             provider_signed_out
     ├─ SessionRejected          the provider refused to resume its conversation
     ├─ SpawnFailed              spawn_failed
     ├─ ProtocolError            protocol_error
     ├─ ProviderTimeout          timeout
     ├─ ChildGone                process_exit       an earlier server's child cannot be had again
     └─ ProcessExited            process_exit       code, signal, stderr tail
         └─ SpoolFull            storage            no more room for what the agent says

Every message is one sentence for a person; `hint` says what to do next.
"""

from __future__ import annotations

from typing import Any, ClassVar


class AgentChatError(Exception):
    """Root of the tree. `details` is JSON-ready and free of secrets."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = details


class NotFound(AgentChatError):
    """The thing does not exist, or this person may not see it (both look the same)."""

    code = "not_found"
    status = 404


class Refused(AgentChatError):
    """The request was understood and declined; nothing was changed."""

    code = "bad_request"
    status = 400


class BadRequest(Refused):
    """Malformed: wrong type, unknown field, impossible value."""


class Forbidden(Refused):
    """Understood, but not with these credentials."""

    code = "forbidden"
    status = 403


class Busy(Refused):
    """Another run or server holds the chat; `details` may name the `holder` or `run_id`."""

    code = "busy"
    status = 409


class Stale(Refused):
    """What the person saw is no longer so; `details` has the present value."""

    code = "stale"
    status = 409


class LogMoved(Refused):
    """Another server has written to the log since its end was looked at: count again."""

    code = "stale"
    status = 409

    def __init__(self, last_seq: int) -> None:
        super().__init__("The chat has gone on meanwhile: try again.", last_seq=last_seq)
        self.last_seq = last_seq


class AlreadyResolved(Refused):
    """The ask was answered before; `details` holds the answer that won."""

    code = "already_resolved"
    status = 409


class NotTrusted(Refused):
    """The project holds configuration nobody decided on; `details` {path, loads, digest}."""

    code = "not_trusted"
    status = 409


class Gone(Refused):
    """The client's position belongs to another store or lies beyond the log: load anew."""

    code = "gone"
    status = 410


class TooLarge(Refused):
    """A body, frame or text above its limit; `details` {limit_bytes}."""

    code = "too_large"
    status = 413


class Unsupported(Refused):
    """Known, but not possible here (this agent, this version, this platform)."""

    code = "unsupported"
    status = 422


class SteerUnsupported(Unsupported):
    """No run to steer, or an agent that cannot: never a turn of its own (409 by the contract)."""

    status = 409


class RateLimited(Refused):
    """Too many requests from this connection."""

    code = "rate_limited"
    status = 429


class StorageError(AgentChatError):
    """The store cannot keep what it was given; `details` may name a path."""

    code = "storage"
    status = 507


class StoreClosed(StorageError):
    """A request came too late for this server; sent again, the next one takes it."""

    code = "busy"
    status = 409

    def __init__(self) -> None:
        super().__init__("The server is stopping.")


class ProviderError(AgentChatError):
    """A run cannot go on. `event_code` is the `error` event's, `hint` a person's next step."""

    event_code: ClassVar[str] = "provider_error"

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.hint = hint


class NotInstalled(ProviderError):
    """The agent's program was not found."""

    event_code = "provider_missing"


class TooOld(ProviderError):
    """The agent's program is older than we can drive."""

    event_code = "provider_too_old"


class AuthRequired(ProviderError):
    """The agent is not signed in. Raised only by the adapter that knows the wire."""

    event_code = "provider_signed_out"


class SessionRejected(ProviderError):
    """The provider refused to resume its conversation `provider_session_id`."""

    event_code = "provider_error"

    def __init__(self, message: str, *, provider_session_id: str, reason: str) -> None:
        super().__init__(message, provider_session_id=provider_session_id, reason=reason)
        self.provider_session_id = provider_session_id
        self.reason = reason


class SpawnFailed(ProviderError):
    """The child process could not be started."""

    event_code = "spawn_failed"


class ProtocolError(ProviderError):
    """The agent said something its protocol does not allow, and the run cannot go on."""

    event_code = "protocol_error"


class ProviderTimeout(ProviderError):
    """The agent did not answer within its deadline."""

    event_code = "timeout"


class ChildGone(ProviderError):
    """A child of an earlier server cannot be taken over: no trace of it, or of another boot."""

    event_code = "process_exit"


class ProcessExited(ProviderError):
    """The agent's process ended unasked. `signal` is a number or None; the tail is redacted."""

    event_code = "process_exit"

    def __init__(
        self,
        message: str,
        *,
        exit_code: int | None = None,
        signal: int | None = None,
        stderr_tail: str = "",
        hint: str | None = None,
    ) -> None:
        super().__init__(
            message, hint=hint, exit_code=exit_code, signal=signal, stderr_tail=stderr_tail
        )
        self.exit_code = exit_code
        self.signal = signal
        self.stderr_tail = stderr_tail


class SpoolFull(ProcessExited):
    """The agent is being ended: its output file is above its limit, or the disk is full."""

    event_code = "storage"
