"""`jupyter agentchat` where no server runs: it starts one for itself and leaves nothing behind."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from .command import DEADLINE_S, Home, eventually, make_home, script

pytestmark = pytest.mark.timeout(180)  # each test starts servers


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = make_home(tmp_path)
    yield made
    made.close()


def children_of(pid: int) -> list[int]:
    """The child processes of `pid`."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in listed.stdout.split()]


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] == "Z"
    except OSError:
        return True


def test_the_tour_runs_headless_and_denies_what_it_asks(home: Home) -> None:
    done = home.run("send", "show me around", "--agent", "tour")
    assert done.returncode == 0, done.stderr
    assert "I am the **Tour**" in done.stdout
    assert "Nobody can be asked" in done.stderr
    assert "write  agentchat-tour.md" in done.stderr
    assert [path.name for path in home.project.iterdir()] == ["a.md"]
    assert not list(home.path.rglob("jpserver-*")), "its server was announced"

    listed = home.run("chats", "--json")
    chats = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [(c["provider"], c["project"], c["state"]) for c in chats] == [("tour", "", "idle")]


def test_every_event_is_a_line_of_json(home: Home) -> None:
    done = home.run("send", script({"say": "Hello", "chunks": 2}), "--agent", "scenario", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    types = [event["type"] for event in events]
    assert types[:3] == ["user", "run_started", "session"]
    assert types.count("complete") == 1
    seqs = [event["seq"] for event in events]
    assert seqs == sorted(set(seqs))
    assert len({(event["chat_id"], event["run_id"]) for event in events}) == 1
    assert done.returncode == 0, done.stderr


def test_a_wait_that_nobody_could_end_is_refused_at_once(home: Home) -> None:
    done = home.run("send", "x", "--agent", "scenario", "--on-ask", "wait")
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr


def test_an_agent_that_calls_the_command_cannot_raise_its_own_permission(home: Home) -> None:
    asked = ("send", "x", "--agent", "scenario", "--permission", "full")
    refused = home.run(*asked, AGENTCHAT_CHILD="child-of-an-agent")
    assert refused.returncode == 4, refused.stderr
    assert home.run(*asked).returncode == 0


def test_a_settings_file_that_opens_the_server_to_all_does_not_open_ours(home: Home) -> None:
    everywhere = "0.0.0.0"  # noqa: S104 - what must not happen
    traits = {"ServerApp": {"ip": everywhere}, "IdentityProvider": {"token": ""}}
    path = home.path / ".jupyter" / "jupyter_server_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **traits}))
    running = home.start("send", script({"say": "begun\n"}, "hang"), "--agent", "scenario")
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    try:
        [server] = children_of(running.pid)
        [(address, port)] = listens_on(server)
        assert address == "127.0.0.1"
        with pytest.raises(HTTPError) as refused:
            urlopen(f"http://127.0.0.1:{port}/agentchat/api/status", timeout=10)
        assert refused.value.code == 403
        refused.value.close()
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=DEADLINE_S)


def listens_on(pid: int) -> set[tuple[str, int]]:
    """Addresses and ports that a process listens on."""
    sockets = set()
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            found = re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink()))
        except OSError:
            continue
        if found:
            sockets.add(found[1])
    addresses = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and words[9] in sockets:
            host, port = words[1].split(":")
            packed = bytes.fromhex(host)[::-1]
            addresses.add((".".join(str(byte) for byte in packed), int(port, 16)))
    return addresses


class NotForUs(BaseHTTPRequestHandler):
    """A server without our extension, or, below /locked/, one that wants a password."""

    def do_GET(self) -> None:
        locked = self.path.startswith("/locked/")
        body = b'{"error": {"code": "forbidden", "message": "no", "details": {}}}'
        self.send_response(403 if locked else 404)
        self.end_headers()
        self.wfile.write(body if locked else b"<h1>404</h1>")

    def log_message(self, *_arguments: object) -> None:
        """Silent."""


