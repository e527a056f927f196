"""The addresses, before anything behind them is imported: the first request brings the rest in.

Tornado wants a handler class per address when the server starts. Those given to it here stand for
the real ones, and make one of those for each request. A test walks the list and expects 403
without a token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import APIHandler
from tornado import web

if TYPE_CHECKING:
    from .base import Services

log = logging.getLogger(__name__)

_CHAT: Final = r"/agentchat/api/chats/([A-Za-z0-9._~-]{1,200})"
_PART: Final = r"([^/]{1,600})"  # a provider's own id, URL-encoded

ROUTES: Final = (
    (r"/agentchat/api/status", "about", "StatusHandler"),
    (r"/agentchat/api/providers", "about", "ProvidersHandler"),
    (r"/agentchat/api/projects", "about", "ProjectsHandler"),
    (r"/agentchat/api/projects/trust", "about", "TrustHandler"),
    (r"/agentchat/api/chats", "chats", "ChatsHandler"),
    (_CHAT, "chats", "ChatHandler"),
    (_CHAT + r"/events", "chats", "EventsHandler"),
    (_CHAT + r"/prompts", "runs", "PromptsHandler"),
    (_CHAT + r"/queue", "queue", "QueueHandler"),
    (_CHAT + r"/queue/pause", "queue", "QueuePauseHandler"),
    (_CHAT + r"/queue/resume", "queue", "QueueResumeHandler"),
    (_CHAT + r"/queue/([A-Za-z0-9._~-]{1,200})", "queue", "QueueItemHandler"),
    (_CHAT + r"/rewind", "rewind", "RewindHandler"),
    (_CHAT + r"/rewind/undo", "rewind", "RewindUndoHandler"),
    (_CHAT + r"/fork", "rewind", "ForkHandler"),
    (_CHAT + r"/cancel", "runs", "CancelHandler"),
    (_CHAT + r"/asks", "runs", "AsksHandler"),
    (_CHAT + r"/asks/" + _PART, "runs", "AskHandler"),
    (_CHAT + r"/read", "chats", "ReadHandler"),
    (_CHAT + r"/restore", "chats", "RestoreHandler"),
    (_CHAT + r"/draft", "people", "DraftHandler"),
    (_CHAT + r"/export", "export", "ExportHandler"),
    (_CHAT + r"/blobs/([A-Za-z0-9._~-]{1,200})", "chats", "BlobHandler"),
    (r"/agentchat/api/trash", "chats", "TrashHandler"),
    (r"/agentchat/api/search", "people", "SearchHandler"),
    (r"/agentchat/ws", "socket", "AgentChatSocket"),
    (r"/agentchat/.*", "about", "NotHereHandler"),
)
"""(pattern below base_url, module of this room, class): every address of ours, in order."""


class OpenServices(Protocol):
    """Builds the services at its first call; the same ones ever after."""

    def __call__(self) -> Services: ...


class FailedHandler(APIHandler):
    """Stands in when the services could not be built: says so, and nothing more."""

    @allow_unauthenticated  # it has nothing to tell that needs a right
    def prepare(self) -> None:  # type: ignore[override]
        raise web.HTTPError(503, reason="Agent chat could not start: see the server's log")


def handler_class(module: str, name: str) -> Callable[..., web.RequestHandler]:
    """The real handler of a route."""
    found: Callable[..., web.RequestHandler] = getattr(
        import_module(f".{module}", __package__), name
    )
    return found


def _doorway(module: str, name: str) -> type[web.RequestHandler]:
    def make(
        _class: object, application: Any, request: Any, *, open_services: OpenServices
    ) -> web.RequestHandler:
        try:
            services = open_services()
            handler = handler_class(module, name)
        except Exception:  # else Tornado would cut the connection without an answer
            log.exception("agentchat could not start")
            return FailedHandler(application, request)
        return handler(application, request, services=services)

    # what __new__ returns is of another class, so Python does not call __init__ again
    return type(name, (web.RequestHandler,), {"__new__": make, "__module__": __name__})


def routes(open_services: OpenServices) -> list[tuple[str, type[Any], dict[str, Any]]]:
    """(pattern below base_url, handler, arguments), for `ExtensionApp.handlers`."""
    arguments = {"open_services": open_services}
    return [(pattern, _doorway(module, name), arguments) for pattern, module, name in ROUTES]
