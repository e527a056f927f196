"""Runs over REST: prompts, cancel, asks. The twins of the websocket's frames, for scripts."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ..protocol.resources import AskAnswer, Empty, Prompt
from .base import RESOURCE, AgentChatHandler


class PromptsHandler(AgentChatHandler):
    """POST api/chats/{id}/prompts"""

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    async def post(self, chat_id: str) -> None:
        prompt = self.body(Prompt)
        self.reply(await self.services.prompts.send(chat_id, self.caller, prompt), 202)


class CancelHandler(AgentChatHandler):
    """POST api/chats/{id}/cancel"""

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    def post(self, chat_id: str) -> None:
        self.body(Empty)
        if self.services.queue.stop(chat_id):
            self.reply({}, 202)
        else:
            self.reply({"running": False})


class AsksHandler(AgentChatHandler):
    """GET api/chats/{id}/asks"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self, chat_id: str) -> None:
        self.services.store.chat(chat_id)
        asks = self.services.hub.open_asks(chat_id)
        self.reply({"asks": [ask.model_dump(mode="json") for ask in asks]})


class AskHandler(AgentChatHandler):
    """POST api/chats/{id}/asks/{ask_id}"""

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    async def post(self, chat_id: str, ask_id: str) -> None:
        answer = self.body(AskAnswer)
        self.reply(await self.services.chats.answer(chat_id, ask_id, answer, self.caller))
