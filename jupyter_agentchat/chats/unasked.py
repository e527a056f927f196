"""Turns that an agent began by itself (its background task ended) become runs of their chat."""

from __future__ import annotations

import logging

from ..errors import AgentChatError
from ..providers.base import Begin
from ..store.base import Store
from .plans import Planner
from .starts import Starter

log = logging.getLogger(__name__)


class UnaskedTurns:
    """Hosts them: `origin: provider`, no prompt, everything else as for any run."""

    def __init__(self, store: Store, planner: Planner, starter: Starter) -> None:
        self._store = store
        self._planner = planner
        self._starter = starter

    async def host(self, provider: str, chat_id: str, begin: Begin) -> bool:
        """See `AdapterContext.begin_unasked`. Never raises for a chat that cannot have it."""
        try:
            record = self._store.chat(chat_id)
            if record.chat.provider != provider:
                log.info("chat=%s: a turn of %s, which was left, is not shown", chat_id, provider)
                return False
            trusted = await self._trusted(chat_id)
            # looked up again: from here to the start nothing is awaited
            plan = self._planner.unasked(self._store.chat(chat_id), provider, begin, trusted)
            self._starter.start(plan)
        except AgentChatError as error:
            log.info("chat=%s: the agent's own turn finds no place: %s", chat_id, error)
            return False
        return True

    async def _trusted(self, chat_id: str) -> bool:
        record = self._store.chat(chat_id)
        try:
            return await self._planner.trusted(record.chat.owner, record)
        except AgentChatError:
            return False  # undecided: the process was started so, too
