"""What persons have typed and marked, out of a damaged store: queued prompts, drafts, marks."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from .carve import carve_keyed
from .keyed_rows import DRAFTS, MARKS, QUEUE, to_queued
from .records import QueuedPrompt

JOIN: Final = {
    QUEUE: "INSERT OR IGNORE INTO queue VALUES (?, ?, ?, ?, ?)",
    DRAFTS: """INSERT INTO drafts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
        (revision, sum, draft) = (excluded.revision, excluded.sum, excluded.draft)
        WHERE excluded.revision > revision""",
    MARKS: """INSERT INTO marks VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
        (read_seq, sum, flags) = (excluded.read_seq, excluded.sum, excluded.flags)
        WHERE excluded.read_seq > read_seq""",
}
"""How a row that was found on a page joins what is there: it may be an older copy."""


def salvage_keyed(damaged: Path, target: sqlite3.Connection) -> None:
    """Add to `target` what is whole on the pages of `damaged`, also where no tree leads to them.

    Every queue waits for a person then: an item may be a copy of one that was removed, and nothing
    must run by a mistake of ours. What has run already is left out. Raises OSError, sqlite3.Error.
    """
    for table, row in carve_keyed(damaged):
        with suppress(sqlite3.IntegrityError):
            target.execute(JOIN[table], row)
    for row in target.execute("SELECT * FROM queue").fetchall():
        item = to_queued(row)
        if item is None or _has_run(target, item):
            target.execute("DELETE FROM queue WHERE chat_id = ? AND item_id = ?", row[:2])
    target.execute(
        "INSERT OR IGNORE INTO queue_pauses SELECT DISTINCT chat_id, 'restarted' FROM queue"
    )


def _has_run(target: sqlite3.Connection, item: QueuedPrompt) -> bool:
    found = target.execute(
        "SELECT answer FROM prompts WHERE chat_id = ? AND username = ? AND client_id = ?",
        (item.chat_id, item.username, item.client_id),
    ).fetchone()
    if found is None:
        return False
    try:
        answer: Any = json.loads(found[0])
    except ValueError:
        return False
    return isinstance(answer, dict) and "run_id" in answer
