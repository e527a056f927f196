"""The start of a planned run, and what it changes in the chat's row: title, mark, read position."""

from __future__ import annotations

import logging
from dataclasses import replace

from ..errors import StorageError
from ..providers.base import ChildMark
from ..runs.hub import Hub
from ..runs.plan import RunPlan
from ..store.base import Store
from ..workspace.checkpoints import Checkpoints
from .service import ChatService

log = logging.getLogger(__name__)

TITLE_LENGTH = 60


class Starter:
    """Starts runs, for people and for the queue."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        chats: ChatService,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """`checkpoints` keeps the project's files before the agent may change them."""
        self._store = store
        self._hub = hub
        self._chats = chats
        self._checkpoints = checkpoints

    def start(self, plan: RunPlan, *, reader: str | None = None) -> str:
        """Start the run and return its id. `reader` has seen the chat up to here.

        Raises Busy, StorageError, NotFound (the queue's item is gone); then nothing has changed.
        """
        chat_id, run_id = plan.request.chat_id, plan.request.run_id
        checkpoints = self._checkpoints
        if checkpoints is not None:

            async def kept(_mark: ChildMark) -> None:
                await checkpoints.ready(run_id)

            plan = replace(plan, context=replace(plan.context, on_child=kept))
        self._hub.start(plan)
        if checkpoints is not None:
            checkpoints.begin(chat_id, run_id, plan.request.cwd)  # beside the agent's start
        try:
            self._note(chat_id, plan.user.text if plan.user else "", reader)
        except StorageError as error:
            # the run has begun: to refuse now would be a lie
            log.warning("chat=%s: title and read mark are lost: %s", chat_id, error)
        self._chats.announce(chat_id)
        return run_id

    def _note(self, chat_id: str, text: str, reader: str | None) -> None:
        record = self._store.chat(chat_id)
        changed = record.with_chat(attention=None)
        if record.auto_title and not record.chat.title:
            changed = changed.with_chat(title=make_title(text))
        self._store.save_chat(changed)
        if reader is not None:
            marks = self._store.marks(chat_id, reader)
            marks = replace(marks, read_seq=record.chat.last_seq)
            self._store.save_marks(chat_id, reader, marks)


def make_title(text: str) -> str:
    """The first line of a prompt, at most 60 characters, cut at a word; whole code points."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[:TITLE_LENGTH]
    head, _, _ = cut.rpartition(" ")
    return (head if len(head) > TITLE_LENGTH // 2 else cut).rstrip(" ,.;:") + "…"
