"""Waits for one prompt's turn, shows its run until it is over, and knows the exit code."""

from __future__ import annotations

import contextlib

from .asks import Asks
from .exits import CommandError, Exit
from .follow import Follower
from .render import Printer
from .rest import Json, Refused, Rest, Unreachable
from .screen import Screen
from .send_prompt import SentPrompt

SETTLE_S = 15.0
"""How long to wait, behind `complete`, until the server says that the chat is free again."""

UNAVAILABLE = ("provider_missing", "provider_signed_out", "provider_too_old")


class Watch:
    """One prompt: its time in the queue, and its run from the first event to the last."""

    def __init__(
        self,
        rest: Rest,
        sent: SentPrompt,
        follower: Follower,
        asks: Asks,
        printer: Printer,
        screen: Screen,
    ) -> None:
        self._rest = rest
        self._sent = sent
        self._run_id = sent.run_id
        self._follower = follower
        self._asks = asks
        self._printer = printer
        self._screen = screen
        self._result: Exit | None = None
        self._unavailable = False
        self._interrupted = False
        self._waits_for = ""

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
                    if self._result is not None and item.frame.get("run_id") != self._run_id:
                        return self._result
                    if self._run_id is None:
                        self._wait(item.frame)
                    elif item.frame.get("run_id") == self._run_id:
                        await self._asks.show(item.frame.get("asks") or [])
                case "typed":
                    await self._asks.typed(item.text)
                case "interrupt":
                    if self._interrupted:
                        return Exit.CANCELLED
                    self._interrupted = True
                    self._screen.note("Stopping; Ctrl-C again to leave at once.", "warning")
                    if await self.give_up():
                        return Exit.CANCELLED
                case "deleted":
                    raise CommandError(Exit.FAILED, "The chat was deleted.")

    async def give_up(self) -> bool:
        """Take the prompt out of the queue (then True), or stop its run, as far as that can be said
        now; what cannot is said by leaving."""
        path = f"chats/{self._sent.chat['id']}"
        with contextlib.suppress(Refused, Unreachable):
            if self._run_id is None:
                await self._rest.delete(f"{path}/queue/{self._sent.item_id}")
                return True
        with contextlib.suppress(Refused, Unreachable):
            if self._run_id is not None or self._sent.item_id is None:
                await self._rest.send("POST", f"{path}/cancel")
        return False

    def _wait(self, state: Json) -> None:
        """Say what the prompt waits for, when that changes. Raises CommandError when it is gone."""
        queue = state.get("queue") or []
        ids = [item.get("id") for item in queue]
        if self._sent.item_id not in ids:
            raise CommandError(Exit.FAILED, "The prompt was removed from the chat's queue.")
        waits_for = f"{ids.index(self._sent.item_id)} before it"
        if state.get("queue_paused"):
            waits_for = "the queue is paused; resume it in JupyterLab"
        elif reason := queue[0].get("held_reason"):
            waits_for = str(reason)
        if waits_for != self._waits_for:
            self._waits_for = waits_for
            self._screen.note(f"The prompt waits in the chat's queue: {waits_for}.")

    def _event(self, event: Json) -> None:
        if self._run_id is None and event.get("client_id") == self._sent.client_id:
            self._run_id = event.get("run_id")
        if self._run_id is None or event.get("run_id") != self._run_id:
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
