"""Rewind, its undo, and forks over REST."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ..protocol.controls import ForkRequest, RewindRequest
from ..protocol.resources import Empty
from .base import RESOURCE, AgentChatHandler


class RewindHandler(AgentChatHandler):
    """POST api/chats/{id}/rewind"""

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    async def post(self, chat_id: str) -> None:
        asked = self.body(RewindRequest)
        self.reply(await self.services.rewinds.rewind(chat_id, self.caller, asked))


class RewindUndoHandler(AgentChatHandler):
    """POST api/chats/{id}/rewind/undo"""

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    async def post(self, chat_id: str) -> None:
        self.body(Empty)
        self.reply(await self.services.rewinds.undo(chat_id, self.caller))


class ForkHandler(AgentChatHandler):
    """POST api/chats/{id}/fork"""

    @web.authenticated
    @authorized(action="write", resource=RESOURCE)
    async def post(self, chat_id: str) -> None:
        asked = self.body(ForkRequest)
        self.reply(await self.services.forks.fork(chat_id, await self.person(), asked), 201)
