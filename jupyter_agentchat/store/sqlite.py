"""The store on SQLite: one file `chats.sqlite3` in the data directory, many servers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from .attention import FILE_NAME
from .base import Store
from .filesystem import choose_journal_mode, lies_in_view
from .memory import MemoryStore
from .records import StoreHealth
from .sqlite_chats import SqliteChats
from .sqlite_database import Database
from .sqlite_events import SqliteEvents
from .sqlite_marks import SqliteMarks
from .sqlite_people import SqlitePeople
from .sqlite_queue import SqliteQueue
from .sqlite_runs import SqliteRuns
from .sqlite_search import SqliteSearch
from .sqlite_trash import SqliteTrash

JournalChoice = Literal["auto", "wal", "delete"]


class SqliteStore(
    SqliteEvents,
    SqliteChats,
    SqliteTrash,
    SqliteSearch,
    SqliteRuns,
    SqliteQueue,
    SqliteMarks,
    SqlitePeople,
):
    """EventStore, ChatStore and QueueStore on one Database, which it owns."""

    @property
    def health(self) -> StoreHealth:
        return self.database.health

    def close(self) -> None:
        self.database.close()


def open_store(
    data_dir: Path,
    journal_mode: JournalChoice = "auto",
    *,
    served_root: Path | None = None,
) -> Store:
    """The store of `data_dir`, made if it is missing (directory 0700, files 0600).

    Never raises for what is wrong with the disk: look at `health`. Read-only directory, full disk
    or a newer version's file: `writable` is False, reads answer what can be read (else nothing),
    writes raise StorageError. A damaged file is kept aside, and `notice` says where and what was
    saved. `auto` takes `delete` on anything that is not known to be a local file system.

    `served_root` is the folder whose files the server hands out: a store that lies in it in plain
    view is not opened (anybody with a link could read it), and an empty read-only one says so.
    """
    directory = data_dir.expanduser().absolute()
    if served_root is not None and lies_in_view(directory, served_root):
        notice = (
            f"Chats would be stored in {directory}, which this server shows as files. "
            "Set AgentChatApp.data_dir to a hidden folder, or to one outside the server's root."
        )
        return MemoryStore(health=StoreHealth(writable=False, notice=notice))
    mode = choose_journal_mode(journal_mode, directory)
    return SqliteStore(Database(directory / FILE_NAME, mode))
