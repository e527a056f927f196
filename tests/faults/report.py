"""docs/faults.md and docs/faults.json: what was broken, how often, and what came of it."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import time
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

Json = dict[str, Any]
DOCS = Path(__file__).parent.parent.parent / "docs"

PROMISES = {
    "R1": "server killed in a streamed run: nothing that was shown is lost or doubled",
    "R2": "no chat is stuck: 2 s after the load it goes on or has ended",
    "R3": "no orphans with `restart_policy=stop`, grandchildren included",
    "R4": "re-attachment: what the agent said while the server was down arrives once, in order",
    "R5": "a cut network: the page shows what the store holds",
    "R6": "a stalled reader costs ≤ 20 MB and the others nothing; one `gap`",
    "R7": "50 chats at once: no cross-talk, memory and descriptors back to where they were",
    "R8": "a chat of 10,000 events costs a page, not its length",
    "R9": "disk full: the run ends with `storage`, the server lives, space heals it",
    "R10": "read-only disk: the server starts, chats can be read",
    "R11": "a corrupt store is kept, salvaged, and it is said",
    "R12": "wall clock jumps: order by seq, durations monotonic, leases stay",
    "R13": "garbage from an agent ends in a word, memory ≤ 64 MB",
    "R14": "an agent that dies says why; chat free ≤ 1 s",
    "R15": "a stubborn agent: composer free ≤ 1 s, everything dead ≤ 5 s",
    "R16": "uploads cut at any byte",
    "R17": "two tabs or two servers race: one runs, a resend runs once",
    "R18": "queued prompts survive a restart, run in order, once",
    "R19": "a draft outlives browser and server",
    "R20": "the culler sees a run, and does not see an idle page",
    "R21": "an older store opens, a newer one is refused undamaged",
    "R22": "SIGTERM: ≤ 5 s, everything flushed",
}
NOT_BUILT = {"R16": "uploads are not built yet"}
PROGRAMS = ("jupyter_server", "tornado", "pydantic", "traitlets")


def machine() -> Json:
    """What the figures were measured on; no names, no paths."""
    return {
        "when": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: version(name) for name in PROGRAMS},
        "load": round(os.getloadavg()[0], 1),
    }


def read_lines(path: Path) -> tuple[list[Json], dict[str, str]]:
    """(figures, outcome by test) of a run of the promises' tests."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    outcomes = {line["test"]: line["outcome"] for line in lines if "outcome" in line}
    return [line for line in lines if "promise" in line], outcomes


def promise_of(test: str) -> str:
    return test.split("_")[1].upper()


def write(
    kills: Json | None, figures: list[Json], outcomes: dict[str, str], claude: Json | None
) -> Json:
    """Write both files. Returns the facts; `failed` and `missed` say what is wrong."""
    failed = sorted(test for test, outcome in outcomes.items() if outcome == "failed")
    missed = [figure for figure in figures if not figure["held"]]
    facts: Json = {
        "machine": machine(), "kills": kills, "claude": claude, "figures": figures,
        "tests": outcomes, "failed": failed, "missed": missed,
    }  # fmt: skip
    (DOCS / "faults.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    parts = [_head(facts), _kills(kills), _claude(claude), _promises(figures, outcomes)]
    (DOCS / "faults.md").write_text("\n".join(part for part in parts if part))
    return facts


def _head(facts: Json) -> str:
    here = facts["machine"]
    names = ", ".join(f"{name} {here[name]}" for name in PROGRAMS)
    return f"""<!-- Written by `make faults`. Do not edit. -->
# What was broken, and what came of it

`make faults` kills servers and agents at random moments and holds three records against each
other: what the agent emitted (its own journal, synced before each line), what the store holds, and
what a client rendered by the rules of [protocol.md](protocol.md). Every case is drawn from one
integer: `make faults CASE=<n>` plays it again. The short version is part of `make test`.

Machine: {here["cores"]} shared cores, {here["system"]}, Python {here["python"]}, SQLite
{here["sqlite"]}, {names}; load {here["load"]} at the end, {here["when"]}. Nine of ten cases run
against a whole `ServerApp` forked from a process that has done its imports, with other extensions
off; every tenth against `jupyter server` started from nothing.
"""


def _kills(kills: Json | None) -> str:
    if kills is None:
        return ""
    failed = kills["failed"]
    recovery, catch_up = kills["recovery_ms"], kills["catch_up_ms"]
    rows = [
        ("kills", f"**{kills['kills']}** in {kills['cases']} cases, {kills['seconds']} s"),
        ("runs, events", f"{kills['runs']}, {kills['events']}"),
        ("cases with a real `jupyter server`", str(kills["real_servers"])),
        ("faults found", f"**{len(failed)}**" + (f": cases {', '.join(failed)}" if failed else "")),
        ("struck", _counts(kills["victims"])),
        ("`restart_policy`", _counts(kills["policies"])),
        ("outcomes", _counts(kills["outcomes"])),
        ("state of the chat known again after the start", _spread(recovery)),
        ("catch-up of a client after a cut or a start", _spread(catch_up)),
    ]
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"""## Random kills, scenario agent
A fault is any of: an event lost or doubled, seqs that do not rise, a run without exactly one
`complete`, an open tool or ask behind it, a client that shows something else than the store, a run
that ran twice, a chat stuck, a process left over, `quick_check` not ok.

| | |
|---|---|
{table}
"""


def _claude(claude: Json | None) -> str:
    if claude is None:
        return ""
    rows = "\n".join(
        f"| {name} | {value} |"
        for name, value in claude.items()
        if isinstance(value, (int, float, str))
    )
    return (
        f"## Random kills, real Claude Code against a fake model server\n| | |\n|---|---|\n{rows}\n"
    )


def _promises(figures: list[Json], outcomes: dict[str, str]) -> str:
    by_promise: dict[str, list[Json]] = defaultdict(list)
    for figure in figures:
        by_promise[figure["promise"]].append(figure)
    rows = []
    for promise, text in PROMISES.items():
        mine = [outcome for test, outcome in outcomes.items() if promise_of(test) == promise]
        state = f"{mine.count('passed')} of {len(mine)} tests pass" if mine else "no test ran"
        state = NOT_BUILT.get(promise, state)
        said = "; ".join(_figure(figure) for figure in by_promise[promise])
        rows.append(f"| {promise} | {text} | {state} | {said} |")
    table = "\n".join(rows)
    return f"## The promises\n| | promise | state | figures |\n|---|---|---|---|\n{table}\n"


def _figure(figure: Json) -> str:
    goal = "" if figure["at_most"] is None else f" (≤ {figure['at_most']:g})"
    missed = "" if figure["held"] else " **missed**"
    return f"{figure['what']} {figure['value']:g} {figure['unit']}{goal}{missed}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _spread(figures: Json) -> str:
    if not figures["n"]:
        return "none"
    spread = ", ".join(f"{name} {figures[name]} ms" for name in ("p50", "p95", "max"))
    return f"{spread} (n = {figures['n']})"
