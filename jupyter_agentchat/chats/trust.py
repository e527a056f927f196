"""Trust: whether agents may load a project's own configuration (hooks, MCP servers, settings).

Stored per person and real path, valid for one digest of what would be loaded; a change asks again.
Only an explicit yes loads anything. An admin may decide for all: `trusted_workspaces`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..errors import ProviderError, Refused, Stale
from ..protocol.base import now
from ..protocol.resources import ProjectLoad, Trust, TrustDecision
from ..providers.base import Adapter
from ..providers.registry import ProviderRegistry
from ..store.base import Store, TrustRecord

Policy = Literal["ask", "always", "never"] | Sequence[str]
DIGEST_FILE_LIMIT = 1_000_000


class TrustKeeper:
    """Finds what a directory would make agents load, and keeps people's decisions on it."""

    def __init__(
        self,
        store: Store,
        providers: ProviderRegistry,
        policy: Policy,
    ) -> None:
        self._store = store
        self._providers = providers
        self._policy = policy

    async def look(self, username: str, directory: Path) -> Trust:
        """What `directory` (and its parents up to the git root) holds, and what was decided."""
        adapters = await self._adapters()
        # files are read: off the loop, a network file system may be slow
        loads, digest = await asyncio.to_thread(_inspect, adapters, directory)
        return Trust(
            trusted=self._decided(username, directory, digest, loads), digest=digest, loads=loads
        )

    async def _adapters(self) -> list[Adapter]:
        adapters = []
        for name in self._providers.ids:
            # one that is switched off, or cannot be loaded, loads nothing either
            with suppress(Refused, ProviderError):
                adapters.append(await self._providers.adapter(name))
        return adapters

    def _decided(
        self, username: str, directory: Path, digest: str, loads: list[ProjectLoad]
    ) -> bool | None:
        if self._policy == "always":
            return True
        if self._policy == "never":
            return False
        if not isinstance(self._policy, str):
            return any(
                directory == root or directory.is_relative_to(root)
                for root in (Path(item).expanduser().resolve() for item in self._policy)
            )
        record = self._store.trust(username, str(directory))
        if record is not None and record.digest == digest:
            return record.trusted
        # with nothing to load there is nothing to decide: the agent starts untrusted
        return None if loads else False

    async def decide(self, username: str, directory: Path, decision: TrustDecision) -> Trust:
        """Keep a decision. Raises Stale when what would be loaded has changed since then."""
        present = await self.look(username, directory)
        if present.digest != decision.digest:
            raise Stale(
                "The project's configuration has changed: look again.", digest=present.digest
            )
        self._store.save_trust(
            TrustRecord(username, str(directory), decision.digest, decision.trusted, now())
        )
        return await self.look(username, directory)


def _inspect(adapters: list[Adapter], directory: Path) -> tuple[list[ProjectLoad], str]:
    top = _git_root(directory)
    loads = [load for adapter in adapters for load in adapter.loads(directory, top)]
    return loads, _digest(directory, loads)


def _git_root(directory: Path) -> Path:
    for candidate in (directory, *directory.parents):
        if (candidate / ".git").exists():
            return candidate
    return directory


def _digest(directory: Path, loads: list[ProjectLoad]) -> str:
    """Names and contents of what would be loaded; a changed byte is another digest."""
    state = hashlib.sha256()
    for load in sorted(loads, key=lambda item: (item.agent, item.kind, item.path)):
        state.update(f"{load.agent}\0{load.kind}\0{load.path}\0".encode())
        path = directory / load.path
        try:
            if path.is_file():
                state.update(path.read_bytes()[:DIGEST_FILE_LIMIT])
            elif path.is_dir():
                for item in sorted(path.rglob("*"))[:500]:
                    state.update(str(item.relative_to(path)).encode())
                    if item.is_file():
                        state.update(item.read_bytes()[:DIGEST_FILE_LIMIT])
        except OSError:
            state.update(b"unreadable")
    return state.hexdigest()
