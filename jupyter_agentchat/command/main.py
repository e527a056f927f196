"""Entry point of `jupyter agentchat`: parse, run, turn every end into an exit code.

What is heavy (tornado) is imported once an option has been understood, so that --help is instant.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from .exits import CommandError, Exit
from .options import build_parser

if TYPE_CHECKING:
    from .screen import Screen


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code (see docs/guide.md)."""
    options = build_parser().parse_args(argv)
    from .screen import Screen

    for stream in (sys.stdout, sys.stderr):
        _never_fail_to_encode(stream)
    screen = Screen(sys.stdout, sys.stderr, os.environ)
    try:
        return _run(options, screen)
    except CommandError as error:
        screen.note(f"jupyter agentchat: {error.message}", "error", whole=True)
        if error.hint:
            screen.block(error.hint)
        return error.code
    except (KeyboardInterrupt, asyncio.CancelledError):
        return Exit.CANCELLED
    except BrokenPipeError:
        # nobody reads our output any more; without this the interpreter complains on its way out
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.CANCELLED


def _run(options: Namespace, screen: Screen) -> int:
    from .rest import Refused, Unreachable

    try:
        return asyncio.run(_command(options, screen))
    except Refused as refused:
        raise CommandError(Exit.FAILED, refused.message) from refused
    except Unreachable as error:
        raise CommandError(Exit.UNAVAILABLE, f"The server does not answer: {error}") from error


async def _command(options: Namespace, screen: Screen) -> int:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - we are in one
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # a server of our own is ended on the way out
        loop.add_signal_handler(number, task.cancel)
    if options.command == "chats":
        from .list_chats import list_chats

        return await list_chats(options, screen)
    if options.command == "doctor":
        from .doctor import doctor

        return await doctor(options, screen)
    if options.command == "restore":
        from .list_chats import restore_chat

        return await restore_chat(options, screen)
    if options.command == "tail":
        from .tail import tail

        return await tail(options, screen)
    if options.command == "export":
        from .export import export

        return await export(options, screen)
    from .send import send

    return await send(options, screen, dict(os.environ))


def _never_fail_to_encode(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
