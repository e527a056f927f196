"""`make bench` (`B=P1` for one): runs the benches and prints their table.

Compare ratios of one run, not absolute values of two.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

BENCHES = {
    "P1": "bench_stream",
    "P4": "bench_first_event",
    "P12": "bench_store",
    "P22": "bench_start",
}


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="Benchmarks: ratios against a floor of the run")
    parser.add_argument("only", nargs="*", help="by goal, e.g. P1")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    options = parser.parse_args()
    before, rows = os.getloadavg()[0], []
    for goal in options.only or BENCHES:
        for row in importlib.import_module(f"tests.bench.{BENCHES[goal]}").run():
            line = as_dict(row)
            rows.append(line)
            print(render(line), flush=True)
    facts = {
        "when": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_before": before,
        "load_after": os.getloadavg()[0],
        "rows": rows,
    }
    if options.json:
        options.json.write_text(json.dumps(facts, indent=1) + "\n")
    print(f"load {before:.1f} -> {facts['load_after']:.1f} on {facts['cores']} cores")
    return 0


def as_dict(row: Any) -> dict[str, Any]:
    """A row as plain data; benches may return Rows or dicts."""
    if isinstance(row, dict):
        return row
    ratio = None if row.ratio is None else round(row.ratio, 2)
    return {
        "name": row.name, "ours": round(row.ours, 3), "ratio": ratio, "unit": row.unit,
        "floor": None if row.floor is None else round(row.floor, 3),
        "goal": row.goal, "n": row.n, "note": row.note,
    }  # fmt: skip


def render(row: dict[str, Any]) -> str:
    floor = "" if row.get("floor") is None else f"floor {row['floor']:.3f}"
    ratio = "" if row.get("ratio") is None else f"{row['ratio']:.2f}x"
    return (
        f"{row['name']:<52} {row['ours']:>10.3f} {row['unit']:<5} {floor:<16} {ratio:>8}  "
        f"{row.get('goal', ''):<16} n={row['n']} {row.get('note', '')}"
    )


if __name__ == "__main__":
    sys.exit(main())
