"""Every address of ours, in one list; a test walks it and expects 403 without a token."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from ..errors import NotFound
from .about import ProjectsHandler, ProvidersHandler, StatusHandler, TrustHandler
from .base import RESOURCE, AgentChatHandler, Services
from .chats import BlobHandler, ChatHandler, ChatsHandler, EventsHandler, ReadHandler
from .runs import AskHandler, AsksHandler, CancelHandler, PromptsHandler
from .socket import AgentChatSocket

_CHAT = r"/agentchat/api/chats/([A-Za-z0-9._~-]{1,200})"
_PART = r"([^/]{1,600})"  # a provider's own id, URL-encoded


class NotHereHandler(AgentChatHandler):
    """Everything else below agentchat/: a JSON 404, but only for who is signed in."""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self) -> None:
        raise NotFound("There is nothing here.")

    post = put = patch = delete = get


def routes(services: Services) -> list[tuple[str, type[Any], dict[str, Any]]]:
    """(pattern below base_url, handler, arguments)."""
    table: list[tuple[str, type[Any]]] = [
        (r"/agentchat/api/status", StatusHandler),
        (r"/agentchat/api/providers", ProvidersHandler),
        (r"/agentchat/api/projects", ProjectsHandler),
        (r"/agentchat/api/projects/trust", TrustHandler),
        (r"/agentchat/api/chats", ChatsHandler),
        (_CHAT, ChatHandler),
        (_CHAT + r"/events", EventsHandler),
        (_CHAT + r"/prompts", PromptsHandler),
        (_CHAT + r"/cancel", CancelHandler),
        (_CHAT + r"/asks", AsksHandler),
        (_CHAT + r"/asks/" + _PART, AskHandler),
        (_CHAT + r"/read", ReadHandler),
        (_CHAT + r"/blobs/([A-Za-z0-9._~-]{1,200})", BlobHandler),
        (r"/agentchat/ws", AgentChatSocket),
        (r"/agentchat/.*", NotHereHandler),
    ]
    return [(pattern, handler, {"services": services}) for pattern, handler in table]
