"""Translates the lines of one run into event bodies. Pure: no clock, no random ids, no I/O.

The same lines give the same bodies, whole or in pieces: re-attachment depends on it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from ....protocol.events import AskResolved, EventBody, Notice
from ..wire import Json, int_of, object_of, objects_of, parse, sound_id, text_of, texts_of
from .asks import OpenAsk, chat_rules, open_ask
from .calls import ToolCalls
from .checklist import Checklist, Line
from .commands import Commands
from .conversation import Conversation
from .endings import ending, is_api_error, turn_between
from .helpers import Helpers
from .meters import Meters, plan_of_event
from .notices import system_bodies
from .places import Places
from .repeats import Repeats
from .text import TextStream

PROVIDER = "claude"

_IGNORED = frozenset(
    {
        "control_response",
        "control_request",  # all but can_use_tool are answered elsewhere
        "keep_alive",
        "prompt_suggestion",
        "tool_progress",
        "tool_use_summary",
    }
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turn:
    """The run whose lines are read: its prompt's uuid on the wire and the project's directory.

    What earlier runs of the chat told: `windows` is the size of each model's context in tokens,
    `checklist` the list as they left it.
    """

    prompt_uuid: str
    cwd: str
    unasked: bool = False
    """The agent began the turn by itself: no prompt was sent."""
    windows: Mapping[str, int] = field(default_factory=dict)
    checklist: tuple[Line, ...] = ()


class Translator:
    """Reads one run. `finished` once its `complete` was given; what follows belongs to no run."""

    def __init__(self, turn: Turn) -> None:
        self.finished = False
        self.began = False
        """Whether the CLI opened the conversation; a refused resume ends before that."""
        self.stopping = False
        """A person has said Stop."""
        self.asks: dict[str, OpenAsk] = {}
        """The asks that wait for an answer; who answers takes theirs out."""
        self.commands = Commands(turn.prompt_uuid, unasked=turn.unasked)
        self.meters = Meters(turn.windows)
        self.checklist = Checklist(turn.checklist)
        self._results: list[Json] = []
        self._places = Places(turn.cwd)
        self._text = TextStream()
        self._helpers = Helpers()
        self._calls = ToolCalls(self._places, self._helpers, self.checklist)
        self._conversation = Conversation(PROVIDER)
        self._mode = ""
        self._api_error: Json = {}
        self._repeats = Repeats()
        self._unknown: set[str] = set()

    def feed(self, line: str) -> tuple[EventBody, ...]:
        """The bodies that `line` brings; none for what is not for a person, or no message."""
        message = parse(line)
        return () if message is None else self.read(message)

    def read(self, message: Json, before: str | None = None) -> tuple[EventBody, ...]:
        """`feed` for a line that was parsed already.

        `before`: of an ask to change a file, the file's text as it is now, if that is known.
        """
        if self.finished:
            return ()
        if self.commands.ends(message):
            self.finished = True
            self.meters.learn(message)
            moved = self._conversation.moved(text_of(message, "session_id"))
            # a turn that ended well while its helper was stopped is called a success
            told = self.stopping or text_of(message, "type") != "result"
            stopped = self._helpers.stopped and told
            end = ending(message, self._api_error, self._results, stopped=stopped)
            end = [self.meters.measured(body) for body in end]
            return (*moved, *self._calls.abandon(), *self._told_of(message), *end)
        return tuple(self._bodies(message, before))

    def rules_of(self, request: Json) -> tuple[Json, ...]:
        """What "Allow for this chat" would remember of a `can_use_tool` request."""
        return chat_rules(request, self._places)[0]

    def _bodies(self, message: Json, before: str | None) -> list[EventBody]:
        parent = text_of(message, "parent_tool_use_id")
        match text_of(message, "type"):
            case "stream_event":
                return self._streamed(object_of(message, "event"), parent)
            case "assistant":
                return [] if self._repeats.has(message) else self._assistant(message, parent)
            case "user":
                return [] if self._repeats.has(message) else self._calls.end(message)
            case "system":
                return self._system(message)
            case "control_request":
                request = object_of(message, "request")
                if text_of(request, "subtype") == "can_use_tool" and text_of(message, "request_id"):
                    return self._ask(text_of(message, "request_id"), request, before)
            case "control_cancel_request":
                return self._withdrawn(text_of(message, "request_id"))
            case "conversation_reset":
                return self._conversation.cleared(text_of(message, "new_conversation_id"))
            case "result":
                return self._between(message)
            case "command_lifecycle":
                return self._told_of(message)
            case "rate_limit_event":
                return self.meters.plan(plan_of_event(message))
            case kind if kind not in _IGNORED:
                self._note_unknown(kind)
        return []

    def _between(self, result: Json) -> list[EventBody]:
        """A turn ended, and the run did not."""
        if self.commands.is_result_of_another(result):
            return []
        self._results.append(result)
        self._helpers.stopped = False
        self.meters.learn(result)
        failed, self._api_error = self._api_error, {}
        return [*self._calls.abandon(), *turn_between(result, failed)]

    def _told_of(self, message: Json) -> list[EventBody]:
        if not self.commands.lost(message):
            return []
        text = "Claude Code did not take a message that was sent into its turn."
        return [Notice(level="warning", code="steer_lost", text=text)]

    def _streamed(self, event: Json, parent: str) -> list[EventBody]:
        if parent:
            return []  # a helper's words come whole as well
        index, block = int_of(event, "index") or 0, object_of(event, "content_block")
        match text_of(event, "type"):
            case "message_start":
                self.meters.reply_begins(object_of(event, "message"))
                return self._turn_to(text_of(object_of(event, "message"), "id"))
            case "message_delta":
                return self.meters.reply_ends(object_of(event, "usage"))
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
        if parent and kind == "text":
            return self._helpers.says(sound_id(parent), text_of(block, "text"))
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
                return self._conversation.is_called(
                    text_of(message, "session_id"), text_of(message, "model")
                )
            case "compact_boundary":
                meta = object_of(message, "compact_metadata")
                self._repeats.will_come(texts_of(object_of(meta, "preserved_messages"), "uuids"))
                return [*(system_bodies(message) or []), *self.meters.compacted()]
            case "task_notification":
                return self._helpers.notified(message)
            case "conversation_reset":
                return self._conversation.cleared(text_of(message, "new_conversation_id"))
            case "status" if mode := text_of(message, "permissionMode"):
                known, self._mode = self._mode, mode
                if not self.began or mode == known:
                    return []  # before the turn it is what we asked for ourselves
        bodies = system_bodies(message)
        if bodies is None:
            self._note_unknown(f"system {text_of(message, 'subtype')}")
        return bodies or []

    def _ask(self, request_id: str, request: Json, before: str | None) -> list[EventBody]:
        opened = open_ask(request_id, request, self._places, before)
        self.asks[opened.ask.ask_id] = opened
        return [opened.ask]

    def _withdrawn(self, request_id: str) -> list[EventBody]:
        ask_id = sound_id(request_id)
        if self.asks.pop(ask_id, None) is None:
            return []
        return [AskResolved(ask_id=ask_id, decision="withdrawn")]

    def _note_unknown(self, what: str) -> None:
        if what not in self._unknown:
            self._unknown.add(what)
            _log.info("Claude Code sent an unknown %s; it is passed over", what)
