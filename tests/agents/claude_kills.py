"""Kills the server of a Claude Code run at random, again and again, and compares what came of it.

    python -m tests.agents.claude_kills --program PATH --kills 100 [--seed 1]

The "server" is a small program that drives one run over the spool launcher, keeps what the hub
would keep (the run's mark, each step behind its offset) and stores before it shows. It is killed
with KILL and started anew until the run is over; then its events must be those of a run that
nobody disturbed, and the model must have been called as often.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_agentchat.errors import ProviderError
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.events import Ask, EventBody
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.fakes.fake_anthropic import FakeAnthropic

Json = dict[str, Any]

ROOT = Path(__file__).parent.parent.parent
PROMPTS = ("steady", "run ls", "touch", "think", "write file", "say hello")
SESSION = "5f0c7a52-0000-4000-8000-000000000000"
DEADLINE_S = 60.0
# what differs from one run to the next: ids, times, and what hangs on the length of a path
_IDS = re.compile(r"msg_[0-9a-f]+|toolu_[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VARYING = frozenset({"duration_ms", "usage", "cost_usd", "input_tokens"})


# ---- the server


@dataclass
class Desk:
    """The files of one run, as they would stand in the store."""

    directory: Path

    @property
    def mark(self) -> Path:
        """Where the run stands in its child."""
        return self.directory / "mark.json"

    @property
    def log(self) -> Path:
        """One line for each step that is stored."""
        return self.directory / "steps.jsonl"

    @property
    def done(self) -> Path:
        """There once the run is over; holds the agent's exit."""
        return self.directory / "done.json"

    def steps(self) -> list[Json]:
        """The steps that are stored. Half a last line, of a killed server, is none."""
        if not self.log.exists():
            return []
        *whole, _torn = self.log.read_bytes().split(b"\n")
        return [json.loads(line) for line in whole]


async def serve(config: Json) -> None:
    """Drive the run to its end, from wherever an earlier server left it."""
    desk = Desk(Path(config["directory"]))
    launcher = SpoolLauncher(desk.directory / "spool")
    scratch = desk.directory / "scratch"
    scratch.mkdir(exist_ok=True)
    settings = ProviderSettings(command=(config["program"],), env=config["settings"])
    adapter = ClaudeAdapter(AdapterContext(launcher, config["environment"], settings, scratch))
    request = RunRequest(
        chat_id="c", run_id=config["run_id"], prompt=config["prompt"], cwd=config["cwd"]
    )

    async def on_child(mark: ChildMark) -> None:
        _replace(desk.mark, {"child_id": mark.child_id, "first": mark.first})

    context = RunContext(trusted=True, first_session_id=SESSION, on_child=on_child)
    stored = desk.steps()
    at = max((step["offset"] for step in stored), default=0)
    if desk.mark.exists():
        mark = ChildMark(**json.loads(desk.mark.read_text()), stored=at)
        run = await adapter.attach(request, context, mark)
    else:
        for child_id in launcher.stale():
            await launcher.discard(child_id)
        run = await adapter.start(request, context)
    (child,) = launcher.children
    with desk.log.open("ab", buffering=0) as log:
        whole = sum(len(line) + 1 for line in desk.log.read_bytes().split(b"\n")[:-1])
        log.truncate(whole)
        async for step in run.steps():
            if step.offset is not None and step.offset > at:
                bodies = [body.model_dump(mode="json") for body in step.bodies]
                log.write(json.dumps({"offset": step.offset, "bodies": bodies}).encode() + b"\n")
            for body in step.bodies:
                await _answer(run, body, config["think_s"])
    await adapter.close()
    _replace(desk.done, {"exit": str(child.exit)})
    await launcher.close()


async def _answer(run: Any, body: EventBody, think_s: float) -> None:
    if isinstance(body, Ask):
        await asyncio.sleep(think_s)
        with suppress(ProviderError):  # an agent that has ended meanwhile tells so by its lines
            await run.answer(body.ask_id, AskAnswer(decision="allow", option_id="allow_once"))


def _replace(path: Path, value: Json) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(value))
    new.replace(path)


# ---- the killer


@dataclass
class Killed:
    """What one disturbed run showed; without `faults`, nothing was lost and nothing doubled."""

    prompt: str
    kills: int = 0
    kills_in_run: int = 0
    lines: int = 0
    faults: list[str] = field(default_factory=list)


