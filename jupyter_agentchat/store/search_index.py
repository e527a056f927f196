"""The index of the search: the words of prompts, answers, tools and titles, kept beside the log.

`texts` has the words, `search` (FTS5) finds them; both change in the transaction of what they stand
for. Words are cut by `words`, so FTS5 is only told to split at spaces. Hits come in falling order
of `texts.id`: titles first, then from the newest event on; what is indexed later than it was stored
gets numbers below all others. The index is derived: a damaged one is thrown away and made anew,
step by step from `unindexed`, the newest events first.
"""

from __future__ import annotations

import logging
import sqlite3
from typing import Final

from ..errors import StorageError
from .damage import FAILURES
from .records import ChatRecord
from .words import RULES, text_of, words

_log = logging.getLogger(__name__)

KEPT_AS: Final = f"fts5 {RULES}"
"""What `meta.search` says when the index is one of ours."""
CREATE: Final = (
    "CREATE VIRTUAL TABLE search USING fts5("
    "words, content='texts', content_rowid='id', tokenize='ascii', prefix='1 2 3')"
)
EVENTS_PER_STEP: Final = 500
TEXTS_PER_STEP: Final = 25
"""Some 5 ms: a writer waits for no more than one step."""
PAGES_PER_MERGE: Final = 32
TITLES: Final = 2**40
"""Numbers from here on are those of titles."""
NEWEST: Final = f"(SELECT coalesce(max(id), 0) + 1 FROM texts WHERE id < {TITLES})"  # noqa: S608
OLDEST: Final = "(SELECT min(coalesce(min(id), 0), 0) - 1 FROM texts)"
TITLE: Final = f"(SELECT max(coalesce(max(id), 0), {TITLES}) + 1 FROM texts)"  # noqa: S608
_OLDER: Final = """SELECT seq, type,
        CASE WHEN type IN ('user', 'assistant_text', 'tool_use_start') THEN body END
    FROM events WHERE chat_id = ? AND seq <= ? ORDER BY seq DESC LIMIT ?"""


class IndexDamaged(StorageError):
    """The index was damaged, and has been made anew: the same call will do."""


def is_index_damage(error: Exception) -> bool:
    """Whether SQLite says that the index, not the file, is broken."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CORRUPT_VTAB


def prepare_index(connection: sqlite3.Connection) -> bool:
    """Make the index where it is missing or not ours; False when this SQLite cannot search.

    Everything that is stored is then `unindexed`: nothing is read here. Raises sqlite3.Error for
    what concerns writing.
    """
    try:
        kept = connection.execute("SELECT value FROM meta WHERE key = 'search'").fetchone()
        if kept == (KEPT_AS,):
            connection.execute("SELECT rowid FROM search LIMIT 0")
            return True
    except sqlite3.DatabaseError as error:
        if not isinstance(error, sqlite3.OperationalError) and not is_index_damage(error):
            raise
        _log.warning("the index of the search cannot be opened: %s", error)
    return renew_index(connection)


def renew_index(connection: sqlite3.Connection) -> bool:
    """An empty index, and everything unindexed; False when this SQLite cannot search."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        # whatever becomes of it, the next server that can search makes it anew
        connection.execute("DELETE FROM meta WHERE key = 'search'")
        searchable = _create(connection)
        if searchable:
            connection.execute("DELETE FROM texts")
            connection.execute("DELETE FROM unindexed")
            connection.execute(
                "INSERT INTO unindexed SELECT id, "
                "coalesce((SELECT max(seq) FROM events WHERE chat_id = id), 0) FROM chats"
            )
            connection.execute("INSERT INTO meta VALUES ('search', ?)", (KEPT_AS,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return searchable


def _create(connection: sqlite3.Connection) -> bool:
    try:
        _drop(connection)
        connection.execute(CREATE)
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error):
            raise
        _log.warning("chats cannot be searched: %s", error)
        return False
    return True


def _drop(connection: sqlite3.Connection) -> None:
    """Remove the index, also one that FTS5 cannot even open to remove it."""
    try:
        connection.execute("DROP TABLE IF EXISTS search")
    except sqlite3.DatabaseError as error:
        if not is_index_damage(error):
            raise
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = 'search'")
        connection.execute("PRAGMA writable_schema=RESET")
        for part in ("data", "idx", "docsize", "config"):
            connection.execute(f"DROP TABLE IF EXISTS search_{part}")


def merge_step(connection: sqlite3.Connection) -> bool:
    """Merge some pages of the index; True when there may be more. Only when all is merged are words
    gone from the disk that were taken out: FTS5 notes what was removed, and drops it then."""
    before = connection.total_changes
    connection.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (-PAGES_PER_MERGE,))
    return connection.total_changes - before >= 2  # by FTS5's documentation