def test_servers_that_cannot_be_used_are_passed_over_and_named(home: Home) -> None:
    runtime = home.path / "runtime"
    runtime.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), NotForUs) as other:
        thread = Thread(target=other.serve_forever)
        thread.start()
        try:
            for name in ("", "locked/"):
                url = f"http://127.0.0.1:{other.server_port}/{name}"
                info = {"pid": os.getpid(), "url": url, "root_dir": str(home.project), "token": ""}
                (runtime / f"jpserver-{len(name)}.json").write_text(json.dumps(info))
            prompt = ("send", "hello", "--agent", "scenario")
            done = home.run(*prompt, JUPYTER_RUNTIME_DIR=str(runtime))
        finally:
            other.shutdown()
            thread.join()
    assert (done.returncode, done.stdout) == (0, "You said: hello\n"), done.stderr
    assert "/ does not answer for chats" in done.stderr
    assert "/locked/ does not take its token" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_its_server_ends_with_it_however_it_ends(home: Home, number: signal.Signals) -> None:
    running = home.start("send", script({"say": "begun\n"}, {"sleep": 600}), "--agent", "scenario")
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    [server] = children_of(running.pid)
    [agent] = children_of(server)
    cmdline = Path(f"/proc/{server}/cmdline").read_bytes().split(b"\0")
    assert cmdline[1:] == [b"-P", b"-m", b"jupyter_agentchat.command.serve", b""]
    running.send_signal(number)
    _, said = running.communicate(timeout=DEADLINE_S)
    eventually(lambda: gone(server) and gone(agent))
    if number != signal.SIGKILL:
        assert running.returncode == 3, said
        assert "Traceback" not in said


# ---- at a terminal ------------------------------------------------------------------------------


class Terminal:
    """A pseudo-terminal with the command in it, used as a person does."""

    def __init__(self, home: Home, *arguments: str) -> None:
        self._fd, other = pty.openpty()
        self.process = subprocess.Popen(
            home.command(*arguments),
            cwd=home.project,
            env=home.environment | {"TERM": "xterm", "NO_COLOR": "1"},
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self.shown = ""

    def until(self, *texts: str) -> None:
        """Read until `texts` are shown, one behind the other."""
        wanted = re.compile(".*".join(map(re.escape, texts)), re.DOTALL)
        end = time.monotonic() + DEADLINE_S
        while not wanted.search(self.shown):
            assert time.monotonic() < end, self.shown
            if select.select([self._fd], [], [], 0.1)[0] and not self._read():
                raise AssertionError(self.shown)

    def type(self, line: str) -> None:
        """Type a line."""
        self.shown = ""
        os.write(self._fd, line.encode() + b"\n")

    def end(self) -> int:
        """The exit code."""
        while self._read():
            pass
        return self.process.wait(DEADLINE_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        os.close(self._fd)

    def _read(self) -> bool:
        try:
            data = os.read(self._fd, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # nobody holds the other end any more
                raise
            return False
        self.shown += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


@contextmanager
def terminal(home: Home, *arguments: str) -> Iterator[Terminal]:
    opened = Terminal(home, *arguments)
    try:
        yield opened
    finally:
        opened.close()


def test_asks_are_answered_at_the_terminal(home: Home) -> None:
    command = {"title": "May I run it?", "input": {"kind": "shell", "command": "rm -rf build"}}
    steps = (
        {"ask": command, "allow": [{"say": "It ran."}], "deny": [{"say": "It did not run."}]},
        {"ask": {"title": "And this?"}, "allow": [{"say": "Bad."}], "deny": [{"say": "{answer}"}]},
        {"question": {}, "allow": [{"say": "Colour {answer}."}]},
    )
    with terminal(home, "send", script(*steps), "--agent", "scenario") as person:
        person.until("to deny:")
        assert "May I run it?\n  rm -rf build\n" in person.shown
        person.type("")
        person.until("Nothing was chosen.", "to deny:")
        person.type("1")
        person.until("And this?", "to deny:")
        assert "It ran." in person.shown
        person.type("no not today")
        person.until("of your own:")
        assert "not today" in person.shown
        person.type("2")
        person.until("Colour")
        assert person.end() == 0
        assert "Blue" in person.shown


def test_a_project_is_trusted_at_the_terminal_or_not(home: Home) -> None:
    (home.project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "touch"}}}')
    with terminal(home, "send", "hello", "--agent", "scenario") as person:
        person.until("yes or no:")
        assert "claude: mcp .mcp.json" in person.shown
        person.type("perhaps")
        person.until("yes or no:")
        person.type("no")
        person.until("You said: hello")
        assert person.end() == 0
    # the decision is kept
    assert home.run("send", "again", "--agent", "scenario").returncode == 0
