"""A program that owns a launcher and a child, and does what its stdin says until it is killed.

    doomed_server.py ROOT CHILD_ID OPTIONS_JSON AGENT...

It answers each command by one line of JSON. In the end the test kills it, or has it `leave`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.framing import Line
from jupyter_agentchat.process.launcher import Spawn
from jupyter_agentchat.process.spool import SpoolLauncher


def say(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def serve(root: Path, child_id: str, options: dict[str, Any], agent: list[str]) -> None:
    launcher = SpoolLauncher(root, **options)
    child = await launcher.spawn(
        Spawn(argv=agent, cwd=root.parent, env={"PATH": os.environ["PATH"]}, child_id=child_id)
    )
    say(child.identity.pid)
    lines = child.lines()
    writes = []
    while command := (await asyncio.to_thread(sys.stdin.readline)).split():
        match command:
            case ["read", count]:
                frames = [await anext(lines) for _ in range(int(count))]
                say([(each.text, each.end) for each in frames if isinstance(each, Line)])
            case ["write", text]:
                await child.write(text)
                say("written")
            case ["begin", size]:
                say("soon")  # before, so that the kill may come anywhere
                writes.append(asyncio.ensure_future(child.write("x" * int(size))))
                await asyncio.sleep(0.02)
            case ["leave"]:
                await launcher.leave()
                say("left")


if __name__ == "__main__":
    _, directory, name, option_text, *rest = sys.argv
    asyncio.run(serve(Path(directory), name, json.loads(option_text), rest))
