#!/usr/bin/env python3
"""A stand-in for the Kimi Code program (`web --no-open --port 0`), played from a prompt's words.

It has the REST calls and the websocket that the adapter uses, with what the real server does to a
client: text is told once and never replayed, events are kept (the newest 1,000), a ping that is not
answered closes the socket. Own work, after recordings of the real one. Prompts:

    say WORDS · steady (text for about a second) · endless (until stopped) · deaf (even then) ·
    call · failing call · ask (an approval, then text) · withdraw (an approval that is taken back) ·
    big · torn · crash · odd (events that nobody knows) · recall · cut (the sockets are closed in
    mid-answer) · gap (a piece is lost) · many (1,600 events) · fail CODE · question · plan (to be
    approved, then an approval) · task (a turn by itself afterwards)
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any, Final

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fakes.kimi_sessions import PLAYERS, SESSIONS, Json, Refusal, Session
from tests.fakes.kimi_turns import play

KEPT: Final = 1_000
PING_S: Final = 0.5
HOME: Final = Path(os.environ.get("KIMI_CODE_HOME") or Path(os.environ["HOME"], ".kimi-code"))
_TRUST: dict[str, bool] = {}


class Socket(WebSocketHandler):
    """One websocket."""

    def initialize(self, token: str) -> None:
        self._token, self._ponged = token, True
        self._pinging: asyncio.Task[None] | None = None

    def prepare(self) -> None:
        if self.request.headers.get("Authorization") != f"Bearer {self._token}":
            self.set_status(401)
            self.finish({"code": 40101, "msg": "unauthorized"})

    def open(self) -> None:
        self.say({"type": "server_hello", "payload": {}})
        self._pinging = asyncio.create_task(self._ping())

    def on_close(self) -> None:
        for session in SESSIONS.values():
            session.listeners.discard(self)
        if self._pinging is not None:
            self._pinging.cancel()

    def say(self, frame: Json) -> None:
        if self.ws_connection is not None:
            self.write_message(json.dumps(frame))

    def say_half(self, frame: Json) -> None:
        data = json.dumps(frame).encode()
        stream: Any = getattr(self.ws_connection, "stream", None)
        stream.write(bytes([0x81, 126]) + (len(data) * 2).to_bytes(2, "big") + data)

    def on_message(self, message: str | bytes) -> None:
        asked = json.loads(message)
        payload = asked.get("payload") or {}
        if asked["type"] == "pong":
            self._ponged = True
        elif asked["type"] == "subscribe":
            self._subscribe(asked["id"], payload)
        else:
            for session_id in payload.get("session_ids", []):
                SESSIONS[session_id].listeners.discard(self)

    def _subscribe(self, number: str, payload: Json) -> None:
        answer: Json = {"accepted": [], "not_found": [], "resync_required": [], "cursors": {}}
        for session_id in payload["session_ids"]:
            session = SESSIONS.get(session_id)
            cursor = (payload.get("cursors") or {}).get(session_id)
            if session is None:
                answer["not_found"].append(session_id)
                continue
            if cursor and (
                cursor["epoch"] != session.epoch
                or session.seq - cursor["seq"] > KEPT
                or os.environ.get("FAKE_KIMI_FORGETS")
            ):
                answer["resync_required"].append(session_id)
                continue
            if cursor:
                for frame in session.events:
                    if frame["seq"] > cursor["seq"]:
                        self.say(frame)
            session.listeners.add(self)
            answer["accepted"].append(session_id)
            answer["cursors"][session_id] = {"seq": session.seq, "epoch": session.epoch}
        self.say({"type": "ack", "id": number, "code": 0, "payload": answer})

    async def _ping(self) -> None:
        while self._ponged:
            self._ponged = False
            self.say({"type": "ping", "payload": {"nonce": uuid.uuid4().hex}})
            await asyncio.sleep(2 * PING_S)
        self.close(1001)


class Rest(RequestHandler):
    """Every REST call."""

    def initialize(self, token: str) -> None:
        self._token = token

    async def get(self, path: str) -> None:
        self._answer("GET", path)

    async def post(self, path: str) -> None:
        self._answer("POST", path)

    def _answer(self, method: str, path: str) -> None:
        if self.request.headers.get("Authorization") != f"Bearer {self._token}":
            self.set_status(401)
            self.finish({"code": 40101, "msg": "unauthorized"})
            return
        body = json.loads(self.request.body) if self.request.body else {}
        try:
            data = call(method, path, body)
        except Refusal as refusal:
            self.finish(
                {"code": refusal.code, "msg": str(refusal), "stack": "secret", "data": None}
            )
            return
        code = 40909 if path.endswith(":dismiss") else 0
        self.finish({"code": code, "msg": "success", "data": data})


def call(method: str, path: str, body: Json) -> Json:
    """The `data` of an answer."""
    match path.split("/"):
        case ["models"]:
            item = {"model": "fake/fake-model", "display_name": "Fake", "max_context_size": 1000}
            return {"items": [item]}
        case ["config"]:
            return {"default_model": "fake/fake-model", "permission": {}}
        case ["auth"]:
            signed = {"name": "managed:kimi-code", "status": "authenticated"}
            return {"managed_provider": signed if os.environ.get("FAKE_KIMI_PLAN") else None}
        case ["oauth", "usage"]:
            window = {"duration": 5, "unit": "hour"}
            row = {"window": window, "used": 30, "limit": 120, "reset_at": "2026-12-01T00:00:00Z"}
            return {"kind": "ok", "summary": None, "limits": [row]}
        case ["workspaces"]:
            return {"items": [], "id": "wd_a"} if method == "GET" else {"id": "wd_a"}
        case ["workspaces", _, word]:
            _TRUST["wd_a"] = word == "trust" if method == "POST" else _TRUST.get("wd_a", False)
            return {"trusted": _TRUST["wd_a"]}
        case ["sessions"] if method == "POST":
            session = Session(body["metadata"]["cwd"])
            SESSIONS[session.id] = session
            return {"id": session.id, "workspace_id": "wd_a"}
        case ["sessions"]:
            items = [{"id": one.id, "metadata": one.metadata} for one in SESSIONS.values()]
            return {"items": items}
        case ["sessions", named, *rest]:
            session_id, _, action = named.partition(":")
            if session_id not in SESSIONS:
                raise Refusal(40401, f"session {session_id} does not exist")
            return on_session(SESSIONS[session_id], action, rest, body)
    raise Refusal(40001, f"no such call: {path}")


def on_session(session: Session, action: str, rest: list[str], body: Json) -> Json:
    """A call below a session."""
    match action, rest:
        case "fork", []:
            return {"id": session.fork().id}
        case "undo", []:
            session.undo()
        case "abort", []:
            session.abort()
        case "", ["profile"]:
            model = (body.get("agent_config") or {}).get("model", "fake/fake-model")
            if model != "fake/fake-model":
                raise Refusal(40001, f'Model "{model}" is not configured in config.toml.')
            session.config |= body.get("agent_config") or {}
            session.metadata |= body.get("metadata") or {}
        case "", ["snapshot"]:
            turn = session.running
            return {"as_of_seq": session.seq, "epoch": session.epoch, "in_flight_turn": turn}
        case "", ["transcript"]:
            return {"items": session.turns}
        case "", ["prompts"] if body:
            text = "\n".join(part["text"] for part in body["content"] if part["type"] == "text")
            return {"status": session.submit(body["prompt_id"], text)}
        case "", ["prompts"]:
            active = {"prompt_id": session.active} if session.active else None
            queued = [{"prompt_id": one} for one, _ in session.queue + session.steered]
            return {"active": active, "queued": queued}
        case "", ["prompts:steer"]:
            session.steer(body["prompt_ids"])
        case "", ["prompts", tail]:
            session.abort(tail.partition(":")[0])
        case "", ["approvals" | "questions", tail]:
            answered = session.pending.pop(tail.partition(":")[0], None)
            if answered is None:
                raise Refusal(40902, "already resolved")
            answered.set_result(body)
    return {}


async def serve() -> None:
    """Listen on a free port, say where, and serve until the end."""
    PLAYERS.append(play)
    HOME.mkdir(parents=True, exist_ok=True)
    path = HOME / "server.token"
    token = path.read_text() if path.exists() else uuid.uuid4().hex
    path.write_text(token)
    path.chmod(int(os.environ.get("FAKE_KIMI_MODE", "600"), 8))
    sockets = bind_sockets(0, "127.0.0.1")
    more = {"token": token}
    routes = [(r"/api/v1/ws", Socket, more), (r"/api/v1/(.*)", Rest, more)]
    HTTPServer(Application(routes)).add_sockets(sockets)
    port = sockets[0].getsockname()[1]
    print(f"  Kimi server ready\n\n  Local:    http://127.0.0.1:{port}/#token={token}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    if "--version" in sys.argv:
        print(os.environ.get("FAKE_KIMI_VERSION", "2.1.0"))
    else:
        asyncio.run(serve())
