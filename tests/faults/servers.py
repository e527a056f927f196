"""Servers that tests kill, stop and look into: warm ones (see warm_server) and real ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.faults.warm_server import OTHER_EXTENSIONS
from tests.server.conftest import SCENARIO_AGENT
from tests.server.jupyter_process import TOKEN, JupyterProcess, alive

ROOT = Path(__file__).parent.parent.parent
START_DEADLINE_S = 40.0


class WarmServers:
    """The process that forks servers; make one and keep it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.warm_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        )
        self._line()

    def fork(self, **order: Any) -> int:
        """Start a server; returns its pid at once."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the forking process is gone"
        return line.strip()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()


class FaultServer(JupyterProcess):
    """A server on its own store. `warm=None`: the real `jupyter server`, started from nothing."""

    def __init__(
        self,
        home: Path,
        warm: WarmServers | None,
        *,
        traits: dict[str, Any] | None = None,
        data_dir: Path | None = None,
        env: dict[str, str] | None = None,
        clock: Path | None = None,
    ) -> None:
        super().__init__(home)
        self.warm = warm
        self.data_dir = data_dir or home / "data"
        self.journals = home / "journals"
        self.root = home / "root"
        self.traits = traits or {}
        self.env = env or {}
        self.clock = clock
        self.pid = 0
        self.launched_at = self.ready_at = 0.0

    def configure(self) -> None:
        """Write the configuration and make the folders; again is harmless."""
        for folder in (self.root, self.journals):
            folder.mkdir(exist_ok=True)
        agent = [sys.executable, str(SCENARIO_AGENT), "--journals", str(self.journals)]
        scenario = {"kind": "native", "command": agent}
        extensions = {"jupyter_agentchat": True, **dict.fromkeys(OTHER_EXTENSIONS, False)}
        app: dict[str, Any] = {
            "data_dir": str(self.data_dir),
            "allow_token_approvals": True,
            "provider_settings": {"scenario": scenario},
            **self.traits,
        }
        config = {"ServerApp": {"jpserver_extensions": extensions}, "AgentChatApp": app}
        (self.home / "config.json").write_text(json.dumps(config))

    def launch(self) -> None:
        """Start the process and return at once."""
        self.configure()
        self.launched_at = time.monotonic()
        arguments = [
            *("--no-browser", "--allow-root", f"--config={self.home / 'config.json'}"),
            *(f"--ServerApp.root_dir={self.root}", "--ip=127.0.0.1", f"--port={self.port}"),
            *("--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"),
        ]
        # a killed server cannot remove its scratch folder: it lies in the home, which goes
        places = {"HOME": str(self.home), "TMPDIR": str(self.home)}
        env = {"PATH": os.environ["PATH"], **places, **self.env}
        if self.warm is not None:
            clock = str(self.clock) if self.clock else None
            self.pid = self.warm.fork(argv=arguments, env=env, log=str(self.log), clock=clock)
            return
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyter_server", *arguments],
                env=env, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.pid = self.process.pid

    def start(self) -> float:
        """Start, wait until it answers; returns the monotonic time when it first did."""
        self.launch()
        return self.wait_ready()

    def wait_ready(self) -> float:
        """Until it answers; AssertionError with its log when it does not."""
        deadline = time.monotonic() + START_DEADLINE_S
        while time.monotonic() < deadline and self.running:
            with suppress(OSError):
                self.call("GET", "status")
                self.ready_at = time.monotonic()
                return self.ready_at
            time.sleep(0.02)
        raise AssertionError(f"the server does not start:\n{self.log.read_text()[-3000:]}")

    @property
    def running(self) -> bool:
        return bool(self.pid) and alive(self.pid)

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait_end(self, timeout_s: float = 20.0) -> None:
        """Until the process is gone; AssertionError when it stays."""
        deadline = time.monotonic() + timeout_s
        while self.running:
            assert time.monotonic() < deadline, f"the server does not end: {self.log.read_text()}"
            time.sleep(0.005)
        if self.process is not None:
            self.process.wait(5)

    def kill(self) -> None:
        """SIGKILL, to the server alone."""
        self.signal(signal.SIGKILL)
        self.wait_end()

    def stop(self) -> None:
        """SIGTERM, as a service manager sends it."""
        if self.running:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            self.wait_end()

    # ---- what it holds ------------------------------------------------------------------------

    def all_events(self, chat_id: str) -> list[dict[str, Any]]:
        """The whole log by REST, page by page."""
        events: list[dict[str, Any]] = []
        while True:
            after = events[-1]["seq"] if events else 0
            page = self.call("GET", f"chats/{chat_id}/events?after={after}&limit=2000")
            events += [without_chat(event) for event in page["events"]]
            if not page["has_more"]:
                return events

    def new_chat(self, **fields: Any) -> str:
        return str(self.call("POST", "chats", {"provider": "scenario", **fields})["id"])

    def prompt(self, chat_id: str, client_id: str, text: str) -> dict[str, Any]:
        body = {"client_id": client_id, "text": text}
        answer: dict[str, Any] = self.call("POST", f"chats/{chat_id}/prompts", body)
        return answer

    def open_files(self) -> list[str]:
        """What its descriptors are; no sockets, since clients come and go."""
        found = []
        for entry in Path(f"/proc/{self.pid}/fd").iterdir():
            with suppress(OSError):
                found.append(str(entry.readlink()))
        return sorted(name for name in found if not name.startswith(("socket:", "/proc/")))

    def rss_mb(self) -> float:
        """Resident memory of the server alone, in MB."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def family(self) -> list[int]:
        """Processes of this home beside the server: agents, keepers, what they left behind."""
        mark, found = f"HOME={self.home}".encode(), []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != self.pid:
                with suppress(OSError):
                    environment = (entry / "environ").read_bytes().split(b"\0")
                    if mark in environment and alive(int(entry.name)):
                        found.append(int(entry.name))
        return found

    def agents(self) -> list[int]:
        """The scenario agents among `family`, forks and daemons of theirs included."""
        found = []
        for pid in self.family():
            with suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if len(command) > 1 and command[1] == str(SCENARIO_AGENT).encode():
                    found.append(pid)
        return found

    def wait_family_gone(self, timeout_s: float) -> list[int]:
        """Who is still there after `timeout_s`; [] is what one hopes for."""
        deadline = time.monotonic() + timeout_s
        while (left := self.family()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left

    def end_everything(self) -> None:
        """For the end of a test, whatever happened in it."""
        if self.running:
            self.signal(signal.SIGCONT)
            self.kill()
        for pid in self.family():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def without_chat(event: dict[str, Any]) -> dict[str, Any]:
    """A REST event as the websocket sends it: there the frame says which chat it is."""
    return {key: value for key, value in event.items() if key != "chat_id"}


@contextmanager
def warm_servers() -> Iterator[WarmServers]:
    servers = WarmServers()
    try:
        yield servers
    finally:
        servers.close()
