"""One run in opencode: lines of its feed in, steps out; answers, steering and Stop back.

The process serves other chats as well, so a run never ends it. Deadlines are for what opencode does
not say: a prompt that it took and did not begin, a turn that it calls idle without an end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final
from urllib.parse import urlencode

from ...errors import ProviderError, ProviderTimeout
from ...process.loopback import HttpRefused
from ...process.tasks import TaskOwner
from ...protocol.events import Ask, EventBody, Notice
from ...protocol.resources import AskAnswer, Attachment, RunRequest
from ...protocol.words import PERMISSIONS, Permission
from ..base import Step
from .answers import Answers
from .arrivals import has_prompt, steered
from .inbox import Inbox, Line
from .link import OpencodeLink
from .permissions import decide
from .prompts import image_parts, steered_parts
from .sessions import set_rules
from .translate import Translator, Turn
from .wire import Json, int_of, message_id, suffix_of, text_of

BEGIN_S: Final = 30.0
"""For a prompt that was taken: longer, and it will never begin."""
DOUBT_S: Final = 0.5
REFUSED_S: Final = 2.0
ABORT_S: Final = 5.0
HEED_S: Final = 10.0
"""For the turn to end after it was told to."""
FORCED_S: Final = 2.0
STEER_S: Final = 5.0
"""For a message that was put in, and may not have arrived, when all else is over."""

_log = logging.getLogger(__name__)


class OpencodeRun:
    """Implements `base.AgentRun`. `on_end` is called once, when nothing is read for it any more."""

    def __init__(
        self,
        link: OpencodeLink,
        inbox: Inbox,
        request: RunRequest,
        turn: Turn,
        tasks: TaskOwner,
        *,
        on_end: Callable[[], None],
        seeing: bool = False,
    ) -> None:
        self._link = link
        self._inbox = inbox
        self._request = request
        self._turn = turn
        self._translator = Translator(turn)
        self._answers = Answers(link, self._translator.pending.open)
        self._tasks = tasks
        self._on_end = on_end
        self._seeing = seeing
        self._permission = request.permission
        self._steered = 0
        self._over = asyncio.Event()
        self._left = False
        self._cancelling: asyncio.Task[None] | None = None
        self._looking = False
        self._runaway = False
        self._refused: ProviderError | None = None

    def look_ahead(self) -> bool:
        """Of what an earlier server has read: know what was put in before an end is judged.
        Whether the prompt is in it."""
        lines = self._inbox.waiting()
        for suffix in steered(self._turn, lines):
            self._steered += 1
            self._translator.expect(suffix)
        return has_prompt(self._turn, lines)

    def refuse(self, error: ProviderError) -> None:
        """The prompt was not taken: the run ends with `error`."""
        self._refused = self._refused or error
        self._inbox.close()

    # ---- steps ------------------------------------------------------------------------------

    async def steps(self) -> AsyncIterator[Step]:
        """See `base.AgentRun.steps`."""
        translator = self._translator
        try:
            while True:
                line = await self._next()
                if line is None:
                    if self._left:
                        yield Step(self._translator.end(stopped=True))
                        return
                    raise self._refused or await self._link.failure()
                bodies = await self._read(line)
                if translator.over:
                    self._over.set()
                    stopped = self._cancelling is not None
                    yield Step((*bodies, *translator.end(stopped=stopped)), line.end)
                    return
                yield Step(tuple(bodies), line.end)
        finally:
            self._over.set()
            self._link.leave(self._inbox)
            self._on_end()

    async def _next(self) -> Line | None:
        """The next line, None when there is none; asks opencode when it keeps silent too long.

        Raises ProviderTimeout.
        """
        while True:
            try:
                async with asyncio.timeout(self._patience()):
                    return await self._inbox.get()
            except TimeoutError:
                await self._doubt()

    def _patience(self) -> float | None:
        translator = self._translator
        if translator.in_doubt and not self._looking:
            return DOUBT_S if translator.begun else REFUSED_S
        if translator.waits_in_vain:
            return STEER_S
        return None if translator.begun else BEGIN_S

    async def _doubt(self) -> None:
        translator = self._translator
        if translator.waits_in_vain:
            translator.give_up_waiting()
        elif not translator.begun and not translator.in_doubt:
            await self._abort(FORCED_S)
            raise ProviderTimeout(
                f"opencode took the prompt and began nothing for {BEGIN_S:g} s.",
                hint="Send it again.",
            )
        self._looking = True
        await self._look("/session/status", "status")

    async def _look(self, path: str, what: str) -> None:
        """Let an answer come as a line, behind all that was said before."""
        query = urlencode({"directory": self._request.cwd})
        with suppress(ProviderError):  # its end comes through the inbox
            await self._link.ask(f"{path}?{query}", f"{self._request.run_id}:{what}")

    async def _read(self, line: Line) -> list[EventBody]:
        if line.message is None:
            text = "An event of opencode's was too long and was left out."
            return [Notice(level="warning", code="line_too_long", text=text)]
        translator = self._translator
        bodies = [*translator.read(line.message)]
        if text_of(line.message, "got") == f"{self._request.run_id}:status":
            self._looking = False
        if (int_of(line.message, "times") or 0) > 1 and translator.session is not None:
            await self._reconcile(translator.session)
        for asked in translator.pending.new:
            decision = decide(self._permission, asked, by_child=translator.is_child(asked))
            if decision != "ask":
                bodies = [body for body in bodies if not _is_ask(body, text_of(asked, "id"))]
                opened = translator.pending.open.pop(text_of(asked, "id"))
                telling = self._answers.give_by_itself(opened, allowed=decision == "allow")
                self._tasks.spawn(telling, name=f"answer {self._request.run_id}")
        translator.pending.new.clear()
        if translator.ending.runaway and not self._runaway:
            self._runaway = True
            self._tasks.spawn(self._abort(ABORT_S), name=f"runaway {self._request.run_id}")
        return bodies

    async def _reconcile(self, session: str) -> None:
        """What may have come while nobody listened: all is read again, and told once."""
        await self._look(f"/session/{session}/children", "children")
        await self._look(f"/session/{session}/message", f"messages:{session}")
        for kind in ("permission", "question"):
            await self._look(f"/{kind}", f"{kind}:{self._request.cwd}")
        await self._look("/session/status", "status")

    # ---- on their way back ------------------------------------------------------------------

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        """See `base.AgentRun.answer`. Raises AlreadyResolved when opencode waits no more."""
        await self._answers.give(ask_id, answer)

    async def cancel(self, *, force: bool = False) -> None:
        """See `base.AgentRun.cancel`. A turn that does not heed it is left: the next run of the
        conversation waits until it has ended."""
        if self._over.is_set():
            return
        if force:
            self._cancelling = self._tasks.spawn(
                self._stop(FORCED_S, 0.0), name=f"force {self._request.run_id}"
            )
        elif self._cancelling is None:
            self._cancelling = self._tasks.spawn(
                self._stop(ABORT_S, HEED_S), name=f"cancel {self._request.run_id}"
            )

    @property
    def can_steer(self) -> bool:
        """See `base.AgentRun.can_steer`."""
        return self._takes_more()

    def _takes_more(self) -> bool:
        return self._translator.begun and self._cancelling is None and not self._over.is_set()

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """See `base.AgentRun.steer`. opencode takes it up between two calls of the model; the run
        lasts until it was answered."""
        translator = self._translator
        if not self._takes_more() or translator.session is None:
            return False
        images = await asyncio.to_thread(image_parts, attachments, seeing=self._seeing)
        if not self._takes_more():
            return False
        self._steered += 1
        suffix = suffix_of(self._request.run_id, self._steered)
        translator.expect(suffix)  # before it is on its way: only its answer can end the run now
        body: Json = {"messageID": message_id(suffix), "parts": steered_parts(text, images)}
        try:
            await self._link.call(
                "POST",
                f"/session/{translator.session}/prompt_async",
                directory=self._request.cwd,
                body=body,
            )
        except HttpRefused as error:
            _log.info("run=%s: %s", self._request.run_id, error)
            translator.unexpect(suffix)
            return False
        return True

    async def set_permission(self, permission: Permission) -> bool:
        """See `base.AgentRun.set_permission`.

        Rules that are added hold from the model's next reply on: calls of this one go by the rules
        before (measured). Lower at once is therefore only what we answer ourselves.
        """
        session = self._translator.session
        if session is None or self._over.is_set():
            return False
        lower = PERMISSIONS.index(permission) < PERMISSIONS.index(self._permission)
        if lower and self._permission != "ask":
            return False
        await set_rules(self._link, self._request.cwd, session, permission)
        self._permission = permission
        return True

    # ---- inside -----------------------------------------------------------------------------

    async def _stop(self, abort_s: float, heed_s: float) -> None:
        await self._abort(abort_s)
        with suppress(TimeoutError):
            async with asyncio.timeout(heed_s):
                await self._over.wait()
        if not self._over.is_set():
            _log.warning("run=%s does not end: it is left", self._request.run_id)
            self._left = True
            self._inbox.close()

    async def _abort(self, timeout_s: float) -> None:
        session = self._translator.session
        if session is None:
            return
        try:
            await self._link.call(
                "POST",
                f"/session/{session}/abort",
                directory=self._request.cwd,
                timeout_s=timeout_s,
            )
        except ProviderError as error:
            _log.info("run=%s: abort: %s", self._request.run_id, error)


def _is_ask(body: EventBody, ask_id: str) -> bool:
    return isinstance(body, Ask) and body.ask_id == ask_id
