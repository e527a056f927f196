"""Trust: whether agents may load a project's own configuration (hooks, MCP servers, settings).

Stored per person and real path, valid for one digest of what would be loaded; a change asks again.
Only an explicit yes loads anything. An admin may decide for all: `trusted_workspaces`.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
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

log = logging.getLogger(__name__)

Policy = Literal["ask", "always", "never"] | Sequence[str]
DIGEST_FILE_LIMIT = 1_000_000
DIGEST_FILES = 500
"""Files of one load that are read whole; of more, size and time of change count."""


class TrustKeeper:
    """Finds what a directory would make agents load, and keeps people's decisions on it."""

    def __init__(
        self,
        store: Store,
        providers: ProviderRegistry,
        policy: Policy,
        home: Path | None = None,
    ) -> None:
        """`home`: the person's own; by default that of this process."""
        self._home = (Path.home() if home is None else home).resolve()
        self._store = store
        self._providers = providers
        self._policy = policy

    async def look(self, username: str, directory: Path) -> Trust:
        """What `directory` (and its parents up to the git root) holds, and what was decided."""
        adapters = await self._adapters()
        # files are read: off the loop, a network file system may be slow
        loads, digest = await asyncio.to_thread(_inspect, adapters, directory, self._home)
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


def _inspect(adapters: list[Adapter], directory: Path, home: Path) -> tuple[list[ProjectLoad], str]:
    top = _git_root(directory)
    loads: list[ProjectLoad] = []
    for adapter in adapters:
        try:
            found = adapter.loads(directory, top)
            loads += [load for load in found if not _is_own(load, directory, home)]
        except Exception:
            # it must not keep the other agents from starting; and what nobody knows, nobody trusts
            # without being told
            log.exception("provider=%s: what it would load is not known", adapter.id)
            loads.append(ProjectLoad(agent=adapter.id, kind="unknown", path="?"))
    return loads, _digest(directory, loads)


def _is_own(load: ProjectLoad, directory: Path, home: Path) -> bool:
    """Whether it lies in a dot folder of the person's home, where agents keep their own settings
    and state: those are loaded from everywhere, and change with every run.

    It matters where the project is the home itself, or the home lies in a git work tree.
    """
    path = Path(os.path.normpath(directory / load.path))
    if not path.is_relative_to(home):
        return False
    first, *rest = path.relative_to(home).parts or ("",)
    return bool(rest) and first.startswith(".") and not directory.is_relative_to(home / first)


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
                state.update(_content(path))
            elif path.is_dir():
                for count, item in enumerate(sorted(path.rglob("*"))):
                    state.update(os.fsencode(item.relative_to(path)) + b"\0")
                    if item.is_file():
                        state.update(_content(item) if count < DIGEST_FILES else _stamp(item))
        except OSError:
            state.update(b"unreadable")
    return state.hexdigest()


def _content(path: Path) -> bytes:
    """The bytes of a file; of a large one the beginning, its size and the time of its change."""
    with path.open("rb") as file:
        data = file.read(DIGEST_FILE_LIMIT + 1)
    return data if len(data) <= DIGEST_FILE_LIMIT else data + _stamp(path)


def _stamp(path: Path) -> bytes:
    facts = path.stat()
    return f"{facts.st_size}:{facts.st_mtime_ns}".encode()
