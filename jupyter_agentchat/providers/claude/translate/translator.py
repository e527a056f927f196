"""Translates the lines of one run into event bodies. Pure: no clock, no random ids, no I/O.

The same lines give the same bodies, whole or in pieces: re-attachment depends on it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from ....protocol.events import AskResolved, EventBody, Notice, Session
from ..wire import Json, int_of, object_of, objects_of, parse, sound_id, text_of, texts_of, true_at
from .asks import OpenAsk, open_ask
from .calls import ToolCalls
from .commands import Commands
from .endings import ending, is_api_error, turn_between
from .notices import system_bodies
from .places import Places
from .text import TextStream

PROVIDER = "claude"

_IGNORED = frozenset(
    {
        "control_response",
        "control_request",  # all but can_use_tool are answered elsewhere
        "keep_alive",
        "rate_limit_event",
        "prompt_suggestion",
        "tool_progress",
        "tool_use_summary",
    }
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turn:
    """The run whose lines are read: its prompt's uuid on the wire and the project's directory."""

    prompt_uuid: str
    cwd: str


class Translator:
    """Reads one run. `finished` once its `complete` was given; what follows belongs to no run."""

    def __init__(self, turn: Turn) -> None:
        self.finished = False
        self.began = False
        """Whether the CLI opened the conversation; a refused resume ends before that."""
        self.asks: dict[str, OpenAsk] = {}
        """The asks that wait for an answer; who answers takes theirs out."""
        self.commands = Commands(turn.prompt_uuid)
        self._results: list[Json] = []
        self._places = Places(turn.cwd)
        self._text = TextStream()
        self._calls = ToolCalls(self._places)
        self._session: tuple[str, str] | None = None
        self._mode = ""
        self._api_error: Json = {}
        self._known_lines: set[str] = set()
        self._unknown: set[str] = set()

    def feed(self, line: str) -> tuple[EventBody, ...]:
        """The bodies that `line` brings; none for what is not for a person, or no message."""
        message = parse(line)
        return () if message is None else self.read(message)

    def read(self, message: Json) -> tuple[EventBody, ...]:
        """`feed` for a line that was parsed already."""
        if self.finished:
            return ()
        if self.commands.ends(message):
            self.finished = True
            moved = self._session_moved(text_of(message, "session_id"))
            end = ending(message, self._api_error, self._results)
            return (*moved, *self._calls.abandon(), *self._told_of(message), *end)
        return tuple(self._bodies(message))

    def _bodies(self, message: Json) -> list[EventBody]:
        parent = text_of(message, "parent_tool_use_id")
        match text_of(message, "type"):
            case "stream_event":
                return self._streamed(object_of(message, "event"), parent)
            case "assistant":
                return [] if self._is_repeated(message) else self._assistant(message, parent)
            case "user":
                return [] if self._is_repeated(message) else self._calls.end(message)
            case "system":
                return self._system(message)
            case "control_request":
                request = object_of(message, "request")
                if text_of(request, "subtype") == "can_use_tool" and text_of(message, "request_id"):
                    return self._ask(text_of(message, "request_id"), request)
            case "control_cancel_request":
                return self._withdrawn(text_of(message, "request_id"))
            case "conversation_reset":
                return self._reset(text_of(message, "new_conversation_id"))
            case "result":
                return self._between(message)
            case "command_lifecycle":
                return self._told_of(message)
            case kind if kind not in _IGNORED:
                self._note_unknown(kind)
        return []

    def _between(self, result: Json) -> list[EventBody]:
        """A turn ended, and the run did not."""
        if not self.commands.is_own_result(result):
            return []  # of a turn that the CLI began by itself
        self._results.append(result)
        failed, self._api_error = self._api_error, {}
        return [*self._calls.abandon(), *turn_between(result, failed)]

    def _told_of(self, message: Json) -> list[EventBody]:
        if not self.commands.lost(message):
            return []
        text = "Claude Code did not take a message that was sent into its turn."
        return [Notice(level="warning", code="steer_lost", text=text)]

    def _streamed(self, event: Json, parent: str) -> list[EventBody]:
        if parent:
            return []  # a helper's words reach the reader through its result
        index, block = int_of(event, "index") or 0, object_of(event, "content_block")
        match text_of(event, "type"):
            case "message_start":
                return self._turn_to(text_of(object_of(event, "message"), "id"))
            case "content_block_start" if text_of(block, "type") == "tool_use":
                self._calls.stream_begins(index, block)
            case "content_block_delta" if "partial_json" in (delta := object_of(event, "delta")):
                return self._calls.stream_goes_on(index, text_of(delta, "partial_json"))
        return self._text.event(event)

    def _assistant(self, message: Json, parent: str) -> list[EventBody]:
        if is_api_error(message):
            self._api_error = message
            return []
        inner = object_of(message, "message")
        message_id = text_of(inner, "id")
        bodies = [] if parent else self._turn_to(message_id)
        for block in objects_of(inner, "content"):
            bodies += self._block(block, message_id, parent)
        return bodies

    def _turn_to(self, message_id: str) -> list[EventBody]:
        if not message_id or message_id == self._text.message_id:
            return []
        return [*self._text.turn_to(message_id), *self._calls.abandon()]

    def _block(self, block: Json, message_id: str, parent: str) -> list[EventBody]:
        kind = text_of(block, "type")
        if kind in ("text", "thinking"):
            return [] if parent else self._text.whole(message_id, block)
        if not parent:
            self._text.pass_over(message_id, kind)
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            return self._calls.begin(block, parent)
        if kind.endswith("_tool_result"):
            return self._calls.finish(text_of(block, "tool_use_id"), block, {}, {})
        if kind == "redacted_thinking" or parent:
            return []
        self._note_unknown(f"content {kind}")
        text = f"Claude Code sent content of kind “{kind}”, which cannot be shown here."
        return [Notice(level="info", code="unknown_content", text=text)]

    def _system(self, message: Json) -> list[EventBody]:
        match text_of(message, "subtype"):
            case "init":
                self.began = True
                self._places.add(text_of(message, "cwd"))
                self._mode = text_of(message, "permissionMode")
                return self._session_is(text_of(message, "session_id"), text_of(message, "model"))
            case "compact_boundary":
                # what it kept comes once more, under its old uuids
                meta = object_of(message, "compact_metadata")
                self._known_lines.update(texts_of(object_of(meta, "preserved_messages"), "uuids"))
            case "conversation_reset":
                return self._reset(text_of(message, "new_conversation_id"))
            case "status" if mode := text_of(message, "permissionMode"):
                known, self._mode = self._mode, mode
                if not self.began or mode == known:
                    return []  # before the turn it is what we asked for ourselves
        bodies = system_bodies(message)
        if bodies is None:
            self._note_unknown(f"system {text_of(message, 'subtype')}")
        return bodies or []

    def _ask(self, request_id: str, request: Json) -> list[EventBody]:
        opened = open_ask(request_id, request, self._places)
        self.asks[opened.ask.ask_id] = opened
        return [opened.ask]

    def _withdrawn(self, request_id: str) -> list[EventBody]:
        ask_id = sound_id(request_id)
        if self.asks.pop(ask_id, None) is None:
            return []
        return [AskResolved(ask_id=ask_id, decision="withdrawn")]

    def _session_is(self, session_id: str, model: str) -> list[EventBody]:
        if not session_id or (session_id, model) == self._session:
            return []
        self._session = (session_id, model)
        return [Session(provider=PROVIDER, provider_session_id=session_id, model=model or None)]

    def _session_moved(self, session_id: str) -> list[EventBody]:
        known, model = self._session or ("", "")
        return self._session_is(session_id, model) if known and session_id != known else []

    def _reset(self, session_id: str) -> list[EventBody]:
        text = "The conversation was cleared: Claude no longer knows what stands above."
        notice = Notice(level="info", code="conversation_reset", text=text)
        return [*self._session_moved(session_id), notice]

    def _is_repeated(self, message: Json) -> bool:
        """Whether the line is no news: seen before, replayed, or written for the model."""
        if true_at(message, "isReplay") or true_at(message, "isSynthetic"):
            return True
        uuid = text_of(message, "uuid")
        if not uuid:
            return False
        known = uuid in self._known_lines
        self._known_lines.add(uuid)
        return known

    def _note_unknown(self, what: str) -> None:
        if what not in self._unknown:
            self._unknown.add(what)
            _log.info("Claude Code sent an unknown %s; it is passed over", what)
