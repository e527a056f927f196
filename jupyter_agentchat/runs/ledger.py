"""The child table on the store: what a server that died left behind is found by the next one."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable

from ..process.identity import ProcessIdentity, boot_id, identify, is_alive
from ..process.reaper import ChildRecord
from ..store.base import ChildRecord as StoredChild
from ..store.base import Store


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


class StoreLedger:
    """ChildLedger over the store's child rows."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def record(self, record: ChildRecord) -> None:
        identity = record.identity
        self._store.save_child(
            StoredChild(
                child_id=record.child_id,
                provider="",
                scope="chat",
                chat_id=None,
                pid=identity.pid if identity else 0,
                start_time=str(identity.start_time) if identity else "",
                boot_id=identity.boot_id if identity else "",
                pgid=identity.pgid if identity else 0,
                argv0=record.argv0,
                holder=encode_identity(record.owner),
            )
        )

    def forget(self, child_id: str) -> None:
        self._store.forget_child(child_id)

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
            )
            for row in self._store.children()
        ]
