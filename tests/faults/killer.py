"""The random but repeatable killer: cases until enough has been killed.

    python -m tests.faults.killer --kills 1000 --jobs 2
    python -m tests.faults.killer --case 17        one case again

Says each failing case with its number, can write a summary as JSON, and ends with 1 when one
failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from collections import Counter
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from jupyter_agentchat.extension import AgentChatApp
from tests.faults.case import Case
from tests.faults.servers import warm_servers

Json = dict[str, Any]
REAL_EVERY = 10
"""Every tenth case runs against `jupyter server` started from nothing."""


def policies() -> list[str]:
    """The values of `restart_policy`; [""] while there is no such setting."""
    if "restart_policy" not in AgentChatApp.class_trait_names():
        return [""]
    return ["crash", "crash", "stop", "reattach"]


def play(numbers: list[int], kills: int | None, report: Any) -> None:
    """Play cases one after the other until they, or the kills, are used up."""
    done = 0
    with warm_servers() as warm:
        for number in numbers:
            case = Case(number, warm, real=number % REAL_EVERY == 9, policies=policies())
            result = asyncio.run(case.play())
            report(result.as_json() | {"home": str(case.home)})
            done += result.kills
            if kills is not None and done >= kills:
                return


def _work(start: int, step: int, kills: int, queue: Any, stop: Event) -> None:
    def report(result: Json) -> None:
        queue.put(result)
        if stop.is_set():
            raise SystemExit

    play(list(range(start, 1_000_000, step)), kills, report)
    queue.put(None)


def run(kills: int, jobs: int, first: int, say: Any = print) -> list[Json]:
    """`kills` kills in `jobs` processes; the results."""
    context = multiprocessing.get_context("spawn")
    queue, stop = context.Queue(), context.Event()
    each = -(-kills // jobs)
    workers = [
        context.Process(target=_work, args=(first + job, jobs, each, queue, stop))
        for job in range(jobs)
    ]
    for worker in workers:
        worker.start()
    results: list[Json] = []
    working = jobs
    while working:
        result = queue.get(timeout=600)
        if result is None:
            working -= 1
            continue
        results.append(result)
        if result["faults"]:
            say(f"case {result['case']} ({result['home']}): {result['faults']}")
        if len(results) % 20 == 0:
            say(f"{sum(r['kills'] for r in results)} kills, {len(results)} cases")
    for worker in workers:
        worker.join(30)
    return results


def summary(results: list[Json]) -> Json:
    """Counts and figures of all cases."""
    recovery = [value for result in results for value in result["recovery_ms"]]
    catch_up = [value for result in results for value in result["catch_up_ms"]]
    return {
        "kills": sum(result["kills"] for result in results),
        "cases": len(results),
        "runs": sum(result["runs"] for result in results),
        "events": sum(result["events"] for result in results),
        "real_servers": sum(result["real_server"] for result in results),
        "victims": dict(Counter(victim for r in results for victim in r["victims"])),
        "policies": dict(Counter(result["policy"] for result in results)),
        "outcomes": dict(Counter(outcome for r in results for outcome in r["outcomes"])),
        "recovery_ms": _quantiles(recovery),
        "catch_up_ms": _quantiles(catch_up),
        "failed": {str(r["case"]): r["faults"] for r in results if r["faults"]},
    }


def _quantiles(values: list[float]) -> Json:
    if not values:
        return {"n": 0}
    ordered = sorted(values)
    return {
        "n": len(ordered),
        "p50": round(statistics.median(ordered), 1),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
        "max": round(ordered[-1], 1),
    }


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description="Kill servers and agents, and look what is left")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="play this case alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    began = time.monotonic()
    if options.case is not None:
        results: list[Json] = []
        play([options.case], None, results.append)
        print(json.dumps(results[0], indent=1, ensure_ascii=False))
    else:
        results = run(options.kills, options.jobs, options.first)
    found = summary(results) | {"seconds": round(time.monotonic() - began)}
    print(json.dumps(found, indent=1, ensure_ascii=False))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
