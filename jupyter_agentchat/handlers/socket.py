"""The websocket's door: authenticate, authorise, hand everything to a Connection."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ensure_async
from tornado.ioloop import PeriodicCallback
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .base import RESOURCE, Services, identify
from .connection import Connection

PING_S = 25
RECHECK_S = 60.0
IDENTITY_HOLDS_S = 1.0
"""Before a command the identity is asked again, unless that was done within this time."""
TRY_AGAIN_LATER = 1013
MESSAGE_LIMIT_BYTES = 32 * 1024 * 1024
"""Above this Tornado closes the socket; our own limit (a clear refusal) is far below."""


class AgentChatSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """GET ws: one per page, any number of chats."""

    connection: Connection | None = None
    _recheck: PeriodicCallback | None = None
    _checked_at = 0.0

    def initialize(self, services: Services) -> None:
        self.services = services

    @property
    def ping_interval(self) -> int:
        """Seconds, as Tornado reads it (the mixin's own is milliseconds)."""
        return PING_S

    @property
    def ping_timeout(self) -> int:
        return PING_S

    @property
    def max_message_size(self) -> int:
        return MESSAGE_LIMIT_BYTES

    @ws_authenticated
    @authorized(action="read", resource=RESOURCE)
    async def get(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        await super().get(*args, **kwargs)

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Does not call the mixin's `open`: Tornado pings by itself (performance rule 1)."""
        self.set_nodelay(True)
        self._checked_at = time.monotonic()
        caller = identify(self, self.services.owner_name)
        self.connection = Connection(
            self.services, caller, self._send, self._may_execute, self._hang_up
        )
        self.connection.open()
        self._recheck = PeriodicCallback(self._still_welcome, RECHECK_S * 1000)
        self._recheck.start()

    async def _send(self, text: str) -> None:
        await self.write_message(text)

    def _hang_up(self) -> None:
        self.close(TRY_AGAIN_LATER, "connect again")

    def on_message(self, message: str | bytes) -> None:
        if self.connection is not None:
            self.connection.receive(message)

    def on_close(self) -> None:
        if self._recheck is not None:
            self._recheck.stop()
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.leave()
            with suppress(RuntimeError):  # the server stops: there is nobody to wait for it
                self.services.tasks.spawn(connection.close(), name="close connection")

    # ---- identity over time -----------------------------------------------------------------

    async def _identity_holds(self) -> bool:
        """Ask the identity provider again: a socket outlives its login (A4).

        It is asked about a fresh handler with the socket's own request: providers remember their
        answer on the handler, and they set cookies, which Tornado refuses on an open socket.
        """
        asking = JupyterHandler(self.application, self.request)
        user = await ensure_async(self.identity_provider.get_user(asking))
        self.current_user = self._jupyter_current_user = user
        return user is not None

    async def _still_welcome(self) -> None:
        if self.ws_connection is None:
            return
        allowed = await self._identity_holds() and await ensure_async(
            self.authorizer.is_authorized(self, self.current_user, "read", RESOURCE)
        )
        self._checked_at = time.monotonic()
        if not allowed:
            self.close(4403, "access has ended")

    async def _may_execute(self) -> bool:
        """Before each command; the identity itself not more often than IDENTITY_HOLDS_S."""
        try:
            if time.monotonic() - self._checked_at > IDENTITY_HOLDS_S:
                await self._still_welcome()
            if self.ws_connection is None or self.current_user is None:
                return False
            return bool(
                await ensure_async(
                    self.authorizer.is_authorized(self, self.current_user, "execute", RESOURCE)
                )
            )
        except WebSocketClosedError:
            return False
