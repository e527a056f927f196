"""Notes of rewinds on the disk: what one is about to do, and what undoes it.

    rewinds/pending/<chat>.json           begun; whoever finds it of a dead server finishes it
    rewinds/done/<chat>/<from>-<to>.json  done, and can be undone

A note is complete and safe on the disk before anything is changed.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from ..errors import StorageError
from ..protocol.controls import QueueItem, RestoredPrompt
from ..workspace.objects import sync_folder, write_private
from ..workspace.records import file_name, pack, read_json, unpack
from ..workspace.restore import Change

log = logging.getLogger(__name__)

Packed = list[Any] | None


class RewindNote(BaseModel):
    """One rewind, or the undo of one.

    `changes`: (path, what is there, what shall be there); `agent_files`: what is there before the
    agent puts back files of its own accord. `sessions` and `fork_pending` are the chat's before,
    `sessions_after` and `fork_pending_after` those when it is done; until then they are such that a
    crash is safe, whatever the agent knows. `cut_by`: the agent that has cut its own conversation,
    which nobody can undo. `queue`: what waits before. `holder`: the server that does it.
    """

    id: str
    chat_id: str
    kind: Literal["rewind", "undo"] = "rewind"
    from_seq: int
    to_seq: int
    holder: str
    prompt: RestoredPrompt
    root: str | None = None
    changes: list[tuple[str, Packed, Packed]] = []
    kept: list[str] = []
    overwritten: list[str] = []
    personal: list[str] = []
    agent_files: dict[str, Packed] = {}
    method: Literal["native", "transcript"] = "transcript"
    cut_by: str | None = None
    sessions: dict[str, str] = {}
    fork_pending: list[str] = []
    sessions_after: dict[str, str] = {}
    fork_pending_after: list[str] = []
    queue: list[QueueItem] = []

    def set_changes(self, changes: tuple[Change, ...]) -> None:
        """Note what is to be done to files."""
        self.changes = [(one.path, pack(one.now), pack(one.then)) for one in changes]

    def get_changes(self) -> tuple[Change, ...]:
        """The reverse. Raises TypeError for a damaged note."""
        return tuple(Change(path, unpack(now), unpack(then)) for path, now, then in self.changes)

    @property
    def restore_id(self) -> str:
        """Under which the workspace knows the restore."""
        return self.id if self.kind == "rewind" else f"{self.id}-undo"


class RewindNotes:
    """The notes below one folder. Raises StorageError when the disk does not take them."""

    def __init__(self, folder: Path) -> None:
        self._pending = folder / "rewinds" / "pending"
        self._done = folder / "rewinds" / "done"

    def begin(self, note: RewindNote) -> None:
        """Durable when it returns."""
        self._write(self._pending / f"{file_name(note.chat_id)}.json", note)

    def finish(self, note: RewindNote) -> None:
        """It is done: an undo leaves nothing that could be undone."""
        done = self._done_path(note.chat_id, note.from_seq, note.to_seq)
        if note.kind == "undo":
            done.unlink(missing_ok=True)
        else:
            self._write(done, note)
        self.discard(note)

    def discard(self, note: RewindNote) -> None:
        """It is not done after all."""
        path = self._pending / f"{file_name(note.chat_id)}.json"
        try:
            path.unlink(missing_ok=True)
            sync_folder(self._pending)
        except OSError as error:
            raise StorageError(f"A rewind's note cannot be removed ({error.strerror}).") from error

    def pending(self) -> list[RewindNote]:
        """What was begun and not finished."""
        try:
            paths = sorted(self._pending.glob("[!.]*.json"))
        except OSError:
            return []
        return [note for path in paths if (note := _read(path)) is not None]

    def pending_of(self, chat_id: str) -> RewindNote | None:
        """The one of a chat."""
        return _read(self._pending / f"{file_name(chat_id)}.json")

    def done(self, chat_id: str, from_seq: int, to_seq: int) -> RewindNote | None:
        """The note of a rewind that was done; None when it is lost."""
        return _read(self._done_path(chat_id, from_seq, to_seq))

    def drop_chat(self, chat_id: str) -> None:
        """Forget all of a chat. Idempotent."""
        shutil.rmtree(self._done / file_name(chat_id), ignore_errors=True)
        (self._pending / f"{file_name(chat_id)}.json").unlink(missing_ok=True)

    def _done_path(self, chat_id: str, from_seq: int, to_seq: int) -> Path:
        return self._done / file_name(chat_id) / f"{from_seq}-{to_seq}.json"

    def _write(self, path: Path, note: RewindNote) -> None:
        try:
            write_private(path, note.model_dump_json().encode(), durable=True)
        except OSError as error:
            raise StorageError(f"A rewind cannot be noted ({error.strerror}).") from error


def _read(path: Path) -> RewindNote | None:
    data = read_json(path)
    if data is None:
        return None
    try:
        return RewindNote.model_validate(data)
    except ValidationError:
        log.warning("the rewind note %s cannot be read", path)
        return None
