"""A chat's queue over REST. Whoever may send prompts may change what waits; each answer is the
queue as it is then."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ..protocol.controls import QueueItemPatch, QueueOrder
from ..protocol.resources import Empty
from .base import RESOURCE, AgentChatHandler


class QueueHandler(AgentChatHandler):
    """GET, PUT api/chats/{id}/queue"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self, chat_id: str) -> None:
        self.reply(self.services.queue.view(chat_id))

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    def put(self, chat_id: str) -> None:
        self.reply(self.services.queue.order(chat_id, self.body(QueueOrder).order))


class QueueItemHandler(AgentChatHandler):
    """PATCH, DELETE api/chats/{id}/queue/{item}"""

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    def patch(self, chat_id: str, item_id: str) -> None:
        text = self.body(QueueItemPatch).text
        self.reply(self.services.queue.edit(chat_id, item_id, text))

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    def delete(self, chat_id: str, item_id: str) -> None:
        self.reply(self.services.queue.remove(chat_id, item_id))


class QueuePauseHandler(AgentChatHandler):
    """POST api/chats/{id}/queue/pause"""

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    def post(self, chat_id: str) -> None:
        self.body(Empty)
        self.reply(self.services.queue.pause(chat_id))


class QueueResumeHandler(AgentChatHandler):
    """POST api/chats/{id}/queue/resume"""

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    def post(self, chat_id: str) -> None:
        self.body(Empty)
        self.reply(self.services.queue.resume(chat_id))
