"""What is open in a run: items, tools, asks; and so its phase. Pure: bodies in, drafts out.

The same tracker serves a live run and one found unfinished at start (its stored events are
absorbed again), so both are closed in the same way: every open item gets its final, every tool its
end, every ask its resolution, then comes the one `complete`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..protocol.events import (
    Ask,
    AskResolved,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Streamed,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
    ToolUseUpdate,
    Usage,
)
from ..protocol.tools import TextBlock
from ..protocol.words import Outcome, Phase
from ..store.base import Draft, StoredEvent


@dataclass
class _OpenItem:
    thinking: bool
    pieces: list[str] = field(default_factory=list)
    first_seq: int | None = None
    last_seq: int | None = None


@dataclass
class _OpenTool:
    output: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Saved:
    """What `restore` needs. Pieces are counted, not copied: a long answer costs nothing."""

    items: dict[str, tuple[_OpenItem, int, int | None, int | None]]
    tools: dict[str, tuple[_OpenTool, int]]
    facts: dict[str, Any]


_FACTS = ("usage", "error", "complete", "has_content", "_last")


class RunTracker:
    """The open ends of one run."""

    def __init__(self) -> None:
        self.items: dict[str, _OpenItem] = {}
        self.tools: dict[str, _OpenTool] = {}
        self.asks: dict[str, Ask] = {}
        self.resolved: dict[str, AskResolved] = {}
        self.usage: Usage | None = None
        self.error: Error | None = None
        self.complete: Complete | None = None
        self.has_content = False
        self._last: EventBody | None = None

    @property
    def phase(self) -> Phase:
        """What the run is doing, from what is open."""
        if self.asks:
            return "waiting"
        if isinstance(self._last, AssistantText):
            return "writing"
        if self.tools:
            return "tool"
        if isinstance(self._last, Thinking):
            return "thinking"
        return "thinking" if self._last is not None else "starting"

    def drafts(self, bodies: Sequence[EventBody], next_seq: int) -> list[Draft]:
        """What to store for `bodies`; `next_seq` is the seq that the first of them will get.

        Deltas that wait in the same batch as their final are not stored at all. A tool or ask that
        is not open is not closed twice. `error` and `complete` are kept back: whoever ends the run
        stores them last, an `error` only when the run failed. When the drafts could not be stored,
        `restore` what `save` gave before.
        """
        finals = {
            body.item_id
            for body in bodies
            if isinstance(body, AssistantText | Thinking) and body.final
        }
        drafts: list[Draft] = []
        for body in bodies:
            if isinstance(body, AssistantText | Thinking):
                if not body.final and body.item_id in finals:
                    # its final stands in the same batch and holds the whole text
                    self._item(body)
                    continue
                drafts.append(self._streamed(body, next_seq + len(drafts)))
            elif self._accept(body):
                drafts.append(Draft(body))
            self._last = body
        return drafts

    def _item(self, body: Streamed) -> _OpenItem:
        item = self.items.setdefault(body.item_id, _OpenItem(isinstance(body, Thinking)))
        item.pieces.append(body.delta or "")
        return item

    def _streamed(self, body: Streamed, seq: int) -> Draft:
        self.has_content = True
        if not body.final:
            item = self._item(body)
            item.first_seq = seq if item.first_seq is None else item.first_seq
            item.last_seq = seq
            return Draft(body)
        item_or_none = self.items.pop(body.item_id, None)
        first = item_or_none.first_seq if item_or_none else None
        last = item_or_none.last_seq if item_or_none else None
        text = body.text
        if text is None:
            # an agent that only says "done" must not erase what it has said
            text = "".join(item_or_none.pieces if item_or_none else []) + (body.delta or "")
        final = body.model_copy(
            update={"first_seq": seq if first is None else first, "delta": None, "text": text}
        )
        replaces = (first, last) if first is not None and last is not None else None
        return Draft(final, replaces)

    def _accept(self, body: EventBody) -> bool:
        match body:
            case ToolUseStart():
                self.has_content = True
                self.tools.setdefault(body.tool_id, _OpenTool())
            case ToolUseUpdate():
                tool = self.tools.get(body.tool_id)
                if tool is None:
                    return False
                tool.output.append(body.output_delta or "")
            case ToolUseEnd():
                return self.tools.pop(body.tool_id, None) is not None
            case Ask():
                self.has_content = True
                self.asks[body.ask_id] = body
            case AskResolved():
                if self.asks.pop(body.ask_id, None) is None:
                    return False
                self.resolved[body.ask_id] = body
            case Usage():
                self.usage = body
            case Error():
                self.error = self.error or body
                return False
            case Complete():
                self.complete = self.complete or body
                return False
            case _:
                pass
        return True

    def save(self) -> _Saved:
        """The state at this moment, for `restore`."""
        return _Saved(
            items={
                name: (item, len(item.pieces), item.first_seq, item.last_seq)
                for name, item in self.items.items()
            },
            tools={name: (tool, len(tool.output)) for name, tool in self.tools.items()},
            facts={
                "asks": dict(self.asks),
                "resolved": dict(self.resolved),
                **{name: getattr(self, name) for name in _FACTS},
            },
        )

    def restore(self, saved: _Saved) -> None:
        """Forget everything since `save`: the store could not keep it."""
        self.items.clear()
        for name, (item, count, first_seq, last_seq) in saved.items.items():
            del item.pieces[count:]
            item.first_seq, item.last_seq = first_seq, last_seq
            self.items[name] = item
        self.tools.clear()
        for name, (tool, count) in saved.tools.items():
            del tool.output[count:]
            self.tools[name] = tool
        for name, value in saved.facts.items():
            setattr(self, name, value)

    def begin_anew(self) -> None:
        """The attempt so far is void (a refused resume): what it said about its end as well."""
        self.error = None
        self.complete = None

    def absorb(self, events: Sequence[StoredEvent]) -> None:
        """Rebuild from stored events (a run found unfinished); unknown types are passed over."""
        for event in events:
            body = event.body()
            if body is not None:
                self.drafts([body], event.seq)

    def recall(self, bodies: Sequence[EventBody]) -> None:
        """Lines whose events are stored are read again: `error` and `complete` are not events yet,
        so they are taken from here."""
        for body in bodies:
            if isinstance(body, Error | Complete):
                self._accept(body)

    def closing(self, outcome: Outcome) -> list[EventBody]:
        """What must be stored before `error` and `complete`: partial text kept, tools and asks
        closed."""
        bodies: list[EventBody] = []
        for item_id, item in self.items.items():
            kind = Thinking if item.thinking else AssistantText
            bodies.append(kind(item_id=item_id, text="".join(item.pieces), final=True))
        for ask_id in self.asks:
            bodies.append(AskResolved(ask_id=ask_id, decision="withdrawn"))
        status = "failed" if outcome == "failed" else "cancelled"
        for tool_id, tool in self.tools.items():
            text = "".join(tool.output)
            bodies.append(
                ToolUseEnd(
                    tool_id=tool_id,
                    status=status,
                    is_error=status == "failed",
                    output=[TextBlock(text=text)] if text else [],
                )
            )
        return bodies
