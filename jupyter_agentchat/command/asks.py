"""What becomes of asks: put in the terminal, left to a person in JupyterLab, or denied."""

from __future__ import annotations

import asyncio
import contextlib
import os
import termios
from collections.abc import Iterator
from typing import Protocol
from urllib.parse import quote

from .ask_form import AskForm, Unclear
from .follow import Item
from .rest import Json, Refused, Rest
from .screen import Screen


class Asks(Protocol):
    """One policy on asks."""

    async def show(self, asks: list[Json]) -> None:
        """The asks that are open now. Called again at each change."""
        ...

    async def typed(self, line: str | None) -> None:
        """A line from the terminal; None at the end of input."""
        ...


class WaitElsewhere:
    """Says where to answer, once per ask; the run waits."""

    def __init__(self, screen: Screen, where: str) -> None:
        self._screen = screen
        self._where = where
        self._told: set[str] = set()

    async def show(self, asks: list[Json]) -> None:
        """See `Asks.show`."""
        for ask in asks:
            if ask["ask_id"] not in self._told:
                self._told.add(ask["ask_id"])
                self._screen.note(f"ask  {ask.get('title')}", "ask", whole=True)
                self._screen.note(f"  Waiting for your answer in {self._where}", whole=True)

    async def typed(self, line: str | None) -> None:
        """See `Asks.typed`: nothing is read here."""


class DenyAll:
    """Denies every ask, which needs no person, and tells here and the agent the `reason`."""

    def __init__(self, screen: Screen, rest: Rest, chat_id: str, reason: str) -> None:
        self._screen = screen
        self._rest = rest
        self._chat_id = chat_id
        self._reason = reason
        self._denied: set[str] = set()

    async def show(self, asks: list[Json]) -> None:
        """See `Asks.show`."""
        for ask in asks:
            if ask["ask_id"] in self._denied:
                continue
            self._denied.add(ask["ask_id"])
            self._screen.note(f"ask  {ask.get('title')}", "ask", whole=True)
            self._screen.note(f"  Denied. {self._reason}", whole=True)
            answer = {"decision": "deny", "message": self._reason}
            await send_answer(self._rest, self._chat_id, ask["ask_id"], answer)

    async def typed(self, line: str | None) -> None:
        """See `Asks.typed`: nothing is read here."""


class AskInTerminal:
    """Puts one ask after the other before the person at the terminal."""

    def __init__(self, screen: Screen, rest: Rest, chat_id: str, terminal_fd: int) -> None:
        self._screen = screen
        self._rest = rest
        self._chat_id = chat_id
        self._fd = terminal_fd
        self._form: AskForm | None = None
        self._asks: dict[str, Json] = {}
        self._answered: set[str] = set()

    async def show(self, asks: list[Json]) -> None:
        """See `Asks.show`."""
        self._asks = {a["ask_id"]: a for a in asks if a["ask_id"] not in self._answered}
        if self._form is not None and self._form.ask_id not in self._asks:
            self._form = None
            self._echo(on=True)
        if self._form is None and self._asks:
            self._form = AskForm(next(iter(self._asks.values())))
            self._screen.block(self._form.intro(), "ask")
            # what was typed before this could be read answers nothing
            termios.tcflush(self._fd, termios.TCIFLUSH)
            self._put()

    async def typed(self, line: str | None) -> None:
        """See `Asks.typed`."""
        form = self._form
        if form is None:
            return
        try:
            answer = form.feed(line)
        except Unclear as unclear:
            self._screen.note(str(unclear), "warning")
            self._put()
            return
        self._echo(on=True)
        if answer is None:
            self._put()
            return
        self._form = None
        refusal = await send_answer(self._rest, self._chat_id, form.ask_id, answer)
        if refusal:
            self._screen.note(refusal, "warning", whole=True)
        else:
            self._answered.add(form.ask_id)
        await self.show(list(self._asks.values()))

    def _put(self) -> None:
        assert self._form is not None  # noqa: S101 - only called with a form
        self._screen.block(self._form.choices())
        self._echo(on=not self._form.secret)
        self._screen.prompt(self._form.prompt())

    def _echo(self, *, on: bool) -> None:
        with contextlib.suppress(termios.error):
            modes = termios.tcgetattr(self._fd)
            modes[3] = modes[3] | termios.ECHO if on else modes[3] & ~termios.ECHO
            termios.tcsetattr(self._fd, termios.TCSANOW, modes)


async def send_answer(rest: Rest, chat_id: str, ask_id: str, answer: Json) -> str | None:
    """Answer an ask; why it was refused, or None. Somebody else's earlier answer is no refusal."""
    try:
        await rest.send("POST", f"chats/{chat_id}/asks/{quote(ask_id, safe='')}", answer)
    except Refused as refused:
        return None if refused.code in ("already_resolved", "not_found") else refused.message
    return None


@contextlib.contextmanager
def typed_lines(fd: int, inbox: asyncio.Queue[Item]) -> Iterator[None]:
    """Put every line that is typed on the terminal `fd` into `inbox` while the block runs.

    The terminal's modes are restored on leaving.
    """
    modes = termios.tcgetattr(fd)
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            data = os.read(fd, 4096)  # a terminal gives one whole line, and nothing on Ctrl-D
        except OSError:
            loop.remove_reader(fd)
            data = b""
        inbox.put_nowait(Item("typed", text=data.decode("utf-8", "replace") if data else None))

    loop.add_reader(fd, read)
    try:
        yield
    finally:
        loop.remove_reader(fd)
        termios.tcsetattr(fd, termios.TCSANOW, modes)
