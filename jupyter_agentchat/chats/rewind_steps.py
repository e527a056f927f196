"""The steps of a rewind and of its undo, each of which may be repeated after a crash.

The note comes first (`rewind_notes`), then files, sessions, the event, the queue; the note moves
last. Whatever was begun is finished or taken back from the note alone.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from ..errors import AgentChatError
from ..protocol.controls import FileKept, FileRestore, Queue, QueueItem
from ..protocol.events import RewindUndone, Rewound
from ..runs.hub import Hub
from ..store.base import Store
from ..workspace.checkpoints import Checkpoints
from ..workspace.restore import Change, Kept
from . import agent_files
from .agent_cuts import NativeCut
from .rewind_notes import RewindNote, RewindNotes
from .service import ChatService

log = logging.getLogger(__name__)

NAMED_LIMIT: Final = 500
"""Paths that an event names; the answer to the request has all."""
LOOK: Final = 1000


class RewindQueue(Protocol):
    """What a rewind does to the chat's queue."""

    def view(self, chat_id: str) -> Queue: ...
    def clear(self, chat_id: str) -> list[QueueItem]: ...
    def restore(self, chat_id: str, items: Sequence[QueueItem]) -> None: ...


class RewindSteps:
    """See the module."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        chats: ChatService,
        queue: RewindQueue,
        checkpoints: Checkpoints,
        notes: RewindNotes,
    ) -> None:
        self._store = store
        self._hub = hub
        self._chats = chats
        self._queue = queue
        self._checkpoints = checkpoints
        self._notes = notes

    async def put_files_back(
        self, note: RewindNote, native: NativeCut | None
    ) -> tuple[list[Change], list[Kept]]:
        if note.root is None:
            return [], []
        root, changes = Path(note.root), list(note.get_changes())
        if note.agent_files and native is not None:
            await agent_files.put_back(
                native.rewinder, native.request, native.context, native.runs[0]
            )
            changes += await self._checkpoints.changed_since(note.chat_id, root, note.agent_files)
        return await self._checkpoints.restore(
            note.chat_id, root, changes, note.restore_id, note.overwritten, note.personal
        )

    def commit(self, note: RewindNote, done: Sequence[Change], kept: Sequence[Kept]) -> None:
        """Sessions, then the event, then the note: each may be repeated."""
        record = self._store.chat(note.chat_id)
        changed = {"sessions": note.sessions_after, "fork_pending": note.fork_pending_after}
        self._store.save_chat(record.with_chat(**changed, attention=None))
        if not self._is_stored(note):
            kind = Rewound if note.kind == "rewind" else RewindUndone
            event = kind(
                from_seq=note.from_seq,
                to_seq=note.to_seq,
                method=note.method,
                files_restored=[one.path for one in files_of(done)][:NAMED_LIMIT],
                files_kept=[one.path for one in kept if one.path][:NAMED_LIMIT],
            )
            self._hub.record(note.chat_id, [event])
        if note.kind == "undo":
            waiting = {item.id for item in self._queue.view(note.chat_id).queue}
            self._queue.restore(
                note.chat_id, [item for item in note.queue if item.id not in waiting]
            )
        self._notes.finish(note)
        self._chats.announce(note.chat_id)

    def _is_stored(self, note: RewindNote) -> bool:
        kind = "rewound" if note.kind == "rewind" else "rewind_undone"
        page = self._store.events_after(note.chat_id, note.to_seq, limit=1000, include_cut=True)
        for event in page.events:
            body = event.body() if event.type == kind else None
            if (
                isinstance(body, Rewound | RewindUndone)
                and body.from_seq == note.from_seq
                and (body.to_seq == note.to_seq)
            ):
                return True
        return False

    async def take_back(self, note: RewindNote) -> None:
        """As far as the disk allows; what cannot be taken back is finished later."""
        if self._is_stored(note):
            return
        try:
            record = self._store.chat(note.chat_id)
            # an agent that has cut already does not know what the log shows
            sessions = {k: v for k, v in note.sessions.items() if k != note.cut_by}
            self._store.save_chat(
                record.with_chat(sessions=sessions, fork_pending=note.fork_pending)
            )
            if note.root is not None:
                turned = [change.turned for change in note.get_changes()]
                await self._checkpoints.restore(
                    note.chat_id, Path(note.root), turned, f"{note.restore_id}-back"
                )
            if note.kind == "rewind":
                self._queue.restore(note.chat_id, note.queue)
            self._notes.discard(note)
        except (AgentChatError, OSError) as error:
            log.warning("chat=%s: it could not be taken back: %s", note.chat_id, error)

    def recover(self, note: RewindNote) -> bool:
        try:
            self._store.chat(note.chat_id)
            if self._has_gone_on(note):
                log.warning("chat=%s: a rewind that had failed is given up", note.chat_id)
                self._notes.discard(note)
                return False
            done: list[Change] = []
            left: list[Kept] = []
            if note.root is not None:
                done, left = self._checkpoints.restore_now(
                    note.chat_id,
                    Path(note.root),
                    note.get_changes(),
                    note.restore_id,
                    note.overwritten,
                    note.personal,
                )
            if note.kind == "rewind":
                self._queue.clear(note.chat_id)
            self.commit(note, done, [*(Kept(path, "") for path in note.kept), *left])
        except (AgentChatError, OSError, TypeError, ValueError) as error:
            log.warning("chat=%s: a rewind cannot be finished: %s", note.chat_id, error)
            return False
        log.info("chat=%s: a rewind of an earlier server was finished", note.chat_id)
        return True

    def _has_gone_on(self, note: RewindNote) -> bool:
        """Whether a prompt was sent since the note was made: then it must not be finished."""
        page = self._store.events_after(note.chat_id, note.to_seq, limit=1000, include_cut=True)
        types = [event.type for event in page.events]
        return page.has_more or "user" in types or "run_started" in types


def files_of(changes: Sequence[Change]) -> list[FileRestore]:
    """For people: files and links; folders come and go with what is in them."""
    return [
        FileRestore(
            path=change.path,
            change="create"
            if change.now is None
            else "delete"
            if change.then is None
            else "restore",
        )
        for change in changes
        if any(entry is not None and entry.kind != "folder" for entry in (change.now, change.then))
    ]


def kept_of(kept: Sequence[Kept]) -> list[FileKept]:
    return [
        FileKept(path=one.path, reason=one.reason, overwritable=one.overwritable) for one in kept
    ]
