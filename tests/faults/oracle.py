"""The three-way oracle: what the agent emitted, what the store holds, what a client rendered.

Every check returns sentences; none means that nothing was lost and nothing lied. Declared
coalescing: deltas may be joined, and a final text may stand for its deltas.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from tests.faults.rendering import FROM_AGENT, TEXTS, Rendering, render

Json = dict[str, Any]


def journal_of(folder: Path, run_id: str) -> tuple[list[Json], int]:
    """(what the agent emitted in this run, in how many processes it ran)."""
    files = sorted(folder.glob(f"{run_id}.*.jsonl"))
    lines = [line for file in files for line in file.read_bytes().split(b"\n")[:-1]]
    bodies = [json.loads(line) for line in lines]
    return [{"seq": number, **body} for number, body in enumerate(bodies, 1)], len(files)


def log_faults(events: list[Json]) -> list[str]:
    """Faults of a log whose runs have all ended."""
    faults = []
    seqs = [event["seq"] for event in events]
    if seqs != sorted(set(seqs)):
        faults.append("seqs do not rise")
    ended: set[str] = set()
    completes: Counter[str] = Counter()
    begun = {event["run_id"] for event in events if event["type"] == "run_started"}
    for event in events:
        run = event.get("run_id")
        if run in ended:
            faults.append(f"{event['type']} {event['seq']} behind the end of run {run}")
        if event["type"] == "complete":
            completes[run] += 1
            ended.add(run)
    faults += [f"run {run} has no complete" for run in sorted(begun - ended)]
    faults += [f"run {run} has {n} completes" for run, n in completes.items() if n != 1]
    prompts = Counter(event["client_id"] for event in events if event["type"] == "user")
    faults += [f"prompt {name} stands {n} times" for name, n in prompts.items() if n != 1]
    faults += [f"{item} was left open" for item in render(events).open_items()]
    return faults


def client_faults(seen: dict[int, Json], events: list[Json]) -> list[str]:
    """What a client was shown and is neither in the store nor contained in its final."""
    stored = {event["seq"]: event for event in events}
    finals = {
        (event["type"], event["item_id"]): event["text"] or ""
        for event in events
        if event["type"] in TEXTS and event.get("final")
    }
    ends = {event["tool_id"] for event in events if event["type"] == "tool_use_end"}
    faults = []
    for seq, event in seen.items():
        if stored.get(seq) == event:
            continue
        kind = event["type"]
        text = finals.get((kind, event.get("item_id", "")))
        joined = kind in TEXTS and text is not None and (event.get("delta") or "") in text
        replaced = kind == "tool_use_update" and event["tool_id"] in ends
        if not (joined or replaced):
            faults.append(f"a client saw {kind} {seq}, and it is lost")
    return faults


def rendering_faults(rendered: Rendering, events: list[Json]) -> list[str]:
    """Where a client that has caught up shows another chat than the store holds."""
    shown, stored = rendered.shown(), render(events).shown()
    if rendered.torn:
        return [f"a client was shown other deltas than the final says: {rendered.torn}"]
    if shown == stored:
        return []
    for mine, theirs in zip(shown, stored, strict=False):
        if mine != theirs:
            return [f"a client shows {_short(mine)}, the store holds {_short(theirs)}"]
    return [f"a client shows {len(shown)} entries, the store holds {len(stored)}"]


def streamed_faults(rendered: Rendering, journal: list[Json]) -> list[str]:
    """Tool output that a client was shown as it came, and that the agent did not write so."""
    said = render(journal).streamed
    return [
        f"a client was shown {text[-80:]!r} of {tool}, the agent wrote {said[tool][-80:]!r}"
        for tool, text in rendered.streamed.items()
        if tool in said and not said[tool].startswith(text)
    ]


def journal_faults(
    journal: list[Json], events: list[Json], run_id: str, *, whole: bool, tail_may_miss: bool
) -> list[str]:
    """Where the store says something else than the agent emitted.

    `whole`: everything must have arrived. `tail_may_miss`: all but the last entry, which the agent
    may have been writing when it died. Neither: the store holds a beginning of it.
    """
    said = render(journal)
    emitted = _from_agent(said)
    stored = _from_agent(render([event for event in events if event.get("run_id") == run_id]))
    faults = []
    for number, ours in enumerate(stored):
        if number >= len(emitted):
            return [f"the store holds {_short(ours)}, which the agent never emitted"]
        theirs = emitted[number]
        last = number == len(stored) - 1
        if not (
            _same(ours, theirs) or (last and not whole and _begins(ours, theirs, said.streamed))
        ):
            faults.append(f"stored {_short(ours)}, emitted {_short(theirs)}")
    allowed = 0 if whole else 1 if tail_may_miss else len(emitted)
    if len(emitted) - len(stored) > allowed:
        missing = emitted[len(stored)]
        faults.append(f"emitted and not stored: {_short(missing)} and what follows")
    return faults[:3]


def _from_agent(rendering: Rendering) -> list[Json]:
    return [entry for entry in rendering.shown() if entry["kind"] in FROM_AGENT]


COMPARED = ("kind", "id", "text", "name", "title", "output", "status")


def _same(ours: Json, theirs: Json) -> bool:
    if ours["kind"] in ("usage", "plan"):
        given = theirs["body"]
        return all(ours["body"].get(key) == value for key, value in given.items())
    if any(ours.get(key) != theirs.get(key) for key in COMPARED):
        return False
    return theirs.get("decision") in (None, ours.get("decision"))


def _begins(ours: Json, theirs: Json, streamed: dict[str, str]) -> bool:
    """Whether `ours` is a beginning of `theirs` that was closed from outside."""
    if (ours["kind"], ours.get("id")) != (theirs["kind"], theirs.get("id")):
        return False
    if ours["kind"] in TEXTS:
        return str(theirs.get("text", "")).startswith(ours.get("text", ""))
    if ours["kind"] == "tool":
        closed_by_us = ours.get("status") in ("cancelled", "failed")
        return closed_by_us and streamed.get(ours["id"], "").startswith(ours.get("output", ""))
    return True


def store_faults(database: Path) -> list[str]:
    """What SQLite says of the file, beside the server."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)
    try:
        rows = connection.execute("PRAGMA quick_check").fetchall()
    except sqlite3.DatabaseError as error:
        return [f"quick_check: {error}"]
    finally:
        connection.close()
    return [] if rows == [("ok",)] else [f"quick_check: {rows[:3]}"]


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 300 else text[:200] + " … " + text[-90:]
