"""Tool calls of the tour, each a real one: list, read, search, run, write."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from .look import Hit, Survey, Text, read_text, search, survey
from .note import Change, apply
from .stage import Outcome, Stage
from .wire import Body

ALLOW_ONCE: Body = {"id": "allow_once", "label": "Allow once", "decision": "allow", "scope": "once"}
ALLOW_CHAT: Body = {
    "id": "allow_chat",
    "label": "Allow for this chat",
    "decision": "allow",
    "scope": "chat",
}
DENY: Body = {"id": "deny", "label": "Deny", "decision": "deny", "scope": "once"}


@dataclass(slots=True)
class Memory:
    """What the tour remembers of a chat while its process lives.

    `met`: this is not the first prompt; `note`: the file it wrote; `writes_allowed`: the person
    said "Allow for this chat".
    """

    note: str | None = None
    writes_allowed: bool = False
    met: bool = False


def list_files(stage: Stage) -> Survey:
    """Walk the workspace, shown as a search for all names."""
    found: list[Survey] = []

    def work() -> Outcome:
        seen = survey(stage.cwd, stage.check)
        found.append(seen)
        names = [entry.path for entry in seen.files[:200]]
        if len(seen.files) > len(names):
            names.append(f"(and {len(seen.files) - len(names)} more)")
        return Outcome("\n".join(names) or "No files.")

    stage.tool("search", "ListFiles", "Files in this folder", {"query": "*", "glob": "*"}, work)
    return found[0]


def read_file(stage: Stage, path: str) -> tuple[Text | None, Outcome]:
    """Read a file of the workspace; the text is None when that failed."""
    read: list[Text] = []

    def work() -> Outcome:
        read.append(read_text(stage.cwd, path))
        return Outcome(read[0].shown())

    outcome = stage.tool("read", "ReadFile", path, {"path": path}, work)
    return (read[0] if read else None), outcome


def search_word(stage: Stage, word: str, found: Survey) -> tuple[list[Hit], bool]:
    """Search the text of the surveyed files; the hits, and whether there may be more."""
    result: list[tuple[list[Hit], bool]] = []

    def work() -> Outcome:
        result.append(search(stage.cwd, found.files, word, stage.check))
        lines = [f"{hit.path}:{hit.line}: {hit.text}" for hit in result[0][0]]
        return Outcome("\n".join(lines) or "No hits.")

    stage.tool("search", "SearchText", word, {"query": word}, work)
    return result[0]


def run_python_version(stage: Stage) -> Outcome:
    """Run a command that changes nothing: which Python is this?"""
    argv = [sys.executable, "--version"]
    line = shlex.join(argv)
    return stage.tool("shell", "Shell", line, {"command": line}, lambda: stage.command(argv))


def change_file(stage: Stage, memory: Memory, change: Change, why: str) -> Outcome:
    """Write or edit a file, after asking where the permission says so.

    The ask carries the exact diff; what is written afterwards is that diff or nothing. The outcome
    is `denied` when the person (or the permission `read_only`) said no.
    """
    kind = "write" if change.old is None else "edit"
    given: Body = {"path": change.path}
    if kind == "write":
        given["size"] = len(change.new.encode("utf-8"))
    tool_id = stage.start_tool(kind, kind.capitalize() + "File", change.path, given)
    if stage.prompt.permission == "read_only":
        refused = Outcome("This chat may only read.", status="denied")
        stage.end_tool(tool_id, refused)
        return refused
    if stage.prompt.permission == "ask" and not memory.writes_allowed:
        verb = "write" if kind == "write" else "change"
        answer = stage.ask(
            {
                "kind": "permission",
                "tool_id": tool_id,
                "title": f"Tour wants to {verb} {change.path}",
                "detail": why,
                "input": {"kind": kind, **given},
                "diffs": [change.diff()],
                "options": [ALLOW_ONCE, ALLOW_CHAT, DENY],
            }
        )
        if answer.decision != "allow":
            reason = f"Denied: {answer.message}" if answer.message else "Denied."
            outcome = Outcome(reason, status="denied")
            stage.end_tool(tool_id, outcome)
            return outcome
        memory.writes_allowed = answer.option_id == "allow_chat"
    return _apply(stage, tool_id, change)


def _apply(stage: Stage, tool_id: str, change: Change) -> Outcome:
    try:
        apply(stage.cwd, change)
    except OSError as error:
        outcome = Outcome(error.strerror or str(error), status="failed")
    else:
        outcome = Outcome(f"Wrote {change.path}.", diffs=(change.diff(),))
    stage.end_tool(tool_id, outcome)
    return outcome


def folder_name(path: Path) -> str:
    """What to call a folder in a sentence."""
    return path.name or str(path)
