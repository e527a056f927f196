"""A program: runs `opencode serve` and writes its events to standard output, one a line.

opencode replays nothing: events that come while nobody listens are gone, and the text of a part
that is being written is in none of its answers. So the listener stands beside opencode and not in
our server: what it writes goes where the output of every agent goes, and the next server finds all
of it there, with offsets. Only the standard library is used, and little of it: it stays in memory
as long as opencode does.

    python -I -S feed.py PROGRAM ARGUMENT...        (the password comes in the environment)

It writes `{"feed": "up", "port": N, "times": n}` when it listens (again, `times` above 1: something
may be missing in between), `{"feed": "down"}` when it does not any more, and what opencode sends,
as it is. It reads `{"get": "/path?query", "tag": "x"}` and answers, behind all that was there
before, `{"got": "x", "port": N, "status": 200, "body": ...}`; without an answer the status is 0. At
the end of its input it ends opencode; it ends as opencode did. What opencode prints goes to
standard error.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO

SILENCE_S = 45.0
"""opencode says something every ten seconds; after this long the connection is made anew."""
_GET_S = 20.0
_PAUSE_S = 0.2
_ADDRESS = re.compile(rb"listening on http://127\.0\.0\.1:(\d+)")
_NOISE = re.compile(
    rb'"type":"(?:server\.(?:heartbeat|connected)|(?:catalog|reference|integration)\.updated'
    rb'|file\.watcher\.updated|lsp\.[a-z.]+|plugin\.added|sync)"'
)
_HEAD = 600  # how far into an event its type stands


class Feed:
    """One opencode, and what it says."""

    def __init__(self, command: list[str]) -> None:
        self._writing = threading.Lock()
        self._port = 0
        user = os.environ.get("OPENCODE_SERVER_USERNAME", "opencode")
        secret = f"{user}:{os.environ.get('OPENCODE_SERVER_PASSWORD', '')}"
        self._key = base64.b64encode(secret.encode()).decode()
        self._process = subprocess.Popen(  # noqa: S603 - an argument vector, checked by the launcher
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )

    def run(self) -> int:
        """Until opencode has ended; how it ended, negative for a signal."""
        signal.signal(signal.SIGTERM, lambda *_: self._process.terminate())
        for work in (self._listen, self._obey):
            threading.Thread(target=work, daemon=True).start()
        return self._process.wait()

    def say(self, line: bytes) -> None:
        """Write one line, whole."""
        rest = memoryview(line + b"\n")
        with self._writing:
            while rest:
                rest = rest[os.write(1, rest) :]

    def _tell(self, **said: object) -> None:
        self.say(json.dumps(said).encode())

    def _listen(self) -> None:
        output = self._process.stdout
        if output is None:
            return
        for line in output:
            os.write(2, line)
            if found := _ADDRESS.search(line):
                self._port = int(found[1])
                break
        else:
            return
        threading.Thread(target=self._follow, daemon=True).start()
        for line in output:
            os.write(2, line)

    def _follow(self) -> None:
        times = 0
        while True:
            try:
                with self._open("/global/event", SILENCE_S) as answer:
                    if _status(answer) == 200:
                        times += 1
                        self._tell(feed="up", port=self._port, times=times)
                        for data in _events(answer):
                            if not _NOISE.search(data, 0, _HEAD):
                                self.say(data)
                        self._tell(feed="down")
            except (OSError, ValueError) as error:
                self._tell(feed="down", why=type(error).__name__)
            time.sleep(_PAUSE_S)

    def _obey(self) -> None:
        for line in sys.stdin.buffer:
            try:
                wanted = json.loads(line)
                path, tag = wanted["get"], wanted["tag"]
            except (ValueError, LookupError, TypeError):
                continue
            status, body = 0, b""
            try:
                with self._open(path, _GET_S) as answer:
                    status = _status(answer)
                    body = answer.read()
                json.loads(body)
            except (OSError, ValueError):
                body = b"null"
            said = json.dumps({"got": tag, "port": self._port, "status": status}).encode()
            self.say(said[:-1] + b', "body": ' + body.replace(b"\n", b" ") + b"}")
        self._process.terminate()

    def _open(self, path: str, timeout_s: float) -> IO[bytes]:
        """The answer to a GET. By HTTP/1.0: without keep-alive and without chunks."""
        with socket.create_connection(("127.0.0.1", self._port), timeout_s) as connection:
            connection.sendall(
                f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{self._port}\r\n"
                f"Authorization: Basic {self._key}\r\n\r\n".encode()
            )
            return connection.makefile("rb")


def _status(answer: IO[bytes]) -> int:
    status = int(answer.readline().split()[1])
    while answer.readline().strip():
        pass
    return status


def _events(answer: IO[bytes]) -> Iterator[bytes]:
    for line in answer:
        if line.startswith(b"data:"):
            yield line[5:].strip()


def main() -> None:
    """Run the program of the arguments, and end as it did."""
    code = Feed(sys.argv[1:]).run()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
