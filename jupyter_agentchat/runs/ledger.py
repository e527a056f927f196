"""The child table on the store: what a server that died left behind is found by the next one."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from ..errors import StorageError
from ..process.identity import ProcessIdentity, boot_id, identify, is_alive
from ..process.reaper import ChildRecord
from ..providers.base import Scope
from ..store.base import ChildRecord as StoredChild
from ..store.base import Store

log = logging.getLogger(__name__)


def encode_identity(identity: ProcessIdentity | None) -> str:
    """`boot:pid:start:pgid`, or "" for nobody."""
    if identity is None:
        return ""
    return f"{identity.boot_id}:{identity.pid}:{identity.start_time}:{identity.pgid}"


def decode_identity(text: str) -> ProcessIdentity | None:
    """The inverse; None for anything that is not one."""
    parts = text.rsplit(":", 3)
    if len(parts) != 4:
        return None
    boot, *numbers = parts
    try:
        pid, start_time, pgid = map(int, numbers)
    except ValueError:
        return None
    return ProcessIdentity(pid=pid, start_time=start_time, boot_id=boot, pgid=pgid)


def own_holder() -> str:
    """This server, as the holder of its leases: `host/identity`."""
    return f"{socket.gethostname()}/{encode_identity(identify(os.getpid()))}"


def holder_alive(holder: str) -> bool:
    """Whether the server of a lease lives. Another host's is taken to live: only a person may take
    over from it ("Two servers on one store", docs/protocol.md)."""
    host, _, text = holder.rpartition("/")
    identity = decode_identity(text)
    if identity is None:
        return False
    if host != socket.gethostname():
        return True
    # another boot id on the same host: it was restarted, nothing of then is left
    return identity.boot_id == boot_id() and is_alive(identity)


def is_of_this_host(holder: str) -> bool:
    """Whether `holder_alive` knows, rather than takes to be on the safe side."""
    return holder.rpartition("/")[0] == socket.gethostname()


def describe_child(
    store: Store, child_id: str, provider: str, scope: Scope, chat_id: str | None
) -> None:
    """Say on a child's row who it works for; nothing when it has none. Raises StorageError."""
    row = _row(store, child_id)
    if row is not None and (row.provider, row.chat_id) != (provider, chat_id):
        word: Literal["chat", "server"] = "chat" if scope is Scope.CHAT else "server"
        store.save_child(replace(row, provider=provider, scope=word, chat_id=chat_id))


def _row(store: Store, child_id: str) -> StoredChild | None:
    return next((row for row in store.children() if row.child_id == child_id), None)


class StoreLedger:
    """ChildLedger over the store's child rows, but for the children `spare`."""

    def __init__(self, store: Store, spare: frozenset[str] = frozenset()) -> None:
        self._store = store
        self._spare = spare

    def sparing(self, spare: frozenset[str]) -> StoreLedger:
        """The same ledger without these children: they are gone on with."""
        return StoreLedger(self._store, spare)

    def record(self, record: ChildRecord) -> None:
        identity = record.identity
        # who it works for is not the launcher's to know: see `describe_child`
        known = _row(self._store, record.child_id)
        self._store.save_child(
            StoredChild(
                child_id=record.child_id,
                provider=known.provider if known else "",
                scope=known.scope if known else "chat",
                chat_id=known.chat_id if known else None,
                pid=identity.pid if identity else 0,
                start_time=str(identity.start_time) if identity else "",
                boot_id=identity.boot_id if identity else "",
                pgid=identity.pgid if identity else 0,
                directory=record.directory,
                argv0=record.argv0,
                holder=encode_identity(record.owner),
            )
        )

    def forget(self, child_id: str) -> None:
        try:
            self._store.forget_child(child_id)
        except StorageError as error:
            # full or read-only: it stays, and the next server finds that nothing is left of it
            log.warning("child=%s: its record stays: %s", child_id, error)

    def all(self) -> Iterable[ChildRecord]:
        return [
            ChildRecord(
                child_id=row.child_id,
                argv0=row.argv0,
                identity=ProcessIdentity(
                    pid=row.pid,
                    start_time=int(row.start_time),
                    boot_id=row.boot_id,
                    pgid=row.pgid,
                )
                if row.pid
                else None,
                owner=decode_identity(row.holder),
                directory=row.directory,
            )
            for row in self._store.children()
            if row.child_id not in self._spare
        ]
