"""Translates the events of one run into event bodies. Pure: no clock, no random ids, no I/O.

The same events give the same bodies, live and replayed: what is never replayed (progress, status)
brings only what a later event replaces, and has no position.
"""

from __future__ import annotations

import logging

from ....protocol.events import AskResolved, Complete, Error, EventBody, Notice, System
from ..wire import MAIN, Json, int_of, object_of, sound_id, text_of
from .asks import OpenAsk, open_approval, open_question
from .calls import ToolCalls
from .endings import UsageSum, cut_answer, failure, kept_prompt
from .notices import SILENT, notice_bodies
from .places import Places
from .text import TextStream
from .tools import kind_of
from .turns import Turns

POSITION_SHIFT = 32
"""A position is the event's seq, and in its lower bits the characters of the running step."""

_GLOBAL = ("event.workspace.", "event.session.", "event.config.", "event.model_catalog.")
_log = logging.getLogger(__name__)


class Translator:
    """Reads one run. `finished` once its `complete` was given; what follows is not the run's."""

    def __init__(
        self,
        run_id: str,
        cwd: str,
        *,
        unasked: bool = False,
        context_window: int | None = None,
    ) -> None:
        self.finished = False
        self.places = Places(cwd)
        self.asks: dict[str, OpenAsk] = {}
        """The asks that wait for an answer; who answers takes theirs out."""
        self.turns = Turns(run_id, unasked=unasked)
        self.planned = False
        """The agent may have entered or left its plan mode by itself."""
        self.stopping = False
        """A person has said Stop: a turn that then fails, was stopped."""
        self.position: int | None = None
        """Where the event that was read stands; None for one that is never replayed."""
        self._text = TextStream()
        self._calls = ToolCalls(run_id, self.places)
        self._usage = UsageSum(context_window)
        self._tool_of: dict[str, str | None] = {}
        self._error: Error | None = None
        self._cancelled = False
        self._cut = False
        self._steps = 0
        self._unknown: set[str] = set()

    @property
    def gap(self) -> bool:
        """Text is missing before the piece that was read last."""
        return self._text.gap

    def read(self, frame: Json) -> tuple[EventBody, ...]:
        """The bodies that an event brings; none for what is not for a person."""
        if self.finished:
            return ()
        kind, payload = text_of(frame, "type"), object_of(frame, "payload")
        agent = text_of(payload, "agent_id") or text_of(payload, "agentId") or MAIN
        seq = int_of(frame, "seq") or 0
        volatile = frame.get("volatile") is True
        self.position = None if volatile else seq << POSITION_SHIFT
        if agent == MAIN and not volatile:
            self.turns.read(kind, payload)
        bodies = self._bodies(kind, payload, agent, int_of(frame, "offset"))
        if volatile and kind in ("assistant.delta", "thinking.delta"):
            self.position = (seq << POSITION_SHIFT) + self._text.count
        if self.turns.over:
            bodies += self.end()
        return tuple(bodies)

    def end(self) -> list[EventBody]:
        """The run's last bodies."""
        self.finished = True
        usage = self._usage.total
        bodies = self._text.finish()
        outcome = "cancelled" if self._cancelled else "completed"
        if self._error is not None and self.stopping:
            # Kimi Code calls a turn failed that is stopped while it shortens the conversation
            text = self._error.message
            bodies.append(Notice(level="warning", code=self._error.code, text=text))
            outcome = "cancelled"
        elif self._error is not None:
            bodies += [kept_prompt(), self._error]
            outcome = "failed"
        complete = {"outcome": outcome, "usage": usage, "num_turns": self._steps or None}
        return [*bodies, Complete.model_validate(complete)]

    def _bodies(self, kind: str, payload: Json, agent: str, offset: int | None) -> list[EventBody]:
        main = agent == MAIN
        if main and (turn := int_of(payload, "turnId")) is not None and not self.turns.has(turn):
            return []  # of a prompt that was sent by another program
        match kind:
            case "assistant.delta" | "thinking.delta":
                # a helper's words reach the reader through its result
                text = payload.get("delta")
                return (
                    self._text.piece(kind, text, offset) if main and isinstance(text, str) else []
                )
            case "turn.step.started" if main:
                self._text.begin(text_of(payload, "stepId") or f"{turn}.{payload.get('step')}")
                return []
            case "turn.step.completed":
                return self._step_ended(payload, main=main)
            case "turn.step.retrying" if main:
                return [*self._text.withdraw(), *(notice_bodies(kind, payload) or [])]
            case "tool.call.started":
                self.planned |= kind_of(text_of(payload, "name")) == "plan"
                return self._calls.begin(payload, agent)
            case "tool.progress":
                return self._calls.progress(payload, agent)
            case "tool.result":
                return self._calls.end(payload, agent)
            case "subagent.spawned":
                self._calls.helper(payload)
                return []
            case "turn.ended" if main:
                return self._turn_ended(payload)
        return self._interaction(kind, payload, agent)

    def _interaction(self, kind: str, payload: Json, agent: str) -> list[EventBody]:
        match kind:
            case "event.approval.requested" if text_of(payload, "approval_id"):
                tool_id, bodies = self._calls.announce(payload, agent)
                opened = open_approval(payload, tool_id, self.places)
                self._tool_of[opened.request_id] = tool_id
                self.asks[opened.ask.ask_id] = opened
                return [*bodies, opened.ask]
            case "event.question.requested" if text_of(payload, "question_id"):
                call = self._calls.tool_id_of(agent, text_of(payload, "tool_call_id"))
                opened = open_question(payload, call)
                self.asks[opened.ask.ask_id] = opened
                return [opened.ask]
            case "event.approval.resolved":
                return self._resolved(text_of(payload, "approval_id"), payload)
            case "event.question.answered" | "event.question.dismissed":
                return self._resolved(text_of(payload, "question_id"), payload)
            case "session.meta.updated":
                # a title that is only the first prompt says nothing
                own = object_of(payload, "patch").get("isCustomTitle") is not False
                title = text_of(payload, "title") if own else ""
                return [System(subtype="title", data={"title": title})] if title else []
        told = notice_bodies(kind, payload)
        if told is None:
            self._note_unknown(kind)
        return told or []

    def _resolved(self, request_id: str, payload: Json) -> list[EventBody]:
        ask_id = sound_id(request_id)
        tool_id = self._tool_of.get(request_id)
        if tool_id is not None and text_of(payload, "decision") == "rejected":
            self._calls.refuse(tool_id)
        if self.asks.pop(ask_id, None) is None:
            return []
        return [AskResolved(ask_id=ask_id, decision="withdrawn")]

    def automatic(self, frame: Json) -> tuple[EventBody, ...]:
        """`read` for an approval that the chat's permission answers: its call, and no ask."""
        payload = object_of(frame, "payload")
        self.position = (int_of(frame, "seq") or 0) << POSITION_SHIFT
        agent = text_of(payload, "agent_id") or MAIN
        tool_id, bodies = self._calls.announce(payload, agent)
        self._tool_of[text_of(payload, "approval_id")] = tool_id
        return tuple(bodies)

    def _step_ended(self, payload: Json, *, main: bool) -> list[EventBody]:
        usage = self._usage.add(object_of(payload, "usage"), main=main)
        bodies: list[EventBody] = [usage] if usage else []
        if not main:
            return bodies
        self._steps += 1
        self._cut = (
            text_of(payload, "finishReason") == "end_turn" and "providerFinishReason" not in payload
        )
        return [*self._text.finish(), *bodies]

    def _turn_ended(self, payload: Json) -> list[EventBody]:
        bodies = self._text.finish()
        reason = text_of(payload, "reason")
        self._cancelled = reason == "cancelled" or (self._cancelled and self.stopping)
        if reason in ("failed", "blocked"):
            self._error = failure(object_of(payload, "error"))
        elif reason == "completed":
            self._error = None
            if self._cut:
                bodies.append(cut_answer())
        return bodies

    def _note_unknown(self, kind: str) -> None:
        known = kind in SILENT or kind.startswith(("prompt.", "turn.", *_GLOBAL))
        if not known and kind not in self._unknown:
            self._unknown.add(kind)
            _log.info("Kimi Code sent an unknown event %s; it is passed over", kind[:100])
