"""What a person sees of a chat: the rules of docs/protocol.md, folded event by event.

The same fold reads the agent's journal, the store's log and a client's frames, so the three can be
compared. It knows nothing of the product's code.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
TEXTS = ("assistant_text", "thinking")
FROM_AGENT = (*TEXTS, "tool", "ask", "usage", "plan")
"""Kinds that an agent writes and that reach the log unchanged."""


class Rendering:
    """Entries in the order in which they stand in the chat."""

    def __init__(self) -> None:
        self.entries: dict[str, Json] = {}
        self.streamed: dict[str, str] = {}
        """Of each tool, its output as it came; its end may say something else."""
        self.torn: list[str] = []
        """Texts whose deltas, as shown, were no beginning of their final: one lost, one doubled."""

    def apply(self, event: Json) -> None:
        """One event, in seq order. Events of a type that it does not know are kept as they are."""
        kind, seq = event["type"], event["seq"]
        if kind in TEXTS:
            self._text(event)
        elif kind.startswith("tool_use_"):
            self._tool(event)
        elif kind == "ask":
            body = {"title": event["title"], "kind": event["kind"]}
            self._entry("ask", event["ask_id"], event).update(body)
        elif kind == "ask_resolved":
            self._entry("ask", event["ask_id"], event)["decision"] = event["decision"]
        else:
            outside = ("seq", "time", "run_id", "type")
            body = {key: value for key, value in event.items() if key not in outside}
            self.entries[f"{kind} {seq}"] = {
                "kind": kind, "at": seq, "run": event.get("run_id"), "body": body,
            }  # fmt: skip

    def _entry(self, kind: str, name: str, event: Json) -> Json:
        new = {"kind": kind, "id": name, "at": event["seq"], "run": event.get("run_id")}
        return self.entries.setdefault(f"{kind} {name}", new)

    def _text(self, event: Json) -> None:
        entry = self._entry(event["type"], event["item_id"], event)
        if event.get("final"):
            final = event.get("text") or ""
            if not final.startswith(entry.get("text", "")):
                self.torn.append(event["item_id"])
            entry["text"], entry["final"] = final, True
            entry["at"] = event.get("first_seq") or entry["at"]
        else:
            entry["text"] = entry.get("text", "") + (event.get("delta") or "")

    def _tool(self, event: Json) -> None:
        entry = self._entry("tool", event["tool_id"], event)
        if event["type"] == "tool_use_start":
            entry["name"], entry["title"] = event["name"], event.get("title", "")
        elif event["type"] == "tool_use_update":
            entry["output"] = entry.get("output", "") + (event.get("output_delta") or "")
            self.streamed[entry["id"]] = entry["output"]
        else:
            blocks = event.get("output") or []
            entry["status"] = event["status"]
            entry["output"] = "".join(block.get("text", "") for block in blocks)

    def shown(self) -> list[Json]:
        """What stands in the chat, from top to bottom."""
        return sorted(self.entries.values(), key=lambda entry: entry["at"])

    def open_items(self) -> list[str]:
        """Tools without an end and asks without an answer."""
        return [
            key
            for key, entry in self.entries.items()
            if (entry["kind"] == "tool" and "status" not in entry)
            or (entry["kind"] == "ask" and "decision" not in entry)
        ]


def render(events: list[Json]) -> Rendering:
    """A whole log at once."""
    rendering = Rendering()
    for event in events:
        rendering.apply(event)
    return rendering
