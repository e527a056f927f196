"""The server of Kimi Code that all chats share: found, started, connected to, ended."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final

from ...errors import NotInstalled, ProviderError
from ...process.framing import Line
from ...process.ladder import Ladder
from ...process.launcher import Handle, Launcher, Spawn
from ...process.loopback import LoopbackServer
from ...process.tasks import TaskOwner
from ..base import AdapterContext, ChildMark
from ..shared_child import SharedChildren
from .address import START_S, read_token, wait_for_address
from .api import KimiApi
from .feed import Feed
from .launch import environment, home_of, server_command, with_first_on_path
from .link import KimiLink
from .program import NODE_HINT, Found, find_program
from .wire import MIN_NODE

KEY: Final = "web"
LADDER: Final = Ladder(eof_s=0.0, term_s=5.0, kill_s=2.0)

_ATTACH_S: Final = 1.0
_NODE_S: Final = 3.0
_NODE_VERSION = re.compile(r"v(\d{1,4})\.(\d{1,4})\.")
_QUICK: Final = Ladder(eof_s=0.0, term_s=0.5, kill_s=1.0)


class Servers:
    """At most one server; runs hold it by their id."""

    def __init__(
        self,
        context: AdapterContext,
        tasks: TaskOwner,
        on_unasked: Callable[[KimiLink, Feed, int], None],
    ) -> None:
        self.environment = environment(context.environment, context.settings)
        self.home = home_of(self.environment)
        self._context = context
        self._tasks = tasks
        self._on_unasked = on_unasked
        self._owners: set[str] = set()
        self._node: dict[tuple[str, ...], str] = {}
        self._children: SharedChildren[KimiLink] = SharedChildren(
            context.launcher,
            tasks,
            build=self._build,
            connect=self._connect,
            idle_timeout_s=context.idle_timeout_s,
            ladder=LADDER,
            counts_bytes=False,
        )

    @property
    def link(self) -> KimiLink | None:
        """The link to the server that runs."""
        alive = self._children.alive
        return alive[0] if alive else None

    async def hold(self, owner: str) -> KimiLink:
        """The link, a server started if need be; held until `release`. Raises ProviderError."""
        link = await self._children.hold(KEY, owner)
        if link.broken:
            await self._children.end(KEY)
            link = await self._children.hold(KEY, owner)
        self._owners.add(owner)
        return link

    async def attach(self, owner: str, mark: ChildMark) -> KimiLink:
        """The link to an earlier server's child. Raises ChildGone, ProviderError."""
        link = await self._children.attach(KEY, owner, mark)
        self._owners.add(owner)
        return link

    def release(self, owner: str) -> None:
        """See `SharedChildren.release`."""
        self._owners.discard(owner)
        self._children.release(owner)

    async def end_unless_shared(self, owner: str) -> bool:
        """End the server if nobody but `owner` holds it; whether that was so."""
        if self._owners - {owner}:
            return False
        await self._children.end(KEY)
        return True

    async def close(self) -> None:
        """End the server; none is started afterwards."""
        await self._children.close()

    async def command(self, *, not_below: Path | None = None) -> tuple[str, ...]:
        """The program, with a Node that is new enough before it. Raises NotInstalled."""
        found = await asyncio.to_thread(
            find_program, self._context.settings, self._context.environment, not_below=not_below
        )
        if not found.nodes:
            return found.command
        if found.nodes not in self._node:
            self._node[found.nodes] = await self._new_enough(found)
        return (self._node[found.nodes], *found.command)

    async def run(self, argv: tuple[str, ...], launcher: Launcher) -> tuple[str, int | None]:
        """(what a short program printed, its exit code); it is gone afterwards."""
        child_id = f"kimi-probe-{uuid.uuid4().hex}"
        scratch = self._context.scratch
        handle = await launcher.spawn(
            Spawn(argv, scratch, self.environment, child_id, stdin="null")
        )
        try:
            lines: list[str] = []
            async with aclosing(handle.lines()) as frames:
                async for frame in frames:
                    if isinstance(frame, Line) and len(lines) < 100:
                        lines.append(frame.text)
            ended = await handle.wait_exit(_NODE_S)
        finally:
            await handle.stop(_QUICK)
        return "\n".join(lines), ended.code if ended else None

    async def _new_enough(self, found: Found) -> str:
        seen: list[str] = []
        for node in found.nodes:
            try:
                async with asyncio.timeout(_NODE_S):
                    said, _ = await self.run((node, "--version"), self._context.for_probes)
            except (TimeoutError, ProviderError):
                continue
            version = _NODE_VERSION.search(said)
            if version and (int(version[1]), int(version[2])) >= MIN_NODE:
                return node
            seen.append(said.strip()[:30])
        raise NotInstalled(
            f"Kimi Code needs Node.js {MIN_NODE[0]}.{MIN_NODE[1]} or newer; "
            f"here is {', '.join(filter(None, seen)) or 'none that runs'}.",
            hint=NODE_HINT,
        )

    async def _build(self, _key: str) -> Spawn:
        command = await self.command()
        folders = [str(Path(command[0]).parent)] if len(command) > 1 else []
        return Spawn(
            server_command(command),
            self._context.scratch,
            # what it runs by itself finds the same Node
            with_first_on_path(self.environment, folders),
            f"kimi-{uuid.uuid4().hex}",
            stdin="null",
        )

    async def _connect(self, handle: Handle, _key: str, attached: bool) -> KimiLink:
        address = await wait_for_address(handle, timeout_s=_ATTACH_S if attached else START_S)
        token = await asyncio.to_thread(read_token, self.home)
        api = KimiApi(LoopbackServer(address, {"Authorization": f"Bearer {token}"}))
        link = KimiLink(handle, api, self._tasks, self._on_unasked, fresh=not attached)
        try:
            await link.open()
        except BaseException:
            await link.close()
            raise
        return link
