"""The floor: an agent's pipe straight into a websocket. No store, no events, no rights.

`python floor_server.py PORT AGENT...` starts the agent per connection, sends it the client's first
frame as a line, and every line it writes as a frame.
"""

from __future__ import annotations

import asyncio
import sys

from tornado.web import Application
from tornado.websocket import WebSocketHandler


class Pipe(WebSocketHandler):
    """One connection, one agent."""

    def open(self) -> None:
        self.set_nodelay(True)

    async def on_message(self, message: str | bytes) -> None:
        process = await asyncio.create_subprocess_exec(
            *sys.argv[2:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=1 << 24,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        line = message.encode() if isinstance(message, str) else message
        process.stdin.write(line + b"\n")
        self.pump = asyncio.create_task(self.forward(process, process.stdout))

    async def forward(
        self, process: asyncio.subprocess.Process, output: asyncio.StreamReader
    ) -> None:
        while line := await output.readline():
            await self.write_message(line.decode())
            if b'"complete"' in line:
                break
        process.kill()
        await process.wait()


async def main() -> None:
    Application([("/ws", Pipe)]).listen(int(sys.argv[1]), "127.0.0.1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
