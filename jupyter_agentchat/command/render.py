"""Turns the events of a run into what a person reads in a terminal, or into JSON lines."""

from __future__ import annotations

import json
from typing import Protocol

from .rest import Json
from .screen import Screen, Style


class Printer(Protocol):
    """What shows a run."""

    def event(self, event: Json) -> None:
        """Show one ChatEvent. Unknown types are no error."""
        ...


class JsonPrinter:
    """Every ChatEvent as a line of JSON, untouched; nothing else goes to stdout."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def event(self, event: Json) -> None:
        """See `Printer.event`."""
        self._screen.text(json.dumps(event, ensure_ascii=True) + "\n")


class TextPrinter:
    """The answer's text, and a line for everything else that matters."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._said: dict[str, str] = {}
        self._item: str | None = None
        self._tools: dict[str, str] = {}

    def event(self, event: Json) -> None:
        """See `Printer.event`."""
        match event.get("type"):
            case "assistant_text":
                self._say(event)
            case "thinking" if event.get("final"):
                self._screen.note(f"reasoning  {_first_line(event.get('text') or '')}", "dim")
            case "tool_use_start":
                self._tool_start(event)
            case "tool_use_end":
                self._tool_end(event)
            case "ask_resolved":
                self._screen.note(describe_resolution(event), "dim")
            case "plan":
                self._plan(event)
            case "notice":
                style: Style = "dim" if event.get("level") == "info" else "warning"
                self._screen.note(f"notice  {event.get('text')}", style, whole=True)
            case "resume_refused":
                text = f"notice  A new conversation with the agent: {event.get('reason')}"
                self._screen.note(text, "warning", whole=True)
            case "error":
                self._screen.note(f"error  {event.get('message')}", "error", whole=True)
                if event.get("hint"):
                    self._screen.note(f"  {event['hint']}", "error", whole=True)
            case "complete":
                self._screen.end_line()
                self._screen.note(describe_end(event), "dim")

    def _say(self, event: Json) -> None:
        """Print what is new of an item: its final repeats what the deltas have said."""
        item = str(event.get("item_id"))
        said = self._said.get(item, "")
        if event.get("final"):
            text = event.get("text") or ""
            new = rest_of(text, said)
            self._said[item] = text
        else:
            new = event.get("delta") or ""
            self._said[item] = said + new
        if new and item != self._item:
            self._begin_item(item)
        self._screen.text(new)

    def _begin_item(self, item: str) -> None:
        if self._item is not None:
            self._screen.end_line()
            self._screen.text("\n")
        self._item = item

    def _plan(self, event: Json) -> None:
        """Where the checklist stands; not the moment between two of its steps."""
        states = {entry.get("status") for entry in event.get("entries") or []}
        if "in_progress" in states or states == {"completed"}:
            self._screen.note(f"plan  {describe_plan(event)}", "dim")

    def _tool_start(self, event: Json) -> None:
        tool_id = str(event.get("tool_id"))
        line = describe_tool(event)
        before = self._tools.get(tool_id)
        self._tools[tool_id] = line
        # arguments are streamed: the first start of a call may not know its subject yet
        if before is None or (" " not in before.strip() and line != before):
            self._screen.note(line, "dim")

    def _tool_end(self, event: Json) -> None:
        status = event.get("status")
        if status != "completed":
            self._screen.note(f"  {describe_failure(event)}", "warning")
        for diff in event.get("diffs") or []:
            path, added, removed = diff.get("path"), diff.get("added"), diff.get("removed")
            self._screen.note(f"  {path}  +{added} -{removed}", "dim")


def rest_of(text: str, said: str) -> str:
    """What a final adds to what its deltas have said; all of it where they said something else."""
    if text.startswith(said):
        return text[len(said) :]
    if text.rstrip() == said.rstrip():
        return ""  # some agents trim their finals
    return f"\n{text}"


def describe_tool(event: Json) -> str:
    """`kind  subject`, indented below the call of a subagent."""
    given = event.get("input") or {}
    kind = event.get("kind") or "tool"
    match kind:
        case "read" | "write" | "edit" | "notebook":
            subject = given.get("path") or event.get("title")
            if given.get("start_line"):
                subject = f"{subject}:{given['start_line']}-{given.get('end_line') or ''}"
        case "search" | "web_search":
            subject = given.get("query")
        case "shell":
            subject = given.get("command")
        case "fetch":
            subject = given.get("url")
        case "subagent":
            subject = given.get("description")
        case "mcp":
            subject = f"{given.get('server')} {given.get('tool')}"
        case _:
            kind, subject = event.get("name") or kind, event.get("title")
    indent = "  " if event.get("parent_tool_id") else ""
    return f"{indent}{kind}  {subject}" if subject else f"{indent}{kind}"


def describe_failure(event: Json) -> str:
    """Why a call did not do what it should: status, exit code, first line of output."""
    text = next((b.get("text") for b in event.get("output") or [] if b.get("type") == "text"), "")
    code = event.get("exit_code")
    words = [str(event.get("status")), f"exit {code}" if code else "", _first_line(text or "")]
    return ": ".join(word for word in words if word)


def describe_resolution(event: Json) -> str:
    """How an ask ended, and by whom."""
    by = (event.get("by") or {}).get("name")
    words = {
        "allow": "allowed",
        "deny": "denied",
        "answered": "answered",
        "withdrawn": "withdrawn by the agent",
        "expired": "expired",
    }
    decision = str(event.get("decision"))
    return f"ask  {words.get(decision, decision)}" + (f" by {by}" if by else "")


def describe_plan(event: Json) -> str:
    """How far the checklist is, and what is being done."""
    entries = event.get("entries") or []
    done = sum(1 for entry in entries if entry.get("status") == "completed")
    now = next((e.get("text") for e in entries if e.get("status") == "in_progress"), "")
    return f"{done} of {len(entries)} done" + (f", now: {now}" if now else "")


def describe_end(event: Json) -> str:
    """Outcome, duration, tokens and cost; what is unknown is left out, never 0."""
    parts = [str(event.get("outcome"))]
    if event.get("duration_ms") is not None:
        parts.append(f"{event['duration_ms'] / 1000:.1f} s")
    usage = event.get("usage") or {}
    for key, word in (("input_tokens", "tokens in"), ("output_tokens", "out")):
        if usage.get(key) is not None:
            parts.append(f"{usage[key]:,} {word}")
    cost = event.get("cost_usd") if event.get("cost_usd") is not None else usage.get("cost_usd")
    if cost is not None:
        parts.append(f"${cost:.4f}")
    return ", ".join(parts)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
