"""The queue of each chat in SQLite, and which prompts were accepted: each runs once."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..errors import NotFound, Stale
from .keyed_rows import KeyedRow, queue_row, to_queued
from .leases import refuse_accepted
from .records import QueuedPrompt, QueueSize
from .sqlite_connection import fetch
from .sqlite_events import OnDatabase, last_seq

_log = logging.getLogger(__name__)

ITEMS: Final = """SELECT chat_id, item_id, position, sum, item FROM queue
    WHERE chat_id = ? ORDER BY position"""
SIZES: Final = """SELECT chat_id, count(*), chat_id IN (SELECT chat_id FROM queue_pauses)
    FROM queue WHERE chat_id IN ({}) GROUP BY chat_id"""
SIZES_AT_ONCE: Final = 500
PUT: Final = "INSERT OR REPLACE INTO queue VALUES (?, ?, ?, ?, ?)"
PAUSE: Final = "INSERT OR REPLACE INTO queue_pauses VALUES (?, ?)"
ANSWER: Final = "SELECT answer FROM prompts WHERE chat_id = ? AND username = ? AND client_id = ?"


class SqliteQueue(OnDatabase):
    """The queue of a QueueStore, and the prompts of a ChatStore."""

    def queue(self, chat_id: str) -> list[QueuedPrompt]:
        with self.database.snapshot() as connection:
            last_seq(connection, chat_id)
            return [item for item, _ in _items(connection, chat_id)]

    def queued_chats(self) -> list[str]:
        rows = self.database.rows(
            "SELECT id FROM chats WHERE deleted IS NULL AND id IN (SELECT chat_id FROM queue) "
            "ORDER BY rowid"
        )
        return [row[0] for row in rows]

    def queue_sizes(self, chat_ids: Sequence[str]) -> dict[str, QueueSize]:
        sizes: dict[str, QueueSize] = {}
        for at in range(0, len(chat_ids), SIZES_AT_ONCE):
            part = chat_ids[at : at + SIZES_AT_ONCE]
            rows = self.database.rows(SIZES.format(", ".join("?" * len(part))), tuple(part))
            sizes |= {row[0]: QueueSize(row[1], paused=bool(row[2])) for row in rows}
        return sizes

    def enqueue(self, item: QueuedPrompt) -> None:
        with self.database.transaction(durable=True) as connection:
            last_seq(connection, item.chat_id)
            answer = {"queue_item": item.id}
            accept_prompt(connection, item.chat_id, item.username, item.client_id, answer)
            at = "SELECT coalesce(max(position), 0) + 1, total(item_id = ?) FROM queue"
            position, taken = connection.execute(
                f"{at} WHERE chat_id = ?",
                (item.id, item.chat_id),
            ).fetchone()
            if taken:
                raise ValueError(f"queue item {item.id} exists")
            connection.execute(PUT, queue_row(item, position))

    def save_queued(self, item: QueuedPrompt) -> None:
        with self.database.transaction(durable=True) as connection:
            last_seq(connection, item.chat_id)
            stored, position = _item(connection, item.chat_id, item.id)
            stored = replace(
                stored, text=item.text, expect=item.expect, held_reason=item.held_reason
            )
            connection.execute(PUT, queue_row(stored, position))

    def unqueue(self, chat_id: str, item_id: str) -> QueuedPrompt:
        with self.database.transaction(durable=True) as connection:
            last_seq(connection, chat_id)
            return take(connection, chat_id, item_id)

    def order_queue(self, chat_id: str, ids: Sequence[str]) -> None:
        with self.database.transaction(durable=True) as connection:
            last_seq(connection, chat_id)
            items = {item.id: item for item, _ in _items(connection, chat_id)}
            if sorted(items) != sorted(ids):
                raise Stale("The queue has changed meanwhile.", order=list(items))
            for position, item_id in enumerate(ids, 1):
                connection.execute(PUT, queue_row(items[item_id], position))

    def queue_pause(self, chat_id: str) -> str | None:
        with self.database.snapshot() as connection:
            last_seq(connection, chat_id)
            found = fetch(
                connection, "SELECT reason FROM queue_pauses WHERE chat_id = ?", (chat_id,)
            )
            return found[0][0] if found else None

    def pause_queue(self, chat_id: str, reason: str | None) -> None:
        with self.database.transaction(durable=True) as connection:
            last_seq(connection, chat_id)
            if reason is None:
                connection.execute("DELETE FROM queue_pauses WHERE chat_id = ?", (chat_id,))
            else:
                connection.execute(PAUSE, (chat_id, reason))

    def find_prompt(self, chat_id: str, username: str, client_id: str) -> dict[str, object] | None:
        rows = self.database.rows(ANSWER, (chat_id, username, client_id))
        return json.loads(rows[0][0]) if rows else None

    def remember_prompt(
        self, chat_id: str, username: str, client_id: str, answer: dict[str, object]
    ) -> None:
        with self.database.transaction(durable=True) as connection:
            last_seq(connection, chat_id)
            connection.execute(
                "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?, ?)",
                (chat_id, username, client_id, json.dumps(answer)),
            )


def accept_prompt(
    connection: sqlite3.Connection,
    chat_id: str,
    username: str,
    client_id: str,
    answer: dict[str, str],
) -> None:
    """Remember a prompt as answered, inside the caller's transaction. Raises Busy when it was."""
    key = (chat_id, username, client_id)
    found = connection.execute(ANSWER, key).fetchone()
    if found is not None:
        refuse_accepted(json.loads(found[0]))
    connection.execute("INSERT INTO prompts VALUES (?, ?, ?, ?)", (*key, json.dumps(answer)))


def answer_queued(
    connection: sqlite3.Connection, item: QueuedPrompt, answer: dict[str, str]
) -> None:
    """From now on the prompt of `item` is answered by its run. Raises Busy when it has run."""
    key = (item.chat_id, item.username, item.client_id)
    found = connection.execute(ANSWER, key).fetchone()
    if found is not None and "run_id" in (before := json.loads(found[0])):
        refuse_accepted(before)
    connection.execute(
        "INSERT OR REPLACE INTO prompts VALUES (?, ?, ?, ?)", (*key, json.dumps(answer))
    )


def take(connection: sqlite3.Connection, chat_id: str, item_id: str) -> QueuedPrompt:
    """Remove an item inside the caller's transaction. Raises NotFound."""
    item, _ = _item(connection, chat_id, item_id)
    connection.execute("DELETE FROM queue WHERE chat_id = ? AND item_id = ?", (chat_id, item_id))
    return item


def _items(connection: sqlite3.Connection, chat_id: str) -> list[tuple[QueuedPrompt, int]]:
    return _whole(fetch(connection, ITEMS, (chat_id,)))


def _item(connection: sqlite3.Connection, chat_id: str, item_id: str) -> tuple[QueuedPrompt, int]:
    one = ITEMS.replace("ORDER BY position", "AND item_id = ?")
    found = _whole(fetch(connection, one, (chat_id, item_id)))
    if not found:
        raise NotFound("This prompt is no longer in the queue.", chat_id=chat_id, id=item_id)
    return found[0]


def _whole(rows: list[KeyedRow]) -> list[tuple[QueuedPrompt, int]]:
    """(prompt, position) of each row; what was damaged on disk must not be sent to an agent."""
    items = []
    for row in rows:
        item = to_queued(row)
        if item is None:
            _log.error("a queued prompt of chat %s was damaged on disk and is left out", row[0])
            continue
        items.append((item, row[2]))
    return items
