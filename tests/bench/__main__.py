"""`make bench` (`B=P1` for one): runs the benches and prints their table.

Compare ratios of one run, not absolute values of two.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sqlite3
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.bench import table

BENCHES = {
    "P1": "bench_stream",  # and P9
    "P2": "bench_many_streams",  # and P6, P11
    "P4": "bench_first_event",
    "P5": "bench_runs",  # and P20, P24
    "P7": "bench_fan_out",  # and P8
    "P10": "bench_disk",
    "P12": "bench_store",  # and P14, P15
    "P3": "bench_browser",  # and P13, P16
    "P15": "bench_list",
    "P18": "bench_recovery",  # and P19, P21, P25
    "P22": "bench_start",
}
TOGETHER = {
    "P9": "P1", "P6": "P2", "P11": "P2", "P20": "P5", "P24": "P5", "P8": "P7", "P14": "P12",
    "P13": "P3", "P16": "P3", "P19": "P18", "P21": "P18", "P25": "P18",
}  # fmt: skip
"""Goals that are measured beside another one."""
REPORTS = Path(__file__).parent.parent.parent / "build" / "bench"


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="Benchmarks: ratios against a floor of the run")
    parser.add_argument("only", nargs="*", help="by goal, e.g. P1")
    parser.add_argument("--json", type=Path, help="where the run is kept, default build/bench")
    parser.add_argument("--docs", action="store_true", help="put the table into the docs, too")
    options = parser.parse_args()
    before, rows = os.getloadavg()[0], []
    goals = dict.fromkeys(TOGETHER.get(goal, goal) for goal in options.only or BENCHES)
    for goal in goals:
        for row in importlib.import_module(f"tests.bench.{BENCHES[goal]}").run():
            line = as_dict(row)
            rows.append(line)
            print(render(line), flush=True)
    facts = {
        "when": time.strftime("%Y-%m-%d %H:%M"),
        "commit": commit(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("jupyter_server", "tornado", "pydantic")},
        "sqlite": sqlite3.sqlite_version,
        "cores": os.cpu_count(),
        "load_before": before,
        "load_after": os.getloadavg()[0],
        "rows": rows,
    }
    kept = options.json or REPORTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(facts, indent=1) + "\n")
    if options.docs:
        table.put(facts)
    print(f"load {before:.1f} -> {facts['load_after']:.1f} on {facts['cores']} cores")
    return 0


def commit() -> str:
    """The commit that was measured; a + behind it when files had been changed."""
    here = Path(__file__).parent
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"],
        cwd=here, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return said.stdout.strip() or "unknown"


def as_dict(row: Any) -> dict[str, Any]:
    """A row as plain data; benches may return Rows or dicts."""
    if isinstance(row, dict):
        return row
    ratio = None if row.ratio is None else round(row.ratio, 2)
    return {
        "name": row.name, "ours": round(row.ours, 3), "ratio": ratio, "unit": row.unit,
        "floor": None if row.floor is None else round(row.floor, 3),
        "goal": row.goal, "n": row.n, "note": row.note, "peer": row.peer,
        "spread": {name: round(value, 3) for name, value in row.spread.items()},
    }  # fmt: skip


def render(row: dict[str, Any]) -> str:
    floor = "" if row.get("floor") is None else f"floor {row['floor']:.3f}"
    ratio = "" if row.get("ratio") is None else f"{row['ratio']:.2f}x"
    peer = f"  peer: {row['peer']}" if row.get("peer") else ""
    return (
        f"{row['name']:<52} {row['ours']:>10.3f} {row['unit']:<5} {floor:<16} {ratio:>8}  "
        f"{row.get('goal', ''):<16} n={row['n']} {row.get('note', '')}{peer}"
    )


if __name__ == "__main__":
    sys.exit(main())
