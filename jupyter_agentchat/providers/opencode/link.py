"""One running opencode: its feed is read here for all runs, its calls are made from here."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Mapping
from contextlib import aclosing
from typing import Final

from pydantic import JsonValue

from ...errors import ChildGone, ProcessExited, ProviderError, ProviderTimeout, TooOld
from ...process.framing import Frame, Oversize
from ...process.framing import Line as Complete
from ...process.launcher import Handle
from ...process.loopback import LoopbackServer
from ...process.redact import MASK
from ...process.tasks import TaskOwner
from .inbox import Inbox, Line
from .launch import USER
from .program import UPGRADE_HINT
from .wire import MIN_VERSION, as_object, int_of, parse, text_of

START_S: Final = 60.0
"""A first start makes its database and folders."""
FOUND_S: Final = 1.2
"""For one that an earlier server started: a chat is not stuck for longer (reliability R2)."""
CALL_S: Final = 20.0
_LAST_WORDS_S: Final = 0.5
_EXIT_S: Final = 1.0
KEPT_S: Final = 30.0
"""How long what was read of an earlier server's is kept for runs that have not come yet."""

_log = logging.getLogger(__name__)


class OpencodeLink:
    """Made with `open` for a process that starts, or `find` for one of an earlier server."""

    def __init__(self, handle: Handle, secret: str, tasks: TaskOwner) -> None:
        self.handle = handle
        self.version = ""
        self._secret = secret
        self._tasks = tasks
        self._server: LoopbackServer | None = None
        self._up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._answers: dict[str, asyncio.Future[int]] = {}
        self._inboxes: set[Inbox] = set()
        self._kept: list[Line] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._closed = False

    async def open(self) -> None:
        """Wait until it listens. Raises ProviderError; on cancel the caller ends the process."""
        self._read_on()
        try:
            async with asyncio.timeout(START_S):
                await asyncio.shield(self._up)
        except TimeoutError as error:
            raise ProviderTimeout(f"opencode did not start in {START_S:g} s.") from error
        health = as_object(await self.call("GET", "/global/health"))
        self.version = text_of(health, "version")
        if _numbers(self.version) < _numbers(MIN_VERSION):
            text = f"opencode {self.version or 'of this age'} is older than {MIN_VERSION}."
            raise TooOld(text, hint=UPGRADE_HINT)

    async def find(self) -> None:
        """Find the way to one that runs already. Raises ChildGone.

        Its answer stands behind all that it had said: after this, what an earlier server may have
        read is here. It is kept for a while, since each run has a beginning of its own. One that
        has died meanwhile is read to its end.
        """
        self._kept = []
        self._read_on()
        answer = self._answers["hello"] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(FOUND_S):
                await self.ask("/global/health", "hello")
                status = await answer
        except (ProviderError, TimeoutError) as error:
            if not await self._read_to_its_end():
                raise ChildGone("opencode does not answer any more.") from error
            return
        if status != 200 and not await self._read_to_its_end():
            raise ChildGone("opencode does not answer any more.")
        self._tasks.spawn(self._forget_later(), name=f"forget {self.handle.child_id}")

    def must_live(self, prompt: str) -> None:
        """Whether a prompt that it had not taken can be sent again. Raises ChildGone."""
        if self.handle.exit is not None or not prompt:
            raise ChildGone("opencode has ended, and had not taken the prompt.")

    async def _read_to_its_end(self) -> bool:
        """Of one that has died meanwhile: whether all that it had said is here."""
        if self.handle.exit is None or self._reader is None:
            return False
        return bool((await asyncio.wait({self._reader}, timeout=_LAST_WORDS_S))[0])

    def join(self, inbox: Inbox) -> None:
        """Hand the lines to `inbox`, with those of before that are still kept."""
        for line in self._kept or []:
            inbox.put(line)
        self._inboxes.add(inbox)
        if self._reader is None or self._reader.done():
            inbox.close()

    def leave(self, inbox: Inbox) -> None:
        """The run is gone. Idempotent."""
        self._inboxes.discard(inbox)
        inbox.close()

    async def call(
        self,
        method: str,
        path: str,
        *,
        directory: str | None = None,
        body: JsonValue = None,
        timeout_s: float = CALL_S,
        query: Mapping[str, str] | None = None,
    ) -> JsonValue:
        """The answer to one request, about `directory`.

        Raises HttpRefused, ProviderTimeout, ProcessExited with how it ended.
        """
        if self._server is None:
            raise ProcessExited("opencode does not listen.")
        asked = dict(query or {})
        if directory is not None:
            asked["directory"] = directory
        try:
            return await self._server.request(
                method, path, query=asked, body=body, timeout_s=timeout_s
            )
        except ProcessExited:
            # the connection ends a moment before the process, and that knows why
            if await self.handle.wait_exit(_EXIT_S) is not None:
                raise await self.handle.failure() from None
            raise

    async def ask(self, path: str, tag: str) -> None:
        """Let the answer to a GET come as a line of the feed, `got: tag`. Raises ProviderError."""
        await self.handle.write(json.dumps({"get": path, "tag": tag}))

    async def failure(self) -> ProviderError:
        """Why its feed has ended."""
        return await self.handle.failure()

    async def close(self) -> None:
        """Stop reading; the process is not touched. Idempotent."""
        self._closed = True
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait({self._reader})

    def _read_on(self) -> None:
        self._reader = self._tasks.spawn(self._read(), name=f"read {self.handle.child_id}")

    async def _read(self) -> None:
        try:
            async with aclosing(self.handle.lines()) as frames:
                async for frame in frames:
                    self._take(frame)
                    for inbox in list(self._inboxes):
                        await inbox.room()
        except ChildGone:
            pass  # this server lets go of it
        finally:
            for inbox in list(self._inboxes):
                inbox.close()
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_result(0)
            if not self._up.done() and not self._closed:
                self._up.set_exception(_explained(await self.handle.failure()))
                self._up.exception()

    def _take(self, frame: Frame) -> None:
        if isinstance(frame, Oversize):
            self._hand(Line(None, frame.end))
        if not isinstance(frame, Complete):
            return
        # its shells know the secret: what they print of it must not come into a chat
        text = frame.text.replace(self._secret, MASK) if self._secret else frame.text
        message = parse(text)
        if message is None:
            return
        if (port := int_of(message, "port")) and self._server is None:
            self._listening(port)
        if (tag := text_of(message, "got")) in self._answers:
            answer = self._answers.pop(tag)
            if not answer.done():
                answer.set_result(int_of(message, "status") or 0)
        self._hand(Line(message, frame.end))

    def _hand(self, line: Line) -> None:
        if self._kept is not None:
            self._kept.append(line)
        for inbox in self._inboxes:
            inbox.put(line)

    def _listening(self, port: int) -> None:
        key = base64.b64encode(f"{USER}:{self._secret}".encode()).decode()
        self._server = LoopbackServer(f"http://127.0.0.1:{port}", {"Authorization": f"Basic {key}"})
        if not self._up.done():
            self._up.set_result(None)

    async def _forget_later(self) -> None:
        await asyncio.sleep(KEPT_S)
        self._kept = None


def _explained(failure: ProcessExited) -> ProcessExited:
    lines = failure.stderr_tail.strip().splitlines()
    if not lines:
        return failure
    return ProcessExited(
        f"opencode did not start: {lines[-1][:300]}",
        exit_code=failure.exit_code,
        signal=failure.signal,
        stderr_tail=failure.stderr_tail,
        hint="Run `opencode models` once in a terminal to see what is wrong.",
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
