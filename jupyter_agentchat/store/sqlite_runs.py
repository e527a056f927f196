"""Runs and children in SQLite: what must survive the server that runs them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Any, Final

from ..errors import Busy, NotFound
from ..protocol.events import User
from .leases import refuse_overtaken
from .records import ChildRecord, Draft, Lease, RunRecord, StoredEvent
from .sqlite_events import OnDatabase, write_rows
from .sqlite_queue import accept_prompt, answer_queued, take

RUN: Final = (
    "run_id, chat_id, provider, child_id, client_id, first_seq, spool_first, spool_stored, "
    "outcome, started, ended, request, context, lease_holder, lease_epoch"
)
RUN_MARKS: Final = ", ".join("?" * (RUN.count(",") + 1))
RUN_SET: Final = ", ".join(f"{name} = ?" for name in RUN.split(", ")[1:])
CHILD: Final = (
    "child_id, provider, scope, chat_id, pid, start_time, boot_id, pgid, directory, argv0, holder"
)


class SqliteRuns(OnDatabase):
    """The runs and children of a ChatStore."""

    def start_run(
        self, run: RunRecord, drafts: Sequence[Draft], *, queued: str | None = None
    ) -> list[StoredEvent]:
        def write() -> list[StoredEvent]:
            rows = self.to_rows(drafts)
            answer = {"run_id": run.run_id}
            with self.database.transaction(durable=True) as connection:
                _refuse_second(connection, run)
                time = self.clock()
                if queued is not None:
                    item = take(connection, run.chat_id, queued)
                    answer_queued(connection, item, answer)
                elif run.client_id is not None and drafts and isinstance(drafts[0].body, User):
                    username = drafts[0].body.author.username
                    accept_prompt(connection, run.chat_id, username, run.client_id, answer)
                events = write_rows(connection, run.chat_id, run.run_id, time, rows)
                first = run.first_seq or (events[0].seq if events else 0)
                kept = replace(run, first_seq=first, started=run.started or time)
                connection.execute(
                    f"INSERT INTO runs ({RUN}) VALUES ({RUN_MARKS})",  # noqa: S608
                    _run_row(kept),
                )
            return events

        return self.despite_index(write)

    def run(self, run_id: str) -> RunRecord | None:
        rows = self.database.rows(f"SELECT {RUN} FROM runs WHERE run_id = ?", (run_id,))  # noqa: S608
        return _to_run(rows[0]) if rows else None

    def save_run(self, run: RunRecord) -> None:
        with self.database.transaction() as connection:
            found = connection.execute(
                f"SELECT {RUN} FROM runs WHERE run_id = ?",  # noqa: S608
                (run.run_id,),
            ).fetchone()
            if found is None:
                raise NotFound("There is no such run.", run_id=run.run_id)
            refuse_overtaken(_to_run(found), run)
            connection.execute(
                f"UPDATE runs SET {RUN_SET} WHERE run_id = ?",  # noqa: S608
                (*_run_row(run)[1:], run.run_id),
            )

    def open_runs(self) -> list[RunRecord]:
        query = f"SELECT {RUN} FROM runs WHERE outcome IS NULL ORDER BY rowid"  # noqa: S608
        return [_to_run(row) for row in self.database.rows(query)]

    def save_child(self, child: ChildRecord) -> None:
        # not synced to the disk: no process outlives a power loss
        with self.database.transaction() as connection:
            marks = ", ".join("?" * (CHILD.count(",") + 1))
            connection.execute(
                f"INSERT OR REPLACE INTO children ({CHILD}) VALUES ({marks})",  # noqa: S608
                astuple(child),
            )

    def forget_child(self, child_id: str) -> None:
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM children WHERE child_id = ?", (child_id,))

    def children(self) -> list[ChildRecord]:
        query = f"SELECT {CHILD} FROM children ORDER BY rowid"  # noqa: S608
        return [ChildRecord(*row) for row in self.database.rows(query)]


def _refuse_second(connection: sqlite3.Connection, run: RunRecord) -> None:
    open_run = connection.execute(
        "SELECT run_id, lease_holder FROM runs WHERE chat_id = ? AND outcome IS NULL",
        (run.chat_id,),
    ).fetchone()
    if open_run is not None:
        raise Busy("A run is active in this chat.", run_id=open_run[0], holder=open_run[1])
    if connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run.run_id,)).fetchone():
        raise ValueError(f"run {run.run_id} exists")


def _run_row(run: RunRecord) -> tuple[Any, ...]:
    lease = (run.lease.holder, run.lease.epoch) if run.lease else (None, None)
    return (
        run.run_id,
        run.chat_id,
        run.provider,
        run.child_id,
        run.client_id,
        run.first_seq,
        run.spool_first,
        run.spool_stored,
        run.outcome,
        run.started,
        run.ended,
        "" if run.outcome else run.request,
        "" if run.outcome else run.context,
        *lease,
    )


def _to_run(row: tuple[Any, ...]) -> RunRecord:
    *values, request, context, holder, epoch = row
    lease = None if holder is None else Lease(holder, epoch)
    values += [lease, request, context]
    return RunRecord(*values)
