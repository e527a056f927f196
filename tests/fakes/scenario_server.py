#!/usr/bin/env python3
"""The scenario agent as one process for many chats, over its standard streams or a port.

Lines carry the run: `{"run_id", "body"}` out, `{"run_id", "op"}` in. Each run has a thread of its
own, so that runs go on side by side. A run begins once, however often it is asked for.

`--port`: it listens on a free port of 127.0.0.1 instead. Its first line on standard output says
where, and the secret that a client's first line must be; standard output is a file that only this
user can read. A client asks `{"run_id", "replay": n}` for what the run has said from line n on
(n counts from 0) and for all that follows, as `{"run_id", "number", "body"}`; nothing is lost
while no client is there.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import socket
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fakes.scenario_agent import Json, Run, Wire, parse_steps


class RunWire(Wire):
    """What a run reads and writes."""

    def __init__(self, server: Server, run_id: str) -> None:
        self.closed = False
        self.inbox: queue.SimpleQueue[Json] = queue.SimpleQueue()
        self._server = server
        self._run_id = run_id

    def write(self, *lines: bytes) -> None:
        for line in lines:
            self._server.say(self._run_id, line.decode())

    def read(self, timeout_s: float | None) -> Json | None:
        try:
            return self.inbox.get(timeout=timeout_s) if timeout_s != 0 else self.inbox.get_nowait()
        except queue.Empty:
            return None


class Server:
    """The runs, by their ids, and all that they have said."""

    def __init__(self, clients: list[socket.socket] | None) -> None:
        self._clients = clients
        self._lock = threading.Lock()
        self._wires: dict[str, RunWire] = {}
        self._said: dict[str, list[str]] = {}
        self._followed: dict[socket.socket, set[str]] = {}

    def say(self, run_id: str, line: str) -> None:
        """One line of a run, to whoever follows it."""
        with self._lock:
            if self._clients is None:
                body = f'{{"run_id": {json.dumps(run_id)}, "body": {line}}}\n'
                os.write(1, body.encode())
                return
            said = self._said.setdefault(run_id, [])
            said.append(line)
            for client, runs in self._followed.items():
                if run_id in runs:
                    self._send(client, run_id, len(said) - 1)

    def replay(self, client: socket.socket, run_id: str, start: int) -> None:
        """All from line `start` on, then what follows: in one step, so that none is left out."""
        with self._lock:
            self._followed.setdefault(client, set()).add(run_id)
            for number in range(start, len(self._said.get(run_id, []))):
                self._send(client, run_id, number)

    def forget(self, client: socket.socket) -> None:
        with self._lock:
            self._followed.pop(client, None)

    def _send(self, client: socket.socket, run_id: str, number: int) -> None:
        body = self._said[run_id][number]
        line = f'{{"run_id": {json.dumps(run_id)}, "number": {number}, "body": {body}}}\n'
        with contextlib.suppress(OSError):  # it is gone, and comes back for it
            client.sendall(line.encode())

    def take(self, run_id: str, op: Json) -> None:
        """An operation for a run; `run` begins it, once."""
        if op["op"] == "run":
            if run_id not in self._wires:
                wire = self._wires[run_id] = RunWire(self, run_id)
                threading.Thread(target=self._play, args=(wire, op["request"]), daemon=True).start()
        elif run_id in self._wires:
            self._wires[run_id].inbox.put(op)

    def _play(self, wire: RunWire, request: Json) -> None:
        Run(wire, request).play(parse_steps(request["prompt"], None))


def serve_client(server: Server, client: socket.socket, secret: str) -> None:
    """One connection: the secret, then lines, until it is closed."""
    with client, client.makefile("rb") as lines:
        if lines.readline().decode().strip() != secret:
            return
        for line in lines:
            message: dict[str, Any] = json.loads(line)
            if "replay" in message:
                server.replay(client, message["run_id"], message["replay"])
            else:
                server.take(message["run_id"], message["op"])
        server.forget(client)


def main() -> None:
    if "--port" not in sys.argv:
        server = Server(None)
        os.write(1, b'{"hello": "scenario server"}\n')
        for line in sys.stdin:
            message = json.loads(line)
            server.take(message["run_id"], message["op"])
        return
    server, secret = Server([]), secrets.token_hex(16)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        os.write(1, json.dumps({"port": port, "secret": secret}).encode() + b"\n")
        while True:
            client, _ = listener.accept()
            threading.Thread(
                target=serve_client, args=(server, client, secret), daemon=True
            ).start()


if __name__ == "__main__":
    main()