class Killer:
    """Runs prompts against a fake model, undisturbed once and then under fire."""

    def __init__(self, program: Path, fake: FakeAnthropic, directory: Path, seed: int) -> None:
        self._program = program
        self._fake = fake
        self._directory = directory
        self._random = random.Random(seed)
        self._undisturbed: dict[str, tuple[list[Any], int, float]] = {}
        self._count = 0

    def disturb(self, prompt: str, kills: int) -> Killed:
        """Run `prompt` while its server is killed up to `kills` times."""
        expected, calls, seconds = self._expected(prompt)
        killed = Killed(prompt)
        before = len(self._fake.calls)
        with self._run(prompt) as (desk, config):
            while not desk.done.exists():
                pause = self._random.uniform(0.3, 0.3 + seconds)
                deadline = pause if killed.kills < kills else DEADLINE_S
                if self._serve(config, deadline):
                    killed.kills += 1
                    killed.kills_in_run += desk.mark.exists()
                elif not desk.done.exists():
                    killed.faults.append("a server failed: " + desk_error(desk))
                    return killed
            steps = desk.steps()
            killed.lines = len(steps)
            offsets = [step["offset"] for step in steps]
            if offsets != sorted(set(offsets)):
                killed.faults.append(f"offsets are doubled or go back: {offsets}")
            found = normal(steps)
            if found != expected:
                killed.faults.append(f"events differ: {difference(expected, found)}")
            if (made := len(self._fake.calls) - before) != calls:
                killed.faults.append(f"{made} calls of the model instead of {calls}")
            if (ended := json.loads(desk.done.read_text())["exit"]) != "exit code 0":
                killed.faults.append(f"the agent ended with {ended}")
        return killed

    def _expected(self, prompt: str) -> tuple[list[Any], int, float]:
        if prompt not in self._undisturbed:
            before, begun = len(self._fake.calls), time.monotonic()
            with self._run(prompt) as (desk, config):
                if self._serve(config, DEADLINE_S) or not desk.done.exists():
                    raise AssertionError("the undisturbed run failed: " + desk_error(desk))
                seconds = time.monotonic() - begun
                calls = len(self._fake.calls) - before
                self._undisturbed[prompt] = (normal(desk.steps()), calls, seconds)
        return self._undisturbed[prompt]

    @contextmanager
    def _run(self, prompt: str) -> Iterator[tuple[Desk, Path]]:
        self._count += 1
        directory = self._directory / f"run-{self._count}"
        home, project = directory / "home", directory / "project"
        for each in (directory, home, project):
            each.mkdir()
        config = {
            "directory": str(directory),
            "program": str(self._program),
            "cwd": str(project),
            "run_id": f"run-{self._count}",
            "prompt": prompt,
            "think_s": 0.3,
            "environment": {
                "HOME": str(home),
                "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "TMPDIR": str(home),
                "ANTHROPIC_BASE_URL": self._fake.url,
                "ANTHROPIC_API_KEY": "sk-fake",
            },
            "settings": {
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
            },
        }
        path = directory / "config.json"
        path.write_text(json.dumps(config))
        desk = Desk(directory)
        try:
            yield desk, path
        finally:
            asyncio.run(_clear(desk))

    def _serve(self, config: Path, seconds: float) -> bool:
        """One life of the server; whether it had to be killed."""
        command = [sys.executable, "-m", "tests.agents.claude_kills", "--serve", str(config)]
        with (config.parent / "server.log").open("ab") as log:
            server = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            server.wait(seconds)
        except subprocess.TimeoutExpired:
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            return True
        return False


async def _clear(desk: Desk) -> None:
    launcher = SpoolLauncher(desk.directory / "spool")
    for child_id in launcher.stale():
        await launcher.discard(child_id)
    await launcher.close()


def desk_error(desk: Desk) -> str:
    """The last words of a server."""
    return (desk.directory / "server.log").read_text()[-2000:]


def normal(steps: list[Json]) -> list[Any]:
    """The bodies of steps with ids by order of appearance, and without what varies."""
    bodies = [_without(body) for step in steps for body in step["bodies"]]
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"id-{len(names)}")

    text = _IDS.sub(name, json.dumps(bodies))
    return list(json.loads(re.sub(r"/run-\d+/", "/run/", text)))


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(item) for key, item in value.items() if key not in _VARYING}
    return [_without(item) for item in value] if isinstance(value, list) else value


def difference(expected: list[Any], found: list[Any]) -> str:
    """The first place where two lists of events part."""
    for index, (one, other) in enumerate(zip(expected, found, strict=False)):
        if one != other:
            return f"at {index}: {json.dumps(one)[:300]} became {json.dumps(other)[:300]}"
    return f"{len(expected)} events became {len(found)}"


def run_kills(
    program: Path,
    directory: Path,
    kills: int,
    *,
    seed: int = 1,
    tell: Callable[[Killed], None] = lambda killed: None,
) -> list[Killed]:
    """Disturb runs until `kills` servers were killed; each run has one or two kills.

    `tell` gets each run when it is over.
    """
    runs: list[Killed] = []
    with FakeAnthropic() as fake:
        killer = Killer(program, fake, directory, seed)
        while sum(run.kills for run in runs) < kills and len(runs) < 4 * kills + 8:
            left = kills - sum(run.kills for run in runs)
            prompt = PROMPTS[len(runs) % len(PROMPTS)]
            runs.append(killer.disturb(prompt, min(left, 1 + len(runs) % 2)))
            tell(runs[-1])
    return runs


def _print(killed: Killed) -> None:
    print(json.dumps(vars(killed)), flush=True)


def main(arguments: list[str]) -> int:
    """See the module; 1 when anything was lost or doubled."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", type=Path)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.serve:
        asyncio.run(serve(json.loads(options.serve.read_text())))
        return 0
    with tempfile.TemporaryDirectory(prefix="claude-kills-") as directory:
        runs = run_kills(
            options.program.absolute(), Path(directory), options.kills, seed=options.seed
        )
    for run in runs:
        print(json.dumps(vars(run)))
    kills, bad = sum(run.kills for run in runs), [run for run in runs if run.faults]
    in_run = sum(run.kills_in_run for run in runs)
    print(f"{kills} kills ({in_run} behind the prompt) in {len(runs)} runs, {len(bad)} with faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
