"""Frames of one run -> event bodies. Pure: no clock, no random ids, no I/O; tested twice and split.

Beside decoding it keeps the order that the hub relies on: an `error` stands before `complete`
exactly when the run failed, and a refused resume is held back until it is known whether the agent
goes on by itself.
"""

from __future__ import annotations

from ...process.framing import Frame, Line, Oversize, Torn
from ...protocol.events import (
    AskResolved,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Notice,
    ResumeRefused,
    Session,
    Thinking,
    ToolUseStart,
    Usage,
)
from .wire import Decoded, Flaw, decode

_MAX_KINDS = 20
_IDLE_BODIES = (Session, Usage, Notice, Complete)


class Translator:
    """Turns what one run of a native agent writes into bodies; made anew for each run.

    `feed` gives the same bodies for the same frames, however they came. After `complete` it gives
    nothing more.
    """

    def __init__(self, provider: str, name: str) -> None:
        self._provider = provider
        self._name = name
        self._seen: set[str] = set()
        self._cancelling = False
        self.complete = False
        """A `complete` was written: the run is over."""
        self.held: Error | None = None
        """An error that waits for its `complete`."""
        self.refused: ResumeRefused | None = None
        """A refused resume after which nothing was said. Raise it when the run ends like that."""

    def cancelling(self) -> None:
        """From here on a failure counts as part of the cancel."""
        self._cancelling = True

    def feed(self, frame: Frame) -> tuple[EventBody, ...]:
        """The bodies that one frame brings; often one, sometimes none."""
        if self.complete:
            return ()
        match frame:
            case Oversize(dropped=dropped):
                size = f"{dropped / 1024 / 1024:.1f} MiB"
                told = f"{self._name} wrote a line of {size}, which is too long; it was left out."
                return (Notice(level="warning", code="protocol_error", text=told),)
            case Torn():
                return self._notices((Flaw("torn", "ended in the middle of a line"),))
            case Line(text=text, repaired=repaired):
                flaws = (Flaw("bytes", "wrote bytes that are not UTF-8; they were replaced"),)
                notices = self._notices(flaws) if repaired else ()
                return notices + self._feed_line(decode(text, self._provider)) if text else notices

    def end(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> bool:
        """The output ended. Whether an error of the agent's own explains it: then `held` has it."""
        if self.held is None:
            return False
        facts = {"exit_code": exit_code, "signal": signal, "stderr_tail": stderr_tail}
        self.held = self.held.model_copy(update={"detail": {**facts, **self.held.detail}})
        return True

    def _feed_line(self, decoded: Decoded) -> tuple[EventBody, ...]:
        notices = self._notices(decoded.flaws)
        body = decoded.body
        if body is None:
            return notices + (self._finish("broken") if decoded.type == "complete" else ())
        released: tuple[EventBody, ...] = ()
        if self.refused is not None and not isinstance(body, _IDLE_BODIES):
            released, self.refused = (self.refused,), None
        return notices + released + self._settle(body)

    def _settle(self, body: EventBody) -> tuple[EventBody, ...]:
        match body:
            case Complete():
                return self._finish(body)
            case Error() if self.held is None:
                self.held = body
                return ()
            case Error(message=message):
                return (Notice(level="error", code=body.code, text=message),)
            case ResumeRefused():
                self.refused = body
                return ()
            case Session() if self.refused is not None:
                released, self.refused = self.refused, None
                return (released, body)
            case AskResolved() if body.decision != "withdrawn":
                told = "tried to answer its own question"
                return self._notices((Flaw("ask_resolved decision", told),))
            case AssistantText() | Thinking() if (body.text if body.final else body.delta) is None:
                told = f"wrote {body.type!r} without its text"
                return self._notices((Flaw(f"{body.type} empty", told),))
            case ToolUseStart() if body.input.kind != body.kind:
                return (body.model_copy(update={"kind": body.input.kind}),)
        return (body,)

    def _finish(self, body: Complete | str) -> tuple[EventBody, ...]:
        self.complete = True
        if isinstance(body, str) or body.outcome == "interrupted":
            body = Complete(outcome="failed")
        error, self.held = self.held, None
        if self._cancelling and (error or body.outcome == "failed"):
            told = () if error is None else (_as_notice(error),)
            return (*told, body.model_copy(update={"outcome": "cancelled"}))
        if error is not None and body.outcome == "cancelled":
            return _as_notice(error), body
        if error is not None:
            return error, body.model_copy(update={"outcome": "failed"})
        if body.outcome == "failed":
            text = f"{self._name} ended the run as failed and did not say why."
            hint = "Send the prompt again."
            return Error(code="provider_error", message=text, hint=hint), body
        return (body,)

    def _notices(self, flaws: tuple[Flaw, ...]) -> tuple[EventBody, ...]:
        """One warning for each kind of flaw, the first time it is met; then silence."""
        notices: list[EventBody] = []
        for flaw in flaws:
            if flaw.kind in self._seen or len(self._seen) > _MAX_KINDS:
                continue
            self._seen.add(flaw.kind)
            last = len(self._seen) > _MAX_KINDS
            more = " Further violations of the protocol are not reported." if last else ""
            text = f"{self._name} {flaw.text}.{more}"
            notices.append(Notice(level="warning", code="protocol_error", text=text))
        return tuple(notices)


def _as_notice(error: Error) -> Notice:
    return Notice(level="warning", code=error.code, text=error.message)
