"""Translates the lines of one run into event bodies. Pure: no clock, no random ids, no I/O.

The same lines give the same bodies, whole or in pieces: re-attachment depends on it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from ....protocol.events import AskResolved, EventBody, Session, System
from ..flavour import CODEX
from ..received import GO_AHEAD, Facts, Received
from ..wire import Json, object_of, sound_id, text_of, texts_of, thread_of, true_at, turn_of
from .asks import ASKING, OpenAsk, open_ask
from .calls import ToolCalls
from .endings import completed
from .notices import QUIET, Notices, about_thread, lost_line, plan_of, rerouted
from .places import Places
from .proposal import Proposal
from .text import TextStream, item_key
from .usage import PlanLimits, TokenCount

_DIFF_LIMIT: Final = 512 * 1024
_SILENT_ITEMS: Final = frozenset({"userMessage", "hookPrompt", "subAgentActivity"})
_HELPERS_ITEMS: Final = frozenset({"commandExecution", "fileChange", "mcpToolCall", "webSearch"})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turn:
    """The run whose lines are read. `thread_id`: the conversation, where it is known before."""

    run_id: str
    provider: str
    cwd: str
    thread_id: str | None = None
    sign_in: str = CODEX.sign_in_help
    knows_models: bool = True
    tokens_before: Json | None = None
    planning: bool = False
    """A plan that is proposed in it is put to a person."""


class Translator:
    """Reads one run. `finished` once its `complete` was given; what follows belongs to no run."""

    def __init__(self, turn: Turn) -> None:
        self.finished = False
        self.asks: dict[str, OpenAsk] = {}
        """The asks that wait for an answer; who answers takes theirs out."""
        self.facts = Facts(turn.thread_id, planning=turn.planning)
        self._turn = turn
        self._places = Places(turn.cwd)
        self._text = TextStream()
        self._calls = ToolCalls(self._places)
        self._tokens = TokenCount(turn.tokens_before)
        self._limits = PlanLimits()
        self._notices = Notices(first_turn=turn.thread_id is None, knows_models=turn.knows_models)
        self._session_told = False
        self._error: Json = {}
        self._diff = ""
        self._proposal = Proposal(turn.run_id, self._text, asked_for=turn.planning)
        self._helpers: dict[str, str] = {}
        self._unknown: set[str] = set()

    def read(self, item: Received) -> tuple[EventBody, ...]:
        """The bodies that a message brings; none for what is not for a person."""
        if self.finished:
            return ()
        ended = self.facts.note(item)
        match item.kind:
            case "answer":
                return tuple(self._answered(item))
            case "lost":
                return (lost_line(item.params),)
            case "request":
                return tuple(self._asked(item))
        if ended:
            return self._end(object_of(item.params, "turn") or self._proposal.turn)
        if item.method == "turn/started" and self._begins_untold(item.params):
            return (self._session(""),)
        if item.method == "turn/completed" and self.facts.undecided:
            opened = self._proposal.put(object_of(item.params, "turn"))
            self.asks[opened.ask.ask_id] = opened
            return (opened.ask,)
        return tuple(self._notified(item.method, item.params))

    def _end(self, turn: Json) -> tuple[EventBody, ...]:
        """The run is over, as its `turn/completed` or a look at the thread says."""
        self.finished = True
        bodies: list[EventBody] = []
        bodies += self._proposal.left()
        if self._diff:
            bodies.append(System(subtype="turn_diff", data={"diff": self._diff[:_DIFF_LIMIT]}))
        sign_in = self._turn.sign_in
        bodies += completed(turn, self._tokens.usage, self._error, sign_in)
        return tuple(bodies)

    def _answered(self, item: Received) -> list[EventBody]:
        if item.method == GO_AHEAD and item.error is None:
            # an earlier server has passed the approval on
            self.asks.pop(self._proposal.ask_id, None)
            return []
        if item.error is not None or self._session_told:
            return []
        if item.method == "thread" and self.facts.thread_id:
            self._session_told = True
            self._places.add(text_of(item.params, "cwd"))
            return [self._session(text_of(item.params, "model"))]
        if item.method == "turn" and self.facts.thread_id:
            # the thread was loaded already
            self._session_told = True
            return [self._session("")]
        return []

    def _begins_untold(self, params: Json) -> bool:
        """Whether Codex began the run's turn by itself: no answer has named the conversation."""
        untold = not self._session_told and self.facts.owns(turn_of(params))
        self._session_told = self._session_told or untold
        return untold

    def _session(self, model: str) -> Session:
        thread_id = self.facts.thread_id or ""
        return Session(
            provider=self._turn.provider, provider_session_id=thread_id, model=model or None
        )

    def _notified(self, method: str, params: Json) -> list[EventBody]:
        if method == "account/rateLimits/updated":
            return list(self._limits.take(object_of(params, "rateLimits")))
        if method == "serverRequest/resolved":
            return self._resolved(params.get("requestId"))
        if not about_thread(params, self.facts.thread_id):
            return self._helper(method, params)
        if self.facts.is_foreign(turn_of(params)):
            return []
        match method:
            case "item/started" | "item/completed":
                return self._item(method == "item/completed", params)
            case "item/agentMessage/delta":
                return self._text.answer_delta(self._key(params), text_of(params, "delta"))
            case "item/plan/delta":
                return self._proposal.delta(self._key(params), text_of(params, "delta"))
            case "item/reasoning/summaryTextDelta":
                return self._text.summary_delta(self._key(params), params)
            case "item/reasoning/textDelta":
                return self._text.raw_delta(self._key(params), params)
            case "item/commandExecution/outputDelta":
                return self._calls.prints(self._key(params), text_of(params, "delta"))
            case "turn/plan/updated":
                return plan_of(params)
            case "turn/diff/updated":
                self._diff = text_of(params, "diff")
                return []
            case "thread/tokenUsage/updated":
                usage = object_of(params, "tokenUsage")
                if self.facts.owns(turn_of(params)):
                    return list(self._tokens.take(usage))
                self._tokens.begin_behind(usage)
                return []
            case "error":
                return self._failed(params)
            case "warning" | "guardianWarning":
                return self._notices.warning(params)
            case "mcpServer/startupStatus/updated":
                return self._notices.server(params)
            case "model/rerouted":
                return rerouted(params)
        return [] if method in QUIET else self._strange(method)

    def _item(self, is_over: bool, params: Json) -> list[EventBody]:
        item, key = object_of(params, "item"), self._key(params)
        kind = text_of(item, "type")
        match kind:
            case "agentMessage":
                return self._text.answer(key, text_of(item, "text")) if is_over else []
            case "plan":
                return self._proposal.whole(key, text_of(item, "text")) if is_over else []
            case "reasoning":
                return self._text.reasoning(key, item) if is_over else []
            case "contextCompaction":
                return [System(subtype="compaction" if is_over else "compacting")]
            case "enteredReviewMode" | "exitedReviewMode":
                # what the review says comes again as a message
                subtype = "review_began" if kind == "enteredReviewMode" else "review_ended"
                return [System(subtype=subtype)] if is_over else []
        if kind in _SILENT_ITEMS or not kind or not text_of(item, "id"):
            return []
        if kind == "collabAgentToolCall":
            for thread_id in texts_of(item, "receiverThreadIds"):
                self._helpers.setdefault(thread_id, key)
        return self._calls.end(key, item) if is_over else self._calls.begin(key, item)

    def _helper(self, method: str, params: Json) -> list[EventBody]:
        """A helper's calls stand below the call that began it; its words come with its result."""
        item, key = object_of(params, "item"), self._key(params)
        if text_of(item, "type") not in _HELPERS_ITEMS:
            return []
        parent = self._helpers.get(thread_of(params))
        match method:
            case "item/started":
                return self._calls.begin(key, item, parent)
            case "item/completed":
                return self._calls.end(key, item, parent)
        return []

    def _asked(self, item: Received) -> list[EventBody]:
        request_id = item.request_id
        if request_id is None:
            return []
        if item.method not in ASKING:
            text = f"Codex asked for something that this host does not do: {item.method[:100]}."
            return self._notices.once("warning", "unknown_request", text)
        key = self._call_of(item.params)
        touched, diffs = self._calls.changes(key)
        opened = open_ask(
            sound_id(f"{self._turn.run_id}:{request_id}"),
            request_id,
            item.method,
            item.params,
            tool_id=key if self._calls.is_open(key) else None,
            diffs=diffs,
            touched=touched,
            places=self._places,
        )
        self.asks[opened.ask.ask_id] = opened
        return [opened.ask]

    def _call_of(self, params: Json) -> str:
        meta = object_of(params, "_meta")
        server, tool = text_of(params, "serverName"), text_of(meta, "tool_name")
        return (tool and self._calls.of_server(server, tool)) or self._key(params)

    def contains(self, params: Json) -> bool:
        """Whether a request to change files is about files of the project only."""
        _, diffs = self._calls.changes(self._key(params))
        return bool(diffs) and all(self._places.contains(diff.path) for diff in diffs)

    def _resolved(self, request_id: object) -> list[EventBody]:
        """Nobody of ours has answered it, or an earlier server has: the hub knows which."""
        ask_id = sound_id(f"{self._turn.run_id}:{request_id}")
        if self.asks.pop(ask_id, None) is None:
            return []
        return [AskResolved(ask_id=ask_id, decision="withdrawn")]

    def _failed(self, params: Json) -> list[EventBody]:
        if true_at(params, "willRetry"):
            return self._notices.retrying(params)
        self._error = object_of(params, "error")  # the end of the turn says it again
        return []

    def _key(self, params: Json) -> str:
        item_id = text_of(object_of(params, "item"), "id") or text_of(params, "itemId")
        return item_key(turn_of(params) or self.facts.turn_id, item_id)

    def _strange(self, method: str) -> list[EventBody]:
        if method in self._unknown:
            return []
        self._unknown.add(method)
        _log.info("Codex sent an unknown %s; it is passed over", method)
        text = f"Codex sent something that cannot be shown here: {method[:100]}."
        return self._notices.once("info", "unknown_content", text)
