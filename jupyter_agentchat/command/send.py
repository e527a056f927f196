"""`send`: start a run, show it until it ends, stop it on Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial

from ..process.sweep import MARKER
from .asks import AskInTerminal, Asks, DenyAll, WaitElsewhere, typed_lines
from .connect import connected, look_again, real_directory
from .exits import CommandError, Exit
from .follow import Follower, Item
from .render import JsonPrinter, TextPrinter
from .rest import Rest
from .screen import Screen
from .send_prompt import SentPrompt, send_prompt
from .watch import Watch


async def send(options: Namespace, screen: Screen, environment: dict[str, str]) -> Exit:
    """Run the subcommand. Raises CommandError, Refused, Unreachable."""
    directory = real_directory(options.project)
    text = sys.stdin.read() if options.text == "-" else options.text
    if not text.strip():
        raise CommandError(Exit.USAGE, "There is nothing to send.")
    person = sys.stdin.isatty() and sys.stderr.isatty() and MARKER not in environment
    async with connected(directory, screen.note) as rest:
        if rest.server.own and not person and options.on_ask == "wait":
            raise CommandError(
                Exit.USAGE,
                "Nobody could answer: --on-ask wait needs a terminal, or JupyterLab running here.",
            )
        at_terminal = rest.server.own and person
        sent = await send_prompt(
            rest, options, directory, text, partial(ask_trust, screen) if at_terminal else None
        )
        if sent.steered or (sent.item_id and (options.queue or rest.server.own)):
            return _leave(screen, rest, sent)
        follower = Follower(
            rest,
            sent.chat["id"],
            sent.after_seq,
            look_again=lambda: look_again(rest.server, directory),
            say=partial(screen.note, style="warning"),
        )
        deny = None
        if options.on_ask == "deny":
            deny = "The command was told to deny (--on-ask deny)."
        elif rest.server.own and not person:
            deny = "Nobody can be asked: there is no terminal, and no JupyterLab running here."
        try:
            with _asks(screen, rest, sent, follower, deny=deny) as asks, _interrupts(follower):
                printer = JsonPrinter(screen) if options.json else TextPrinter(screen)
                watch = Watch(rest, sent, follower, asks, printer, screen)
                try:
                    await follower.open()
                    return await watch.until_the_end()
                except BrokenPipeError:
                    await watch.give_up()
                    raise
        finally:
            follower.close()


def _leave(screen: Screen, rest: Rest, sent: SentPrompt) -> Exit:
    """The prompt is where it belongs, and there is nothing to follow."""
    chat_id = sent.chat["id"]
    if sent.steered:
        screen.note(f"It is in the running turn of chat {chat_id}.")
    elif rest.server.own:
        # the server ends with this command, and the queue waits for a person then
        raise CommandError(
            Exit.NEEDS_PERSON,
            f"Other prompts wait in chat {chat_id}: this one was put behind them.",
            "Go on with the queue in JupyterLab.",
        )
    else:
        screen.note(f"It waits in the queue of chat {chat_id}.")
    return Exit.COMPLETED


@contextlib.contextmanager
def _asks(
    screen: Screen, rest: Rest, sent: SentPrompt, follower: Follower, *, deny: str | None
) -> Iterator[Asks]:
    """The policy on asks for this server and these options; `deny` is why nobody is asked."""
    chat_id = sent.chat["id"]
    if deny:
        yield DenyAll(screen, rest, chat_id, deny)
    elif rest.server.own:
        fd = sys.stdin.fileno()
        with typed_lines(fd, follower.inbox):
            yield AskInTerminal(screen, rest, chat_id, fd)
    else:
        yield WaitElsewhere(screen, f"JupyterLab: {rest.server.lab_url} (chat {chat_id})")


@contextlib.contextmanager
def _interrupts(follower: Follower) -> Iterator[None]:
    """Ctrl-C becomes an item of the inbox while the block runs."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, follower.inbox.put_nowait, Item("interrupt"))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def ask_trust(screen: Screen, loads: list[str]) -> bool:
    """Ask at the terminal whether agents may load the project's configuration."""
    screen.note("This project holds configuration that agents would load by themselves:", "ask")
    for load in loads:
        screen.note(f"  {load}", whole=True)
    inbox: asyncio.Queue[Item] = asyncio.Queue()
    with typed_lines(sys.stdin.fileno(), inbox):
        while True:
            screen.prompt("Trust it and load all of that? yes or no:")
            word = (await inbox.get()).text
            if word is None or word.strip().lower() in ("yes", "no"):
                return word is not None and word.strip().lower() == "yes"
