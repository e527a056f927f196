"""Shows one run until it is over, and knows with which exit code to leave."""

from __future__ import annotations

import contextlib

from .asks import Asks
from .exits import CommandError, Exit
from .follow import Follower
from .render import Printer
from .rest import Json, Refused, Rest, Unreachable
from .screen import Screen
from .start_run import StartedRun

SETTLE_S = 15.0
"""How long to wait, behind `complete`, until the server says that the chat is free again."""

UNAVAILABLE = ("provider_missing", "provider_signed_out", "provider_too_old")


class Watch:
    """One run, from its first event to its last."""

    def __init__(
        self,
        rest: Rest,
        run: StartedRun,
        follower: Follower,
        asks: Asks,
        printer: Printer,
        screen: Screen,
    ) -> None:
        self._rest = rest
        self._run = run
        self._follower = follower
        self._asks = asks
        self._printer = printer
        self._screen = screen
        self._result: Exit | None = None
        self._unavailable = False
        self._interrupted = False

    async def until_the_end(self) -> Exit:
        """Returns when the run has ended and the chat is free, or at the second Ctrl-C."""
        while True:
            item = await self._follower.next(None if self._result is None else SETTLE_S)
            if item is None:
                return self._result or Exit.FAILED
            match item.kind:
                case "event" if item.frame is not None:
                    self._event(item.frame)
                case "sync" if item.frame is not None:
                    if self._result is not None and item.frame.get("run_id") != self._run.run_id:
                        return self._result
                    await self._asks.show(item.frame.get("asks") or [])
                case "typed":
                    await self._asks.typed(item.text)
                case "interrupt":
                    if self._interrupted:
                        return Exit.CANCELLED
                    self._interrupted = True
                    self._screen.note("Stopping; Ctrl-C again to leave at once.", "warning")
                    await cancel_run(self._rest, self._run)
                case "deleted":
                    raise CommandError(Exit.FAILED, "The chat was deleted.")

    def _event(self, event: Json) -> None:
        if event.get("run_id") != self._run.run_id:
            return
        self._printer.event(event)
        match event.get("type"):
            case "error":
                self._unavailable = event.get("code") in UNAVAILABLE
            case "complete":
                self._result = self._exit_of(str(event.get("outcome")))

    def _exit_of(self, outcome: str) -> Exit:
        if outcome == "failed" and self._unavailable:
            return Exit.UNAVAILABLE
        known = {"completed": Exit.COMPLETED, "cancelled": Exit.CANCELLED}
        return known.get(outcome, Exit.FAILED)


async def cancel_run(rest: Rest, run: StartedRun) -> None:
    """Ask the server to stop the run; what cannot be said now is said by leaving."""
    with contextlib.suppress(Refused, Unreachable):
        await rest.send("POST", f"chats/{run.chat['id']}/cancel")