def put_words(
    connection: sqlite3.Connection, chat_id: str, seq: int, text: str, *, number: str = NEWEST
) -> None:
    """Index `text`, the words of one event with spaces between them."""
    done = connection.execute(
        f"INSERT INTO texts (id, chat_id, seq, words) SELECT {number}, ?, ?, ?",
        (chat_id, seq, text),
    )
    connection.execute("INSERT INTO search (rowid, words) VALUES (?, ?)", (done.lastrowid, text))


def drop_words(connection: sqlite3.Connection, chat_id: str, seq: int | None = None) -> None:
    """Take what is indexed of a chat (of its one event, with `seq`) out of the index."""
    condition, values = "chat_id = ?", (chat_id,)
    if seq is not None:
        condition, values = "chat_id = ? AND seq = ?", (chat_id, seq)  # type: ignore[assignment]
    connection.execute(
        "INSERT INTO search (search, rowid, words) "  # noqa: S608
        f"SELECT 'delete', id, words FROM texts WHERE {condition}",
        values,
    )
    connection.execute(f"DELETE FROM texts WHERE {condition}", values)  # noqa: S608


def put_title(connection: sqlite3.Connection, record: ChatRecord) -> None:
    """Index a chat's title, if it is another one than before."""
    chat_id, title = record.chat.id, " ".join(words(record.chat.title))
    kept = connection.execute(
        "SELECT words FROM texts WHERE chat_id = ? AND seq = 0", (chat_id,)
    ).fetchone()
    if (kept[0] if kept else "") == title:
        return
    drop_words(connection, chat_id, 0)
    if title:
        put_words(connection, chat_id, 0, title, number=TITLE)


def has_unindexed(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM unindexed LIMIT 1").fetchone() is not None


def index_step(connection: sqlite3.Connection) -> bool:
    """Index the next older events in one transaction; True when there may be more.

    Blocks for some milliseconds. Raises sqlite3.Error; nothing of the step is kept then.
    """
    if not has_unindexed(connection):
        return False
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = connection.execute(
            "SELECT unindexed.chat_id, upto FROM unindexed JOIN chats ON id = unindexed.chat_id "
            "ORDER BY chats.rowid DESC LIMIT 1"
        ).fetchone()
        if found is None:
            connection.execute("DELETE FROM unindexed")
        else:
            chat_id, upto = found
            _index_older(connection, chat_id, upto)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return True


def _index_older(connection: sqlite3.Connection, chat_id: str, upto: int) -> None:
    rows = connection.execute(_OLDER, (chat_id, upto, EVENTS_PER_STEP)).fetchall()
    indexed = 0
    for seq, kind, body in rows:
        text = " ".join(words(text_of(kind, body))) if body is not None else ""
        if text:
            put_words(connection, chat_id, seq, text, number=OLDEST)
            indexed += 1
        upto = seq - 1
        if indexed == TEXTS_PER_STEP:
            break
    else:
        if len(rows) < EVENTS_PER_STEP:
            connection.execute("DELETE FROM unindexed WHERE chat_id = ?", (chat_id,))
            _index_title(connection, chat_id)
            return
    connection.execute("UPDATE unindexed SET upto = ? WHERE chat_id = ?", (upto, chat_id))


def _index_title(connection: sqlite3.Connection, chat_id: str) -> None:
    try:
        title = connection.execute(
            "SELECT json_extract(chat, '$.title') FROM chats WHERE id = ?", (chat_id,)
        ).fetchone()[0]
    except FAILURES:
        return  # a damaged chat has no title to find
    kept = connection.execute("SELECT 1 FROM texts WHERE chat_id = ? AND seq = 0", (chat_id,))
    text = " ".join(words(title)) if isinstance(title, str) else ""
    if text and not kept.fetchone():
        put_words(connection, chat_id, 0, text, number=TITLE)
