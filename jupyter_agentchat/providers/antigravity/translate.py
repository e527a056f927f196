"""The events of one turn -> event bodies. Pure: no clock, no random ids, no I/O.

A turn that only brings text gives text and nothing around it: a tool, a thought or a count of
tokens is told only where the program tells one.
"""

from __future__ import annotations

import logging

from ...protocol.events import (
    AssistantText,
    Complete,
    Error,
    EventBody,
    Notice,
    Session,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from ...protocol.tools import JsonBlock, TextBlock
from .launch import NAME, PROVIDER
from .tools import describe
from .wire import Json, first_text, int_of, object_of, parse, text_of

_DONE = frozenset({"done", "completed", "success", "finished"})
_FAILED = frozenset({"error", "failed", "denied", "canceled", "cancelled"})
_log = logging.getLogger(__name__)


class Translator:
    """Reads one turn. `finished` once its `complete` was given."""

    def __init__(self, run_id: str, cwd: str, conversation: str | None) -> None:
        self.finished = False
        self.stopped = False
        """A person has pressed Stop."""
        self.began = False
        """It has said something of a turn."""
        self.other_conversation = ""
        """The conversation that it opened in place of the one that was asked for."""
        self.refusal = ""
        """Why it would not open the conversation that was asked for."""
        self._run = run_id[:120]
        self._cwd = cwd
        self._conversation = conversation
        self._session = ""
        self._texts: dict[tuple[str, str], str] = {}
        self._tools: dict[str, bool] = {}
        self._usage: Usage | None = None
        self._noise = 0

    def feed(self, line: str) -> tuple[EventBody, ...]:
        """The bodies that a line brings; none for what is not for a person."""
        message = parse(line)
        if self.finished:
            return ()
        if message is None:
            self._noise += bool(line.strip())
            if line.strip() and self._noise == 1:
                _log.info("%s printed a line that is no event", NAME)
            return ()
        match text_of(message, "event"):
            case "init":
                return tuple(self._init(message))
            case "step_update":
                return tuple(self._step(object_of(message, "step_update")))
            case "result":
                return tuple(self._result(object_of(message, "result")))
        return tuple(self._strange(text_of(message, "event")))

    def _init(self, message: Json) -> list[EventBody]:
        inner = object_of(message, "init")
        conversation = text_of(message, "conversation_id") or text_of(inner, "conversation_id")
        if not conversation or conversation == self._session:
            return []
        if self._conversation is not None and conversation != self._conversation:
            self.other_conversation = conversation
            return []
        self._session = conversation
        model = text_of(inner, "model") or None
        return [Session(provider=PROVIDER, provider_session_id=conversation[:200], model=model)]

    def _step(self, step: Json) -> list[EventBody]:
        index = int_of(step, "step_index")
        step_id = f"{self._run}:{index if index is not None else 'x'}"
        kind, state = text_of(step, "step_type"), text_of(step, "state").lower().split("_")[-1]
        bodies: list[EventBody] = []
        if tool := object_of(step, "tool_info"):
            self.began = True
            bodies += self._end_texts()
            bodies += self._tool(step_id, tool, state)
        for key, name in (("thinking_delta", "thinking"), ("text_delta", "text")):
            piece = text_of(step, key)
            if piece and (name == "thinking" or kind in ("agent_response", "")):
                self.began = True
                bodies += self._piece(step_id, name, piece)
        if kind == "agent_response" and state in _DONE:
            bodies += self._end_texts()
        if usage := _usage(object_of(step, "usage")):
            self._usage = usage
        return bodies

    def _tool(self, tool_id: str, tool: Json, state: str) -> list[EventBody]:
        bodies: list[EventBody] = []
        if tool_id not in self._tools:
            kind, title, typed = describe(tool, self._cwd)
            name = first_text(tool, "name", "tool_name") or "tool"
            arguments = object_of(tool, "args") or object_of(tool, "input")
            self._tools[tool_id] = False
            bodies.append(
                ToolUseStart(
                    tool_id=tool_id,
                    name=name,
                    kind=kind,
                    title=title,
                    input=typed,
                    raw_input=arguments or None,
                )
            )
        if state in _DONE | _FAILED and not self._tools[tool_id]:
            self._tools[tool_id] = True
            failed = state in _FAILED or bool(text_of(tool, "error"))
            bodies.append(
                ToolUseEnd(
                    tool_id=tool_id,
                    status="denied" if state == "denied" else "failed" if failed else "completed",
                    is_error=failed,
                    output=_output(tool),
                    exit_code=int_of(tool, "exit_code"),
                )
            )
        return bodies

    def _piece(self, step_id: str, name: str, piece: str) -> list[EventBody]:
        key = (name, step_id)
        bodies = [] if key in self._texts else self._end_texts()
        self._texts[key] = self._texts.get(key, "") + piece
        made = Thinking if name == "thinking" else AssistantText
        return [*bodies, made(item_id=step_id, delta=piece)]

    def _end_texts(self) -> list[EventBody]:
        ended: list[EventBody] = [
            (Thinking if name == "thinking" else AssistantText)(
                item_id=step_id, text=text, final=True
            )
            for (name, step_id), text in self._texts.items()
            if text
        ]
        # kept empty: what was said once is not said again by the result
        self._texts = dict.fromkeys(self._texts, "")
        return ended

    def _result(self, result: Json) -> list[EventBody]:
        status, said = text_of(result, "status").upper(), text_of(result, "response").strip()
        reason = text_of(result, "error") or text_of(object_of(result, "error"), "message")
        resumed = self._conversation is not None and not self.began
        if status in ("ERROR", "INVALID") and resumed and "conversation" in reason.lower():
            self.refusal = reason
            return []
        self.finished = True
        bodies = self._end_texts()
        if said and not any(name == "text" for name, _ in self._texts):
            bodies.append(AssistantText(item_id=f"{self._run}:answer", text=said, final=True))
        usage = _usage(object_of(result, "usage")) or self._usage
        if usage:
            bodies.append(usage)
        heard = bool(said) or any(name == "text" for name, _ in self._texts)
        if self.stopped:
            return [*bodies, Complete(outcome="cancelled", usage=usage)]
        if failed := _failure(status, reason, heard=heard):
            return [*bodies, failed, Complete(outcome="failed", usage=usage)]
        return [*bodies, Complete(outcome="completed", usage=usage)]

    def _strange(self, event: str) -> list[EventBody]:
        if f"event {event}" in self._tools:
            return []
        self._tools[f"event {event}"] = True
        _log.info("%s sent an unknown event %s; it is passed over", NAME, event[:80])
        text = f"{NAME} sent something that cannot be shown here (event {event[:80] or 'unnamed'})."
        return [Notice(level="info", code="unknown_message", text=text)]


def _failure(status: str, reason: str, *, heard: bool) -> Error | None:
    """Why a turn that ended like this has failed; None for a good end."""
    again = "Send the prompt again."
    if status == "SUCCESS":
        if heard:
            return None
        return Error(
            code="provider_error", message=f"{NAME} ended its turn without an answer.", hint=again
        )
    if status in ("CANCELED", "INTERRUPTED"):
        text = f"{NAME} broke off its turn by itself."
        return Error(code="provider_error", message=reason or text, hint=again)
    if status in ("WAITING", "RUNNING"):
        text = f"{NAME} waits for a permission, and cannot ask for it here."
        return Error(code="provider_error", message=text, hint="Choose the permission “full”.")
    low = reason.lower()
    if "auth" in low or "sign in" in low or "log in" in low:
        return Error(code="provider_signed_out", message=reason, hint="agy")
    return Error(code="provider_error", message=reason or f"{NAME} failed ({status}).", hint=again)


def _usage(told: Json) -> Usage | None:
    counts = {
        "input_tokens": int_of(told, "input_tokens", "prompt_tokens", "prompt_token_count"),
        "output_tokens": int_of(told, "output_tokens", "candidates_token_count"),
        "cache_read_tokens": int_of(told, "cache_read_tokens", "cached_content_token_count"),
        "reasoning_tokens": int_of(told, "thinking_tokens", "thoughts_token_count"),
    }
    known = {name: count for name, count in counts.items() if count is not None}
    return Usage(**known) if any(known.values()) else None


def _output(tool: Json) -> list[TextBlock | JsonBlock]:
    if said := first_text(tool, "output", "result", "error"):
        return [TextBlock(text=said)]
    for key in ("output", "result"):
        value = tool.get(key)
        if isinstance(value, dict | list) and value:
            return [JsonBlock(value=value)]
    return []
