"""`tail`: the last turns of a chat, and with --follow what happens in it from then on."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from argparse import Namespace
from functools import partial

from .connect import connected, look_again, real_directory
from .exits import CommandError, Exit
from .follow import Follower, Item
from .render import JsonPrinter, Printer, TextPrinter
from .rest import Json
from .screen import Screen


class TailPrinter(TextPrinter):
    """Shows prompts too: whoever looks on has not typed them."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(screen)
        self._out = screen

    def event(self, event: Json) -> None:
        """See `Printer.event`."""
        match event.get("type"):
            case "user":
                name = (event.get("author") or {}).get("name") or "You"
                self._out.end_line()
                self._out.note(f"{name}: {event.get('text')}", "ask", whole=True)
            case "ask":
                self._out.note(
                    f"ask  {event.get('title')} (waits for an answer)", "ask", whole=True
                )
            case _:
                super().event(event)


async def tail(options: Namespace, screen: Screen) -> Exit:
    """Run the subcommand. With --follow it goes on until Ctrl-C, across restarts of the server.

    Raises CommandError, Refused, Unreachable.
    """
    directory = real_directory(options.project)
    printer: Printer = JsonPrinter(screen) if options.json else TailPrinter(screen)
    async with connected(directory, screen.note) as rest:
        path = f"chats/{options.chat}"
        await rest.get(path)  # says so when there is none
        page = await rest.get(f"{path}/events", {"turns": str(options.turns)})
        for event in page["events"]:
            printer.event(event)
        screen.end_line()
        if not options.follow:
            return Exit.COMPLETED
        if rest.server.own:
            raise CommandError(Exit.UNAVAILABLE, "No Jupyter server runs here: nothing will come.")
        follower = Follower(
            rest,
            options.chat,
            page["last_seq"] or 0,
            look_again=lambda: look_again(rest.server, directory),
            say=partial(screen.note, style="warning"),
        )
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, follower.inbox.put_nowait, Item("interrupt"))
        try:
            await follower.open()
            return await _follow(follower, printer)
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            with contextlib.suppress(OSError):
                follower.close()


async def _follow(follower: Follower, printer: Printer) -> Exit:
    while True:
        item = await follower.next()
        if item is None or item.kind == "interrupt":
            return Exit.COMPLETED
        if item.kind == "deleted":
            raise CommandError(Exit.FAILED, "The chat was deleted.")
        if item.kind == "event" and item.frame is not None:
            printer.event(item.frame)
