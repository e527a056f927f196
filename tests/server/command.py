"""The command as a user runs it: its own process, in a home of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import Request, urlopen

SCENARIO_AGENT = Path(__file__).parent.parent / "fakes" / "scenario_agent.py"
DEADLINE_S = 45.0

T = TypeVar("T")


@dataclass(frozen=True)
class Home:
    """A person's account: configuration, data, one project. Nothing of the machine's is seen."""

    path: Path
    project: Path
    _started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.path),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),  # noqa: S108 - the system's own default
            "AGENTCHAT_TOUR_PACE": "0",
        }

    def configure(self, **traits: Any) -> None:
        """Settings of AgentChatApp, beside the scenario agent and one that is not installed."""
        agents = {
            "scenario": {"kind": "native", "command": [sys.executable, str(SCENARIO_AGENT)]},
            "absent": {"kind": "native", "command": ["agentchat-no-such-program"]},
        }
        folder = self.path / ".jupyter"
        folder.mkdir(exist_ok=True)
        agents |= traits.pop("provider_settings", {})
        config = {"AgentChatApp": {"provider_settings": agents, **traits}}
        (folder / "jupyter_server_config.json").write_text(json.dumps(config))

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "jupyter_agentchat.command.main", *arguments]

    def run(
        self, *arguments: str, stdin: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the command in the project, without a terminal, to its end."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.project,
            env=self.environment | environment,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Begin the command in the project, without a terminal."""
        process = subprocess.Popen(
            self.command(*arguments),
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        """End what a failed test has left running."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.communicate()


def make_home(path: Path, **traits: Any) -> Home:
    """An account with a project of one file."""
    home = Home(path / "home", path / "project")
    home.path.mkdir()
    home.project.mkdir()
    (home.project / "a.md").write_text("hello\n")
    home.configure(**traits)
    return home


class RunningServer:
    """A Jupyter server as somebody else has started it."""

    def __init__(self, home: Home, log: Path) -> None:
        self.home = home
        self._log = log
        with log.open("wb") as output:
            arguments = ["--no-browser", "--ip=127.0.0.1", "--ServerApp.port=0", "--allow-root"]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyter_server", *arguments],
                cwd=home.project,
                env=home.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.info = eventually(self._read_info)
        eventually(lambda: self.call("GET", "status"))

    def _read_info(self) -> dict[str, Any] | None:
        assert self._process.poll() is None, self._log.read_text()
        for path in self.home.path.rglob(f"jpserver-{self._process.pid}.json"):
            try:
                found: dict[str, Any] = json.loads(path.read_text())
            except ValueError:
                continue
            return found
        return None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """A call of the REST API with the server's token."""
        request = Request(  # noqa: S310 - http, to 127.0.0.1
            f"{self.info['url']}agentchat/api/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.info['token']}"},
        )
        try:
            with urlopen(request, timeout=10) as answer:  # noqa: S310
                return json.loads(answer.read())
        except OSError:
            return None

    def kill(self) -> None:
        """As if the machine had lost power, for the server alone."""
        self._process.kill()
        self._process.wait(10)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(20)


def eventually(look: Callable[[], T | None]) -> T:
    """What `look` gives as soon as it gives something."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("what the test waits for did not happen")


def script(*steps: Any) -> str:
    """A prompt that drives the scenario agent."""
    return "scenario:" + json.dumps(list(steps))
