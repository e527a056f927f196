"""`make faults` (KILLS=1000, CASE=n for one case): kill, test every promise, write the report.

Ends with 1 when a case or a test failed, or a figure missed its goal.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.conftest import PROGRAMS
from tests.faults import killer, report

ROOT = Path(__file__).parent.parent.parent


def promises(folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The long version of the promises' tests: figures, and the outcome of each test."""
    found = folder / "figures.jsonl"
    found.touch()
    environment = {**os.environ, "PYTEST_FAULTS": "long", "PYTEST_FAULTS_REPORT": str(found)}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "tests/faults"]
    subprocess.run(command, cwd=ROOT, env=environment, check=False)
    return report.read_lines(found)


def claude(kills: int) -> dict[str, Any] | None:
    """The same with the real Claude Code; None where it is not installed (`make agents`)."""
    program = ROOT / PROGRAMS["claude"][0]
    if not program.exists() or not kills:
        return None
    command = [sys.executable, "-m", "tests.agents.claude_kills", f"--program={program}"]
    done = subprocess.run(
        [*command, f"--kills={kills}"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout.rpartition("\n{")[2] or "the killer of Claude Code said nothing")
    runs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {
        "version": PROGRAMS["claude"][1],
        "kills": sum(run["kills"] for run in runs),
        "kills behind the prompt": sum(run["kills_in_run"] for run in runs),
        "runs": len(runs),
        "runs with faults": sum(bool(run["faults"]) for run in runs),
        "ended": done.returncode,
    }


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description="Break things, and report what came of it")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--claude-kills", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--case", type=int, help="one case of the killer alone; no report")
    options = parser.parse_args()
    if options.case is not None:
        results: list[dict[str, Any]] = []
        killer.play([options.case], None, results.append)
        print(json.dumps(results[0], indent=1, ensure_ascii=False))
        return 1 if results[0]["faults"] else 0
    began = time.monotonic()
    kills = None
    if options.kills:
        kills = killer.summary(killer.run(options.kills, options.jobs, 0))
        kills["seconds"] = round(time.monotonic() - began)
    with tempfile.TemporaryDirectory(prefix="agentchat-faults-") as name:
        figures, outcomes = promises(Path(name))
    real = claude(options.claude_kills)
    facts = report.write(kills, figures, outcomes, real)
    for figure in facts["missed"]:
        print(f"missed: {figure['promise']} {figure['what']}: {figure['value']} {figure['unit']}")
    lost = bool((kills and kills["failed"]) or (real and real["ended"]))
    wrong = bool(facts["failed"] or facts["missed"] or lost)
    print(f"docs/faults.md is written; {'something is wrong' if wrong else 'all held'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
