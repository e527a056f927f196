"""What people tell a running agent: answers to its asks, and a lower permission.

An answer is stored first, then written to the agent; the first one wins. After a take-over the
agent may or may not have got the answers of before: what is not proved to have reached it is
written again once the ask was read again. Agents ignore an answer to an ask that is not open.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from ..errors import AgentChatError, AlreadyResolved, Busy, NotFound
from ..process.tasks import TaskOwner
from ..protocol.events import Ask, AskResolved, EventBody, Notice
from ..protocol.resources import AskAnswer, Author
from ..protocol.words import PERMISSIONS, Permission
from .asks import check_answer, resolution
from .room import Room
from .run_log import RunLog
from .stopping import Stopper

log = logging.getLogger(__name__)

ANSWER_DEADLINE_S = 15.0

NOT_DELIVERED = "The answer is kept, but the agent could not be told. Stop the run and try again."
NOT_KEPT = (
    "A secret answer may not have reached the agent before the server stopped, and secrets are not "
    "kept. If the agent does not go on, stop the run and send the prompt again."
)


class Answers:
    """The way from people to the agent of one run."""

    def __init__(
        self,
        run_log: RunLog,
        room: Room,
        agent: Stopper,
        owner: TaskOwner,
        permission: Permission,
        undelivered: Iterable[str] = (),
    ) -> None:
        """`undelivered`: asks whose stored answer is not proved to have reached the agent."""
        self._log = run_log
        self._room = room
        self._agent = agent
        self._owner = owner
        self._permission = permission
        self._undelivered = set(undelivered)
        # asks of before a take-over that the agent's run has not read again yet
        self._unread = set(run_log.tracker.asks) | self._undelivered
        self._given: dict[str, AskAnswer] = {}

    def knows(self, ask_id: str) -> bool:
        """Whether an ask of this run has this id, open or not."""
        tracker = self._log.tracker
        return ask_id in tracker.asks or ask_id in tracker.resolved

    async def answer(
        self,
        ask_id: str,
        answer: AskAnswer,
        author: Author,
        stored: Callable[[Ask, AskResolved], None] | None,
        *,
        cancelling: bool,
    ) -> AskResolved:
        """A person's answer; `stored` is called before the agent is told.

        Raises AlreadyResolved, NotFound, BadRequest, Busy while the run is being stopped,
        StorageError (the ask stays open). Once stored, a failure to write is the run's (a notice,
        and the run's own end), never the person's; on cancel the answer still goes to the agent.
        """
        tracker = self._log.tracker
        ask = tracker.asks.get(ask_id)
        if ask is None:
            won = tracker.resolved.get(ask_id)
            if won is not None:
                raise AlreadyResolved(
                    "This was answered before.", answer=won.model_dump(mode="json")
                )
            raise NotFound("There is no such question in this run.", ask_id=ask_id)
        checked = check_answer(ask, answer)
        if cancelling:
            # what was allowed after Stop could still be begun
            raise Busy("The run is being stopped.", run_id=self._log.run_id)
        resolved = resolution(ask, checked, author)
        self._log.answer(resolved)
        chosen = next((o for o in ask.options if o.id == resolved.option_id), None)
        if chosen is not None and chosen.leads_to is not None:
            self._permission = chosen.leads_to
        if stored is not None:
            stored(ask, resolved)
        self._room.show_state()
        if ask_id in self._unread:
            # the agent's run learns of the ask when its line is read again: then it is told
            self._given[ask_id] = checked
            self._undelivered.add(ask_id)
            return resolved
        # not a part of the request: a page that closes now must not keep the answer from the agent
        telling = self._owner.spawn(self._tell(ask_id, checked), name=f"answer {self._log.run_id}")
        await asyncio.wait({telling})
        return resolved

    def replayed(self, bodies: Sequence[EventBody]) -> None:
        """A line of before the take-over was read again: answers to its asks can be given."""
        for body in bodies:
            if not isinstance(body, Ask):
                continue
            self._unread.discard(body.ask_id)
            if body.ask_id in self._undelivered:
                self._undelivered.discard(body.ask_id)
                self._owner.spawn(self._tell_again(body.ask_id), name=f"answer {self._log.run_id}")

    async def lower_permission(self, permission: Permission) -> bool:
        """Pass a lower permission to the running agent; False where it holds from the next run."""
        if PERMISSIONS.index(permission) >= PERMISSIONS.index(self._permission):
            return True  # this run may do no more than that as it is
        run = self._agent.run
        if run is None:
            return False
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                lowered = await run.set_permission(permission)
        except (AgentChatError, TimeoutError) as error:
            log.info("chat=%s run=%s: %s", self._log.chat_id, self._log.run_id, error)
            return False
        if lowered:
            self._permission = permission
        return lowered

    def caught_up(self) -> None:
        """The agent's run is past all that is stored: what was not read again never will be."""
        self._unread.clear()
        for ask_id in [*self._undelivered]:
            self._undelivered.discard(ask_id)
            self._owner.spawn(self._tell_again(ask_id), name=f"answer {self._log.run_id}")

    async def _tell_again(self, ask_id: str) -> None:
        answer = self._given.pop(ask_id, None)
        resolved = self._log.tracker.resolved.get(ask_id)
        if answer is None and resolved is not None:
            answer = answer_of(resolved)
        if answer is not None:
            await self._tell(ask_id, answer)
        else:
            self._notice(NOT_KEPT)

    async def _tell(self, ask_id: str, answer: AskAnswer) -> None:
        run = self._agent.run
        if run is None:
            return
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                await run.answer(ask_id, answer)
        except AlreadyResolved as error:
            log.info("run=%s: the agent has that answer: %s", self._log.run_id, error)
        except (AgentChatError, TimeoutError) as error:
            log.warning("run=%s: answer not delivered: %s", self._log.run_id, error)
            self._notice(NOT_DELIVERED)
        except Exception:
            log.exception("run=%s: answer not delivered", self._log.run_id)
            self._notice(NOT_DELIVERED)

    def _notice(self, text: str) -> None:
        try:
            notice = Notice(level="warning", code="answer_not_delivered", text=text)
            self._log.commit([notice], None)
        except AgentChatError as error:
            log.warning("run=%s: %s", self._log.run_id, error)


def answer_of(resolved: AskResolved) -> AskAnswer | None:
    """The answer as it was given; None when it held a secret (which is not kept)."""
    if resolved.decision == "withdrawn":
        return None
    answers: dict[str, list[str] | str] | None = None
    if resolved.answers is not None:
        answers = {name: value for name, value in resolved.answers.items() if value is not None}
        if len(answers) < len(resolved.answers):
            return None
    return AskAnswer(
        decision=resolved.decision,
        option_id=resolved.option_id,
        answers=answers,
        message=resolved.message,
    )
