"""One CLI process with its conversation: reads everything, answers what is not a run's business."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

from ...errors import ChildGone, ProviderError, ProviderTimeout, Unsupported
from ...process.framing import Frame, Line, Oversize
from ...process.ladder import Ladder
from ...process.launcher import Handle
from ...process.tasks import TaskOwner
from .control import INITIALIZE_TIMEOUT_S, ControlChannel, PostedRequest
from .inbox import Inbox, Learned, Lost, Received
from .launch import CliMode, Fixed, Live, SessionStart
from .models import plan_usage_of
from .replies import NO_RUN, deny, response, unsupported
from .unhosted import LeftBehind, Unhosted
from .wire import Json, dump, object_of, parse, text_of
from .work import Work

LADDER: Final = Ladder(eof_s=5.0, term_s=5.0, kill_s=2.0)
"""The CLI loses its last message when TERM comes right behind the end of input."""
FORCED: Final = Ladder(eof_s=1.0, term_s=2.0, kill_s=2.0)

_log = logging.getLogger(__name__)


class ClaudeSession:
    """A running CLI. One consumer at a time takes part, by its `Inbox`; between runs it is idle.

    What it does without being asked waits in `unhosted`, and `on_unasked` is called.
    """

    def __init__(
        self,
        handle: Handle,
        fixed: Fixed,
        live: Live,
        start: SessionStart,
        tasks: TaskOwner,
        on_initialized: Callable[[Json], None],
    ) -> None:
        self.handle = handle
        self.fixed = fixed
        self.session_id = start.session_id
        self.start = start
        self.control = ControlChannel(handle.write)
        self.failure: ProviderError | None = None
        """Why we gave it up ourselves."""
        self.abandoned = False
        """A turn of it was left by its consumer: what it does is not known any more."""
        self.said: list[str] = []
        """The uuids of a person's messages that were sent to it, newest last."""
        self.work = Work()
        self.rules: set[str] = set()
        """What it was told to allow for this chat, each as `canonical` text."""
        self.left_behind = LeftBehind()
        self.unhosted = Unhosted()
        self.on_unasked: Callable[[], None] = lambda: None
        self._model, self._effort, self._mode = live.model, live.effort, str(live.mode)
        self._tasks = tasks
        self._on_initialized = on_initialized
        self._inbox: Inbox | None = None
        self._ended = asyncio.Event()
        self._noise = False
        self._read_upto = handle.position

    @property
    def reusable(self) -> bool:
        """Whether it can take another prompt now."""
        return not (self._ended.is_set() or self.abandoned or self._inbox or self.handle.exit)

    @property
    def busy(self) -> bool:
        """Whether a run goes on in it, or a turn that waits for its run."""
        return not self._ended.is_set() and (self._inbox is not None or self.unhosted.waits)

    @property
    def bypasses(self) -> bool:
        """Whether the CLI itself lets every call pass."""
        return self._mode == "bypassPermissions"

    async def open(self) -> None:
        """Begin to read and introduce ourselves; the answer is awaited beside the first prompt."""
        self.join()
        posted = await self.control.post("initialize", forwardSubagentText=True)
        self._tasks.spawn(self._initialized(posted), name=f"initialize {self.handle.child_id}")

    def join(self) -> None:
        """Begin to read a CLI that an earlier server has introduced itself to."""
        self._tasks.spawn(self._read(), name=f"read {self.handle.child_id}")

    def attach(self, inbox: Inbox) -> int:
        """Give what comes from now on to `inbox`, and before it what no run has taken yet.

        Gives the offset in the output where that begins.
        """
        self._inbox = inbox
        waiting = self.unhosted.hand_over()
        for begins, item in waiting:
            self._deliver(item, begins)
        return waiting[0][0] if waiting else self.handle.position

    def detach(self, inbox: Inbox) -> None:
        """The consumer of `inbox` is gone."""
        if self._inbox is inbox:
            self._inbox = None
            self.abandoned = self.abandoned or not inbox.over.is_set()
            inbox.close()

    async def send(self, message: Json) -> None:
        """Write one line. Raises ProviderError when the CLI is gone or does not read."""
        await self.handle.write(dump(message))
        if text_of(message, "type") == "user":
            self.said.append(text_of(message, "uuid"))

    def forget(self, message_uuid: str) -> None:
        """This message of a person's, and what came after it, was cut."""
        if message_uuid in self.said:
            del self.said[self.said.index(message_uuid) :]

    async def apply(self, live: Live) -> None:
        """Bring model, effort and mode of the running CLI to `live`.

        Raises ProviderError or Unsupported; then the process is of no use for this run.
        """
        if live.model != self._model:
            await self.control.request("set_model", model=live.model)
            self._model = live.model
        if live.effort != self._effort:
            # null is the CLI's own default again
            settings: Json = {"effortLevel": live.effort}
            await self.control.request("apply_flag_settings", settings=settings)
            self._effort = live.effort
        await self.set_mode(live.mode)

    async def set_mode(self, mode: CliMode) -> None:
        """Change the permission mode, also in mid-turn; raises like `apply`."""
        if mode != self._mode:
            await self.control.request("set_permission_mode", mode=mode)
            self._mode = mode

    async def give_up_unasked(self) -> None:
        """Nobody can follow what it does by itself: stop that. Its lines wait for the next run."""
        for request_id in self.unhosted.give_up():
            self._reply(response(request_id, deny(NO_RUN)))
        try:
            await self.control.request("interrupt", cancel_queued=True)
        except (ProviderError, Unsupported) as error:
            _log.info("child=%s: interrupt: %s", self.handle.child_id, error)

    async def stop(self, ladder: Ladder = LADDER) -> None:
        """End the process; returns once it is quiet."""
        await self.handle.stop(ladder)

    async def _read(self) -> None:
        try:
            async with aclosing(self.handle.lines()) as frames:
                async for frame in frames:
                    self._take(frame)
                    if self._inbox is not None:
                        await self._inbox.room()
        except ChildGone as error:
            self.failure = error  # this server lets go of it
        finally:
            self._ended.set()
            self.control.close(self.failure or await self.handle.failure())
            if self._inbox is not None:
                self._inbox.close()

    def _take(self, frame: Frame) -> None:
        begins, self._read_upto = self._read_upto, frame.end
        if isinstance(frame, Oversize):
            self._deliver(Lost(frame.end, frame.dropped), begins)
            return
        if not isinstance(frame, Line):
            return  # torn: nothing can be said of it
        message = parse(frame.text)
        if message is None:
            self._note_noise(frame.text)
            return
        match text_of(message, "type"):
            case "control_response":
                self.control.resolve(object_of(message, "response"))
                return
            case "control_request" if not self._is_for_run(message):
                return
            case "system" | "result":
                self._mode = text_of(message, "permissionMode") or self._mode
                self.work.note(message)
                if text_of(message, "subtype") == "init" or text_of(message, "type") == "result":
                    self.session_id = text_of(message, "session_id") or self.session_id
        self._deliver(Received(message, frame.end, len(frame.text)), begins)

    def _deliver(self, item: Received | Lost, begins: int) -> None:
        if self._inbox is not None and not self._inbox.over.is_set():
            self._inbox.put(item)
        elif self.unhosted.take(item, begins):
            self.on_unasked()
        elif self.unhosted.full:
            self.unhosted.given_up = True
            self._tasks.spawn(self.give_up_unasked(), name=f"give up {self.handle.child_id}")

    def _is_for_run(self, message: Json) -> bool:
        """Whether a run answers this request; what nobody can answer is answered here."""
        request_id = text_of(message, "request_id")
        subtype = text_of(object_of(message, "request"), "subtype")
        if subtype != "can_use_tool":
            _log.info("Claude Code asked for %s, which this host does not do", subtype)
            self._reply(unsupported(request_id, subtype))
            return False
        if self.unhosted.given_up and (self._inbox is None or self._inbox.over.is_set()):
            self._reply(response(request_id, deny(NO_RUN)))
            return False
        return True

    def _reply(self, message: Json) -> None:
        # in a task of its own: the reader must go on while the CLI does not read
        self._tasks.spawn(self._sent(message), name=f"reply {self.handle.child_id}")

    async def _sent(self, message: Json) -> None:
        try:
            await self.send(message)
        except ProviderError as error:
            _log.info("child=%s: an answer was not delivered: %s", self.handle.child_id, error)

    async def _initialized(self, posted: PostedRequest) -> None:
        try:
            answer = await self.control.answer_to(posted, timeout_s=INITIALIZE_TIMEOUT_S)
        except ProviderTimeout as error:
            self.failure = error
            await self.stop()
        except (ProviderError, Unsupported) as error:
            _log.info("child=%s: no answer to initialize: %s", self.handle.child_id, error)
        else:
            self._on_initialized(answer)
            usage = await plan_usage_of(answer, self.control)
            if usage is not None and self._inbox is not None:
                self._inbox.put(Learned(usage))

    def _note_noise(self, line: str) -> None:
        if line.strip() and not self._noise:
            self._noise = True
            _log.info(
                "child=%s: Claude Code printed a line that is no message", self.handle.child_id
            )
