"""Whether a store needs its server at once, found out without opening it: a start stays cheap.

Imports nothing of ours that imports pydantic (see "A quiet start" in ARCHITECTURE.md).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from .filesystem import lies_in_view

FILE_NAME: Final = "chats.sqlite3"
"""The store's file in its data directory."""
WORK: Final = (
    "SELECT 1 FROM runs WHERE outcome IS NULL",  # to be closed, or attached to again
    "SELECT 1 FROM children",  # processes to end
    "SELECT 1 FROM queue JOIN chats ON chats.id = queue.chat_id WHERE deleted IS NULL "
    "AND queue.chat_id NOT IN (SELECT chat_id FROM queue_pauses)",  # prompts whose turn has come
)


def needs_attention(data_dir: Path, served_root: Path) -> bool:
    """Whether an earlier server left work in the store of `data_dir`, or something is wrong.

    False is certain: there is no store yet, or it is sound enough to be read and nothing waits in
    it. Everything else (locked, damaged, of another version, in plain view) is True: who opens it
    properly says what is to be said. Blocks for one small read.
    """
    directory = data_dir.expanduser().absolute()
    if lies_in_view(directory, served_root):
        return True
    file = directory / FILE_NAME
    try:
        if not file.exists():
            return False
        uri = f"{file.as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
            return any(connection.execute(f"{query} LIMIT 1").fetchone() for query in WORK)
    except (OSError, sqlite3.Error):
        return True
