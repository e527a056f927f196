"""The link to a server of Kimi Code: its REST interface and one websocket for all sessions.

The websocket is opened anew when it is cut while the server lives; every session that somebody
reads then goes on where it stopped (cursor), with the text of the meantime put back in (`fill`).
Pings are answered, else the server closes the socket.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

from ...errors import ProcessExited, ProviderError
from ...process.launcher import Handle
from ...process.loopback import LoopbackSocket
from ...process.tasks import TaskOwner
from ...protocol.resources import Model
from .acks import Acks
from .api import KimiApi
from .feed import Feed
from .fill import StepText, Texts, running_text, turns_of
from .gather import texts_for, transcript
from .models import models_of
from .wire import Json, int_of, object_of, objects_of, text_of, texts_of

RECONNECT_S: Final = 15.0
REPLAY_LIMIT: Final = 990  # the server names 1,000
_PAUSE_S: Final = 0.2
_EXIT_S: Final = 1.0

_log = logging.getLogger(__name__)


class KimiLink:
    """Implements `shared_child.Link`. `open` once; used on one loop."""

    def __init__(
        self,
        handle: Handle,
        api: KimiApi,
        tasks: TaskOwner,
        on_unasked: Callable[[KimiLink, Feed, int], None],
        *,
        fresh: bool = True,
    ) -> None:
        """`fresh`: the server was started by us, so that we know what it has loaded."""
        self.handle = handle
        self.api = api
        self.fresh = fresh
        self.models: list[Model] = []
        self.signed_in = False
        """With the maker's own account: only that has a plan with limits."""
        self.rules_allow = False
        self.loaded: dict[str, bool] = {}
        """With which trust in their folder sessions were loaded."""
        self.settled: dict[str, tuple[object, ...]] = {}
        """What sessions are set to (`SessionConfig.lasting`), where nobody changed it since."""
        self._tasks = tasks
        self._on_unasked = on_unasked
        self._feeds: dict[str, Feed] = {}
        self._acks = Acks()
        self._socket: LoopbackSocket | None = None
        self._reading: asyncio.Task[None] | None = None
        self._closed = False

    async def open(self) -> None:
        """Learn what the server offers and listen to it. Raises ProviderError."""
        items, config, auth = await asyncio.gather(
            self.api.call("GET", "/models"),
            self.api.call("GET", "/config"),
            self.api.call("GET", "/auth"),
        )
        self.models = models_of(items, text_of(config, "default_model"))
        self.signed_in = text_of(object_of(auth, "managed_provider"), "status") == "authenticated"
        rules = objects_of(object_of(config, "permission"), "rules")
        self.rules_allow = any(text_of(rule, "decision") == "allow" for rule in rules)
        self._socket = await self.api.server.websocket("/api/v1/ws")
        self._reading = self._tasks.spawn(self._read(), name=f"read {self.handle.child_id}")

    def feed(self, session_id: str) -> Feed | None:
        """The feed of a session that was subscribed to."""
        return self._feeds.get(session_id)

    async def follow(self, session_id: str) -> Feed:
        """The feed of a session that is loaded, from now on."""
        feed = self._feeds.get(session_id)
        if feed is None or feed.failure is not None:
            feed = self._new_feed(session_id)
            await self._subscribe(feed, None)
        return feed

    async def follow_from(self, session_id: str, owner: str, seq: int, stored: int) -> Feed:
        """The feed of a session from the event behind `seq` on, with the text of its steps, read by
        `owner`. Events that the server does not have any more are left out, and `lost` is set.
        """
        snapshot = await self.api.on_session(session_id, "GET", "/snapshot")
        now = int_of(snapshot, "as_of_seq") or 0
        feed = self._new_feed(session_id)
        feed.epoch = text_of(snapshot, "epoch")
        feed.seq = max(seq, now - REPLAY_LIMIT)
        feed.lost = feed.seq > seq
        feed.begin(owner)
        await self._catch_up(feed, stored)
        return feed

    async def turns_of(self, session_id: str, prompt_id: str) -> list[int]:
        """The numbers of a run's turns, from the transcript (see `fill.turns_of`)."""
        return turns_of(await transcript(self.api, session_id), prompt_id)

    async def text_now(self, session_id: str) -> tuple[int, StepText] | None:
        """(turn, text of its running step) now; None when no turn goes on."""
        return running_text(await self.api.on_session(session_id, "GET", "/snapshot"))

    @property
    def broken(self) -> bool:
        """Whether the server lives and cannot be listened to any more."""
        return self._reading is None or self._reading.done()

    async def forget(self, session_id: str) -> None:
        """Nobody wants to know of the session any more."""
        if self._feeds.pop(session_id, None) is None or self._socket is None:
            return
        payload: Json = {"session_ids": [session_id]}
        try:
            await self._socket.send({"type": "unsubscribe", "id": "", "payload": payload})
        except ProviderError as error:
            _log.debug("child=%s: %s", self.handle.child_id, error)

    async def close(self) -> None:
        """See `Link.close`: with a socket open the server would not heed TERM."""
        self._closed = True
        if self._socket is not None:
            await self._socket.close()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})
        self._end_feeds(ProcessExited("Kimi Code's server was ended."))

    def _new_feed(self, session_id: str) -> Feed:
        feed = Feed(session_id, lambda feed, turn: self._on_unasked(self, feed, turn))
        self._feeds[session_id] = feed
        return feed

    async def _catch_up(self, feed: Feed, stored: int = 0) -> None:
        """Subscribe from the feed's place on, and put the text of the meantime back in."""
        feed.hold()
        texts: Texts = {}
        try:
            if not await self._subscribe(feed, feed.seq):
                feed.lost = True
                await self._subscribe(feed, None)
            texts = await texts_for(self.api, feed)
        finally:
            await feed.release(texts, stored=stored)

    async def _subscribe(self, feed: Feed, after: int | None) -> bool:
        """Whether the events behind `after` come (all that are new, for None)."""
        session_id = feed.session_id
        payload: Json = {"session_ids": [session_id]}
        if after is not None:
            payload["cursors"] = {session_id: {"seq": after, "epoch": feed.epoch}}
        answer = await self._request("subscribe", payload)
        if session_id in texts_of(answer, "resync_required"):
            return False
        if session_id not in texts_of(answer, "accepted"):
            raise ProviderError("Kimi Code does not tell of this session.")
        cursor = object_of(object_of(answer, "cursors"), session_id)
        feed.epoch = text_of(cursor, "epoch") or feed.epoch
        if after is None:
            feed.seq = max(feed.seq, int_of(cursor, "seq") or 0)
        return True

    async def _request(self, kind: str, payload: Json) -> Json:
        """A frame of ours, and the payload of its acknowledgement."""
        if self._socket is None or self._closed:
            raise ProcessExited("Kimi Code's server was ended.")
        return await self._acks.ask(self._socket, kind, payload)

    async def _read(self) -> None:
        while not self._closed and self._socket is not None:
            failure = await self._read_socket(self._socket)
            if failure is None:
                return
            self._acks.fail(failure)
            if self._closed or not await self._reopen():
                exited = await self.handle.wait_exit(_EXIT_S)
                self._end_feeds(await self.handle.failure() if exited else failure)
                return

    async def _read_socket(self, socket: LoopbackSocket) -> ProviderError | None:
        """Read to the socket's end; None when it was closed by us."""
        try:
            async with aclosing(socket.messages()) as messages:
                async for message in messages:
                    if isinstance(message, dict):
                        await self._take(message)
        except ProviderError as error:
            return error
        return None

    async def _take(self, message: Json) -> None:
        match text_of(message, "type"):
            case "ping":
                nonce = object_of(message, "payload").get("nonce")
                if self._socket is not None:
                    await self._socket.send({"type": "pong", "payload": {"nonce": nonce}})
            case "ack":
                self._acks.take(message)
            case _:
                feed = self._feeds.get(text_of(message, "session_id"))
                if feed is not None and feed.failure is None:
                    await feed.take(message)

    async def _reopen(self) -> bool:
        """Connect again while the server lives; False when it does not, or cannot be had."""
        loop = asyncio.get_running_loop()
        end = loop.time() + RECONNECT_S
        while not self._closed and self.handle.exit is None and loop.time() < end:
            try:
                if self._socket is not None:
                    await self._socket.close()
                self._socket = await self.api.server.websocket("/api/v1/ws")
            except ProviderError as error:
                _log.info("child=%s: no connection yet: %s", self.handle.child_id, error)
                await asyncio.sleep(_PAUSE_S)
                continue
            _log.info("child=%s: connected again", self.handle.child_id)
            for feed in [*self._feeds.values()]:
                self._tasks.spawn(self._resume(feed), name=f"resume {feed.session_id}")
            return True
        return False

    async def _resume(self, feed: Feed) -> None:
        try:
            if feed.read:
                await self._catch_up(feed)
            else:
                await self._subscribe(feed, None)
        except ProviderError as error:
            if feed.read:
                feed.fail(error)
            self._feeds.pop(feed.session_id, None)

    def _end_feeds(self, failure: ProviderError) -> None:
        feeds, self._feeds = self._feeds, {}
        for feed in feeds.values():
            feed.fail(failure)
