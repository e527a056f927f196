"""Translates the lines of one run into event bodies. Pure: no clock, no random ids, no I/O.

The same lines give the same bodies: re-attachment depends on it. What we know besides the lines
(Stop was pressed, an answer was no) is told by the run and changes nothing that came before.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from ....protocol.events import AskResolved, EventBody, Notice, Plan, Session, System
from ....protocol.tools import PlanEntry
from ..wire import Json, first_text, id_text, object_of, objects_of, sound_id, text_of
from .asks import OpenAsk, open_ask
from .calls import ToolCalls
from .endings import ending
from .places import Places
from .text import TextStream
from .usage import UsageCount

_SILENT = frozenset({"user_message_chunk", "available_commands_update", "config_option_update"})
_STATUS = {"pending": "pending", "in_progress": "in_progress", "completed": "completed"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turn:
    """The run whose lines are read. `prompt_id` is the id of its prompt on the wire, `ready_prefix`
    the beginning of the id whose rest is the conversation's."""

    provider: str
    run_id: str
    cwd: str
    prompt_id: str
    ready_prefix: str
    name: str = "The agent"
    sign_in_hint: str | None = None


class Translator:
    """Reads one run. `finished` once its `complete` was given; what follows belongs to no run."""

    def __init__(self, turn: Turn) -> None:
        self.finished = False
        self.stopped = False
        """A person has pressed Stop."""
        self.replaying = False
        """The lines were written for an earlier server: who answered an ask then is not known."""
        self.asks: dict[str, OpenAsk] = {}
        """The asks that wait for an answer; who answers takes theirs out."""
        self._turn = turn
        self._run = sound_id(turn.run_id)
        places = Places(turn.cwd)
        self._places = places
        self._text = TextStream(self._run)
        self._calls = ToolCalls(self._run, places)
        self._usage = UsageCount()
        self._session = ""
        self._mode = ""
        self._unknown: set[str] = set()

    def read(self, message: Json) -> tuple[EventBody, ...]:
        """The bodies that a message brings; none for what is not for a person."""
        if self.finished:
            return ()
        method = text_of(message, "method")
        if not method:
            return tuple(self._answer(message))
        params = object_of(message, "params")
        match method:
            case "session/update":
                session = self._session_is(text_of(params, "sessionId"))
                return (*session, *self._update(object_of(params, "update")))
            case "session/request_permission":
                return tuple(self._ask(id_text(message), params))
            case "$/cancel_request":
                return tuple(self._withdrawn(id_text({"id": params.get("requestId")})))
        if method.startswith("session/") and "id" not in message:
            return tuple(self._strange(f"message {method}"))
        return ()  # agents have notifications of their own; what is for a person comes as an update

    def denied(self, opened: OpenAsk) -> None:
        """A person, or the chat's permission, said no to this call."""
        self._calls.deny(opened.call_id)

    def _answer(self, message: Json) -> list[EventBody]:
        answered = id_text(message)
        if answered.startswith(self._turn.ready_prefix):
            return self._session_is(answered[len(self._turn.ready_prefix) :])
        if answered != self._turn.prompt_id:
            return []
        self.finished = True
        self._usage.answer(object_of(message, "result"))
        used, stopped = self._usage.now(), self.stopped
        end = ending(message, used, stopped=stopped, sign_in=self._turn.sign_in_hint)
        return [*self._text.end(), *self._calls.finish(), *self._usage.news(), *end]

    def _update(self, update: Json) -> list[EventBody]:
        match kind := text_of(update, "sessionUpdate"):
            case "agent_message_chunk" | "agent_thought_chunk":
                return self._chunk(update)
            case "tool_call" | "tool_call_update":
                bodies = self._calls.take(update)
                return [*self._text.end(), *bodies, *self._taken_back()] if bodies else []
            case "plan":
                return [*self._text.end(), _plan(update)]
            case "usage_update":
                self._usage.context(update)
                return [*self._usage.news()]
            case "current_mode_update":
                return self._mode_is(first_text(update, "currentModeId", "modeId"))
            case "session_info_update":
                title = text_of(update, "title")
                return [System(subtype="title", data={"title": title})] if title else []
            case _ if kind in _SILENT:
                return []
        return self._strange(f"update {kind or '(none)'}")

    def _chunk(self, update: Json) -> list[EventBody]:
        self._usage.chunk(update)
        told = self._usage.news()
        if text_of(object_of(update, "_meta"), "parentToolCallId"):
            return [*told]  # a helper's words reach the reader through its result
        content = object_of(update, "content")
        if text_of(content, "type") not in ("text", ""):
            return [*told, *self._strange(f"content {text_of(content, 'type')}")]
        return [*self._text.chunk(update), *told]

    def _ask(self, request_id: str, params: Json) -> list[EventBody]:
        asked = object_of(params, "toolCall")
        raw_id = text_of(asked, "toolCallId")
        bodies, known = self._calls.ask(asked)
        ask_id = sound_id(f"{self._run}:ask:{request_id}")
        tool_id = self._calls.tool_id(raw_id) if raw_id else ""
        opened = open_ask(request_id, ask_id, tool_id, known, params, self._places)
        if ask_id in self.asks:
            return []
        self.asks[ask_id] = opened
        return [*self._text.end(), *bodies, opened.ask]

    def _withdrawn(self, request_id: str) -> list[EventBody]:
        gone = [ask_id for ask_id, one in self.asks.items() if one.request_id == request_id]
        for ask_id in gone:
            del self.asks[ask_id]
        return [AskResolved(ask_id=ask_id, decision="withdrawn") for ask_id in gone]

    def _taken_back(self) -> list[EventBody]:
        """An ask whose call is over without an answer waits for nobody any more."""
        if self.replaying:
            return []
        over = [one.request_id for one in self.asks.values() if self._calls.has_ended(one.call_id)]
        return [body for request_id in over for body in self._withdrawn(request_id)]

    def _session_is(self, session_id: str) -> list[EventBody]:
        if self._session or not session_id:
            return []
        self._session = session_id
        provider, known = self._turn.provider, sound_id(session_id)
        return [Session(provider=provider, provider_session_id=known)]

    def _mode_is(self, mode: str) -> list[EventBody]:
        before, self._mode = self._mode, mode
        if not mode or mode == before:
            return []
        return [System(subtype="permission_mode", data={"mode": mode})]

    def _strange(self, what: str) -> list[EventBody]:
        if what in self._unknown or len(self._unknown) > 20:
            return []
        self._unknown.add(what)
        _log.info("%s sent an unknown %s; it is passed over", self._turn.name, what[:100])
        text = f"{self._turn.name} sent something that cannot be shown here ({what[:100]})."
        return [Notice(level="info", code="unknown_message", text=text)]


def _plan(update: Json) -> Plan:
    return Plan(
        entries=[
            PlanEntry.model_validate(
                {
                    "text": text_of(entry, "content"),
                    "status": _STATUS.get(text_of(entry, "status"), "pending"),
                }
            )
            for entry in objects_of(update, "entries")
        ]
    )
