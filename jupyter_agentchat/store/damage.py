"""How a broken database file shows, apart from a full disk or a lock."""

from __future__ import annotations

import sqlite3
from typing import Final

FAILURES: Final = (sqlite3.Error, UnicodeDecodeError)
"""What any use of a connection may raise because of the file."""


class Damaged(sqlite3.DatabaseError):
    """Our own finding that the file is broken; SQLite might open it all the same."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def is_damage(error: Exception) -> bool:
    """Whether SQLite says that the file itself is broken, or is no database."""
    if isinstance(error, UnicodeDecodeError):
        return True  # its message quotes a schema that is no longer text
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
