"""`export`: one chat as a file, as JSON Lines or Markdown."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from .connect import connected, real_directory
from .exits import CommandError, Exit
from .screen import Screen


async def export(options: Namespace, screen: Screen) -> Exit:
    """Run the subcommand. A file is there whole or not at all. Raises CommandError, Refused,
    Unreachable."""
    query = {"format": options.format}
    if options.include_cut:
        query["include"] = "cut"
    async with connected(real_directory(options.project), screen.note) as rest:
        path = f"chats/{options.chat}/export"
        if options.output is None:
            await rest.download(path, query, sys.stdout.buffer.write)
            sys.stdout.flush()
            return Exit.COMPLETED
        target = Path(options.output)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with part.open("wb") as file:
                await rest.download(path, query, file.write)
            part.replace(target)
        except OSError as error:
            message = f"{target} cannot be written: {error.strerror}"
            raise CommandError(Exit.FAILED, message) from error
        finally:
            part.unlink(missing_ok=True)
    screen.note(f"Written: {target}")
    return Exit.COMPLETED
