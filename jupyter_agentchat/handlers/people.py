"""What is one person's own, over REST: drafts, and search over what they may see."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ..chats.search import LIMIT, LIMIT_MAX
from ..protocol.controls import DraftUpdate
from .base import RESOURCE, AgentChatHandler


class DraftHandler(AgentChatHandler):
    """GET, PUT api/chats/{id}/draft"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self, chat_id: str) -> None:
        self.reply(self.services.drafts.get(chat_id, self.caller))

    @web.authenticated
    @authorized(action="write", resource=RESOURCE)
    def put(self, chat_id: str) -> None:
        self.reply(self.services.drafts.put(chat_id, self.caller, self.body(DraftUpdate)))


class SearchHandler(AgentChatHandler):
    """GET api/search?q=&project=&limit="""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self) -> None:
        result = self.services.search.find(
            self.get_query_argument("q", ""),
            project=self.get_query_argument("project", None),
            limit=self.number("limit", LIMIT, LIMIT_MAX) or LIMIT,
        )
        self.reply(result)
