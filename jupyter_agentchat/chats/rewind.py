"""Rewind and its undo: conversation, files and queue, together, and never half.

What is to happen is noted on the disk first (`rewind_notes`); then files, the agent's conversation
and the chat's sessions change, and the event in the log makes it true. A server that dies in
between leaves the note, and the next one finishes from it. Whatever is overwritten was saved
before, so an undo brings it back, until the next prompt is sent.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import Busy, StorageError
from ..protocol.controls import RewindRequest, RewindResult
from ..protocol.events import Rewound
from ..protocol.resources import ReadMark
from ..runs.hub import Hub
from ..runs.ledger import holder_alive, own_holder
from ..store.base import ChatRecord, Store
from ..workspace.checkpoints import Checkpoints
from ..workspace.records import pack
from ..workspace.restore import Kept, Plan
from ..workspace.selection import overwritten
from . import agent_files
from .access import Caller
from .agent_cuts import AgentCuts, Agents, NativeCut
from .cuts import Cut, can_undo, find_cut, last_rewind, prompt_at
from .rewind_counts import LineCounts
from .rewind_notes import RewindNote, RewindNotes
from .rewind_steps import RewindQueue, RewindSteps, files_of, kept_of
from .service import ChatService

log = logging.getLogger(__name__)


class Rewinds:
    """See the module. Every method raises NotFound for a chat that is not there."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        chats: ChatService,
        agents: Agents,
        queue: RewindQueue,
        checkpoints: Checkpoints,
        trusted: Callable[[str, ChatRecord], Awaitable[bool]],
        *,
        holder: str | None = None,
    ) -> None:
        """`trusted(username, record)`: see `Planner.trusted`."""
        self._store = store
        self._hub = hub
        self._chats = chats
        self._agents = AgentCuts(store, chats, agents, trusted)
        self._queue = queue
        self._checkpoints = checkpoints
        self._holder = holder or own_holder()
        self.notes = RewindNotes(checkpoints.folder)
        self._counts = LineCounts(checkpoints.folder / "objects")
        self._steps = RewindSteps(store, hub, chats, queue, checkpoints, self.notes)

    # ---- rewind -----------------------------------------------------------------------------

    async def rewind(self, chat_id: str, caller: Caller, asked: RewindRequest) -> RewindResult:
        """Cut the chat at a prompt, or with `dry_run` tell what that would do.

        Raises BadRequest (no visible prompt), Busy (a run is active, here or in another server),
        StorageError (nothing has changed), and what finding the project's folder raises.
        """
        self._store.chat(chat_id)
        self._check_pending(chat_id)
        with self._hub.still(chat_id):
            self._finish_left(chat_id)
            if not asked.dry_run:
                self._check_writable()
                cut, native, plan, by_agent = await self._prepare(chat_id, caller, asked)
                plan = await _kept(self._checkpoints.save_first(chat_id, plan))
                record = self._store.chat(chat_id)
                note = await self._note(record, cut, plan, by_agent, asked)
                note.cut_by = native.provider if native else None
                self.notes.begin(note)
                result = await self._do(note, native, plan.kept)
                self._seen_by(caller, chat_id)
                return result
        # looking holds up nobody
        cut, native, plan, _ = await self._prepare(chat_id, caller, asked)
        return RewindResult(
            prompt=cut.prompt,
            method="native" if native else "transcript",
            files=await self._counts.counted(files_of(plan.changes), plan.changes),
            kept=kept_of(plan.kept),
            queue=self._queue.view(chat_id).queue,
        )

    async def _prepare(
        self, chat_id: str, caller: Caller, asked: RewindRequest
    ) -> tuple[Cut, NativeCut | None, Plan, list[str]]:
        """What is to be cut, how, and the files: those we put back, and the agent's part."""
        record = self._store.chat(chat_id)
        cut = await find_cut(self._store, chat_id, asked.seq)
        native = await self._agents.find(record, caller.username, cut)
        plan, by_agent = await self._plan(record, cut, asked, native)
        return cut, native, plan, by_agent

    async def _do(
        self, note: RewindNote, native: NativeCut | None, kept: Sequence[Kept]
    ) -> RewindResult:
        """Carry out what was noted. When that fails, as far as possible nothing has happened."""
        chat_id = note.chat_id
        # on the disk it says that the agent may have cut; here, what is known of it
        note.cut_by = None
        try:
            self._queue.clear(chat_id)
            done, left = await self._steps.put_files_back(note, native)
            if native is not None:
                await self._cut(note, native)
            self._steps.commit(note, done, [*kept, *left])
        except Exception:
            log.warning("chat=%s: the rewind failed and is taken back", chat_id)
            await self._steps.take_back(note)
            raise
        if note.method == "transcript":
            await self._agents.close(chat_id)
        return RewindResult(
            prompt=note.prompt,
            method=note.method,
            files=files_of(done),
            kept=kept_of([*kept, *left]),
            queue=note.queue,
            undo=True,
        )

    async def _cut(self, note: RewindNote, native: NativeCut) -> None:
        cut = await self._agents.cut(native)
        if cut is False:
            return
        note.cut_by = native.provider
        if cut:
            note.method = "native"
            note.sessions_after[native.provider] = note.sessions[native.provider]

    # ---- undo -------------------------------------------------------------------------------

    async def undo(self, chat_id: str, caller: Caller) -> RewindResult:
        """Bring back what the last rewind cut: conversation, files, queue.

        Raises Stale when a prompt was sent since (the branch stays in the log), or when there was
        no rewind; Busy, StorageError as `rewind`.
        """
        self._store.chat(chat_id)
        self._check_pending(chat_id)
        with self._hub.still(chat_id):
            self._finish_left(chat_id)
            rewound = last_rewind(self._store, chat_id)
            self._check_writable()
            record = self._store.chat(chat_id)
            made = self.notes.done(chat_id, rewound.from_seq, rewound.to_seq)
            plan = await self._undo_plan(record, made)
            note = self._undo_note(record, rewound, made)
            note.set_changes(plan.changes)
            note.kept = [kept.path for kept in plan.kept]
            self.notes.begin(note)
            try:
                done, left = await self._steps.put_files_back(note, None)
                self._steps.commit(note, done, [*plan.kept, *left])
            except Exception:
                log.warning("chat=%s: the undo failed and is taken back", chat_id)
                await self._steps.take_back(note)
                raise
            self._seen_by(caller, chat_id)
            return RewindResult(
                prompt=note.prompt,
                method=note.method,
                files=files_of(done),
                kept=kept_of([*plan.kept, *left]),
                queue=self._queue.view(chat_id).queue,
                undo=can_undo(self._store, chat_id),
            )

    async def _undo_plan(self, record: ChatRecord, made: RewindNote | None) -> Plan:
        if made is None or made.root is None:
            return Plan(Path())
        root = self._chats.projects.directory(record)
        plan, personal = await self._checkpoints.undo_plan(record.chat.id, root, made.id)
        made.personal = personal
        return await _kept(self._checkpoints.save_first(record.chat.id, plan))

    def _undo_note(
        self, record: ChatRecord, rewound: Rewound, made: RewindNote | None
    ) -> RewindNote:
        """Where the agent forgot nothing, its conversation goes on; else with a transcript."""
        chat = record.chat
        note = RewindNote(
            id=made.id if made else secrets.token_hex(8),
            chat_id=chat.id,
            kind="undo",
            from_seq=rewound.from_seq,
            to_seq=rewound.to_seq,
            holder=self._holder,
            prompt=made.prompt if made else prompt_at(self._store, chat.id, rewound.from_seq),
            sessions=chat.sessions,
            fork_pending=chat.fork_pending,
            sessions_after=chat.sessions,
            fork_pending_after=chat.fork_pending,
        )
        if made is None:
            # nothing is known of the agents' conversations any more: none of them goes on
            note.sessions_after, note.fork_pending_after = {}, []
            return note
        note.root, note.personal, note.queue = made.root, made.personal, made.queue
        note.method = "native" if made.cut_by is None else "transcript"
        note.sessions_after = {k: v for k, v in made.sessions.items() if k != made.cut_by}
        note.fork_pending_after = made.fork_pending
        return note

    # ---- after a crash ----------------------------------------------------------------------

    def recover(self) -> int:
        """Finish what dead servers had begun; how many that were. Once, when the server loads."""
        count = 0
        for note in self.notes.pending():
            if note.holder == self._holder or not holder_alive(note.holder):
                count += self._steps.recover(note)
        return count

    def forget(self, chat_id: str) -> None:
        """The chat is gone for good: so is what its rewinds and runs had saved."""
        self.notes.drop_chat(chat_id)
        self._checkpoints.drop_chat(chat_id)

    def _finish_left(self, chat_id: str) -> None:
        note = self.notes.pending_of(chat_id)
        if note is not None:
            self._steps.recover(note)
            if self.notes.pending_of(chat_id) is not None:
                raise StorageError("An earlier rewind of this chat could not be finished yet.")

    async def _plan(
        self, record: ChatRecord, cut: Cut, asked: RewindRequest, native: NativeCut | None
    ) -> tuple[Plan, list[str]]:
        """(what we put back and keep, what the agent puts back)"""
        if asked.files == "keep":
            return Plan(Path()), []
        root = self._chats.projects.directory(record)
        work = self._checkpoints.plan(record.chat.id, root, cut.runs, asked.overwrite)
        plan = await _kept(work)
        if native is None:
            return plan, []
        names = await agent_files.preview(
            native.rewinder, native.request, native.context, native.runs[0]
        )
        by_agent, kept = agent_files.sort_out(names, plan, asked.overwrite)
        return replace(plan, kept=(*plan.kept, *kept)), by_agent

    async def _note(
        self,
        record: ChatRecord,
        cut: Cut,
        plan: Plan,
        by_agent: Sequence[str],
        asked: RewindRequest,
    ) -> RewindNote:
        """What is to be done. What `plan` overwrites is saved."""
        chat = record.chat
        note = RewindNote(
            id=secrets.token_hex(8),
            chat_id=chat.id,
            from_seq=cut.from_seq,
            to_seq=cut.to_seq,
            holder=self._holder,
            prompt=cut.prompt,
            sessions=chat.sessions,
            fork_pending=chat.fork_pending,
            sessions_after={k: v for k, v in chat.sessions.items() if k not in cut.runs_of},
            fork_pending_after=[name for name in chat.fork_pending if name not in cut.runs_of],
            queue=self._queue.view(chat.id).queue,
        )
        if asked.files == "restore":
            note.root = str(plan.root)
            note.set_changes(plan.changes)
            note.kept = [kept.path for kept in plan.kept]
            note.overwritten = [*overwritten(plan, asked.overwrite), *by_agent]
            saved = await self._checkpoints.save_paths(chat.id, plan.root, by_agent)
            note.agent_files = {path: pack(entry) for path, entry in saved.items()}
        return note

    def _seen_by(self, caller: Caller, chat_id: str) -> None:
        """Who did it has seen it."""
        last = self._store.last_seq(chat_id)
        self._chats.mark_read(chat_id, caller, ReadMark(seq=last))

    def _check_pending(self, chat_id: str) -> None:
        note = self.notes.pending_of(chat_id)
        if note is not None and note.holder != self._holder and holder_alive(note.holder):
            raise Busy("Another server is rewinding this chat.", holder=note.holder)

    def _check_writable(self) -> None:
        health = self._store.health
        if not health.writable:
            raise StorageError(health.notice or "The store is read-only.")


async def _kept(work: Awaitable[Plan]) -> Plan:
    """What checkpoints find and keep before anything changes. Raises StorageError."""
    try:
        return await work
    except OSError as error:
        text = f"The project's files cannot be kept for a rewind: {error.strerror or error}."
        raise StorageError(text) from error
