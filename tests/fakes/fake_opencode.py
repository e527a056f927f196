"""A program that answers like `opencode serve`, for fast tests of the adapter; scripted by prompts.

    hello · tool · failing · ask · question · withdrawn · slow (until it is aborted) · steady (text
    for about a second) · huge · torn · crash · unknown · nothing (a prompt that begins nothing) ·
    refused (an error and nothing else) · recall (what it was told) · child (a subagent that asks) ·
    cut (the event stream is cut in the middle of a text) · mirror WORDS

Only what the adapter uses is there. State is in memory: it forgets with its process.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import queue
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
_ids = itertools.count(1)


def new_id(kind: str) -> str:
    """An id that sorts by time, as opencode's do."""
    return f"{kind}_{(int(time.time() * 1000) << 12) % (1 << 48):012x}{next(_ids):014d}"


class State:
    """Everything there is, behind one lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.listeners: list[queue.Queue[bytes | None]] = []
        self.sessions: dict[str, Json] = {}
        self.messages: dict[str, list[Json]] = {}
        self.busy: set[str] = set()
        self.aborted: set[str] = set()
        self.pending: dict[str, Json] = {}
        self.replies: dict[str, queue.Queue[Json]] = {}
        self.waiting: dict[str, list[Json]] = {}

    def send(self, kind: str, **properties: Any) -> None:
        """One event to everybody who listens."""
        event = {"id": new_id("evt"), "type": kind, "properties": properties}
        line = json.dumps({"directory": "/project", "payload": event}).encode()
        with self.lock:
            for listener in self.listeners:
                listener.put(b"data: " + line + b"\n\n")

    def cut(self) -> None:
        """End every event stream."""
        with self.lock:
            for listener in self.listeners:
                listener.put(None)
            self.listeners.clear()


STATE = State()


class Turn:
    """One turn of a session, in a thread of its own."""

    def __init__(self, session: str, prompt: Json) -> None:
        self.session = session
        self.prompt = prompt
        self.user = prompt.get("messageID") or new_id("msg")
        self.info: Json = {}
        self.text = "\n".join(p["text"] for p in prompt["parts"] if p["type"] == "text")

    def run(self) -> None:
        """From the person's message to idle."""
        if self.text.startswith("nothing"):
            return
        if self.text.startswith("refused"):
            error = {"name": "UnknownError", "data": {"message": "ImageDecodeError: no image"}}
            STATE.send("session.error", sessionID=self.session, error=error)
            return
        STATE.busy.add(self.session)
        STATE.aborted.discard(self.session)
        self.tell_user(self.user, self.text)
        self.status("busy")
        todo = [self.text]
        while todo:
            self.answer(todo.pop(0))
            for prompt in STATE.waiting.pop(self.session, []):
                words = "\n".join(p["text"] for p in prompt["parts"] if p["type"] == "text")
                todo.append(words)
        STATE.busy.discard(self.session)
        self.status("idle")
        STATE.send("session.idle", sessionID=self.session)

    def status(self, kind: str) -> None:
        STATE.send("session.status", sessionID=self.session, status={"type": kind})

    def tell_user(self, message: str, text: str) -> None:
        info: Json = {"id": message, "role": "user", "sessionID": self.session}
        info["model"] = {"providerID": "fake", "modelID": "fake-model"}
        part = {"id": new_id("prt"), "messageID": message, "sessionID": self.session}
        part |= {"type": "text", "text": text}
        STATE.messages[self.session].append({"info": info, "parts": [part]})
        STATE.send("message.updated", sessionID=self.session, info=info)
        self.part(part)

    def part(self, part: Json) -> None:
        STATE.send("message.part.updated", sessionID=self.session, part=part)

    def answer(self, text: str) -> None:
        self.said = text
        self.info = {"id": new_id("msg"), "role": "assistant", "sessionID": self.session}
        self.info |= {"time": {"created": 1}, "path": {"cwd": "/project"}}
        kept: Json = {"info": self.info, "parts": []}
        STATE.messages[self.session].append(kept)
        STATE.send("message.updated", sessionID=self.session, info=dict(self.info))
        self.parts = kept["parts"]
        try:
            getattr(self, "do_" + re.split(r"\W", text)[0], self.do_hello)()
            self.info["finish"] = "stop"
        except InterruptedError:
            error = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
            STATE.send("session.error", sessionID=self.session, error=error)
            self.status("idle")
            STATE.send("session.idle", sessionID=self.session)
            self.info["error"] = error
        self.info["time"] = {"created": 1, "completed": 2}
        tokens: Json = {"total": 120, "input": 90, "output": 15, "reasoning": 5}
        tokens["cache"] = {"read": 10, "write": 0}
        self.add({"type": "step-finish", "tokens": tokens, "cost": 0})
        STATE.send("message.updated", sessionID=self.session, info=dict(self.info))

    def add(self, part: Json) -> Json:
        whole = {"id": new_id("prt"), "messageID": self.info["id"], "sessionID": self.session}
        whole |= part
        self.parts.append(whole)
        self.part(whole)
        return whole

    def write(self, pieces: list[str], pause_s: float = 0.0, kind: str = "text") -> None:
        part = self.add({"type": kind, "text": "", "time": {"start": 1}})
        said = ""
        try:
            for piece in pieces:
                if self.session in STATE.aborted:
                    raise InterruptedError
                said += piece
                properties = {"messageID": self.info["id"], "partID": part["id"]}
                properties |= {"sessionID": self.session, "field": "text", "delta": piece}
                STATE.send("message.part.delta", **properties)
                time.sleep(pause_s)
        finally:
            part |= {"text": said, "time": {"start": 1, "end": 2}}
            self.part(part)

    def call(self, name: str, arguments: Json, *, ask: bool = False, **end: Any) -> bool:
        """A tool call; whether it was let through."""
        part = self.add({"type": "tool", "tool": name, "callID": new_id("call"), "state": {}})
        part["state"] = {"status": "pending", "input": {}}
        self.part(part)
        allowed = not ask or self.ask(part, name, arguments)
        part["state"] = {"status": "running", "input": arguments, "time": {"start": 1}}
        self.part(part)
        done: Json = {"status": "completed", "input": arguments, "time": {"start": 1, "end": 3}}
        done |= {"output": "README.md\n", "metadata": {"exit": 0}, **end}
        if not allowed:
            words = "The user rejected permission to use this specific tool call."
            done = {"status": "error", "input": arguments, "error": words}
        part["state"] = done
        self.part(part)
        return allowed

    def ask(self, part: Json, name: str, arguments: Json) -> bool:
        ask_id = new_id("per")
        asked: Json = {
            "id": ask_id,
            "sessionID": self.session,
            "permission": name,
            "patterns": ["ls"],
        }
        asked |= {"metadata": arguments, "patterns": ["ls"], "always": ["ls *"]}
        asked["tool"] = {"messageID": part["messageID"], "callID": part["callID"]}
        reply = self.wait("permission", ask_id, asked)
        return bool(reply["reply"] != "reject")

    def wait(self, kind: str, ask_id: str, asked: Json) -> Json:
        STATE.replies[ask_id] = queue.Queue()
        STATE.pending[ask_id] = {"kind": kind, **asked}
        STATE.send(f"{kind}.asked", **asked)
        while True:
            try:
                reply = STATE.replies[ask_id].get(timeout=0.02)
            except queue.Empty:
                if self.session in STATE.aborted:
                    raise InterruptedError from None
                continue
            STATE.pending.pop(ask_id, None)
            STATE.send(f"{kind}.replied", sessionID=self.session, requestID=ask_id)
            return reply

    # ---- what prompts bring ---------------------------------------------------------------------

    def do_hello(self) -> None:
        self.write(["Thinking ", "about it."], kind="reasoning")
        self.write(["Hello ", "from ", "the fake."])

    def do_mirror(self) -> None:
        self.write([self.said])

    def do_tool(self) -> None:
        self.call("bash", {"command": "ls"})
        self.write(["Done."])

    def do_failing(self) -> None:
        self.call("bash", {"command": "false"}, metadata={"exit": 3})
        self.write(["Done."])

    def do_ask(self) -> None:
        self.call("bash", {"command": "ls"}, ask=True)
        self.write(["Done."])

    def do_question(self) -> None:
        options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": ""}]
        question = {"question": "Which?", "header": "Colour", "options": options}
        asked: Json = {"id": new_id("que"), "sessionID": self.session, "questions": [question]}
        reply = self.wait("question", asked["id"], asked)
        self.write([f"You chose {reply.get('answers')}"])

    def do_withdrawn(self) -> None:
        threading.Timer(0.05, self.take_back).start()
        self.do_ask()

    def take_back(self) -> None:
        for ask_id in list(STATE.pending):
            STATE.replies[ask_id].put({"reply": "once"})

    def do_slow(self) -> None:
        self.write(["word "] * 4000, 0.02)

    def do_steady(self) -> None:
        self.write([f"part {number} " for number in range(30)], 0.03)

    def do_cut(self) -> None:
        pieces = [f"part {number} " for number in range(20)]
        threading.Timer(0.2, STATE.cut).start()
        self.write(pieces, 0.03)
        self.call("bash", {"command": "ls"})

    def do_huge(self) -> None:
        self.write(["x" * 2_100_000])

    def do_torn(self) -> None:
        self.write(["before "])
        with STATE.lock:
            for listener in STATE.listeners:
                listener.put(b'data: {"directory":"/project","payload":{"type":"message.part.delta')
                listener.put(None)
        time.sleep(0.2)
        os._exit(0)

    def do_crash(self) -> None:
        print("the last words", file=sys.stderr, flush=True)
        os._exit(7)

    def do_unknown(self) -> None:
        for _ in range(2):
            STATE.send("from.the.future", sessionID=self.session)
            self.add({"type": "hologram"})
        self.write(["Done."])

    def do_recall(self) -> None:
        words = [
            part["text"]
            for message in STATE.messages[self.session]
            for part in message["parts"]
            if message["info"]["role"] == "user" and part["type"] == "text"
        ]
        self.write([" | ".join(words)])

    def do_child(self) -> None:
        part = self.add({"type": "tool", "tool": "task", "callID": "c", "state": {}})
        child = new_session({"parentID": self.session})
        arguments = {"description": "Child job", "subagent_type": "general"}
        part["state"] = {"status": "running", "input": arguments, "metadata": {"sessionId": child}}
        self.part(part)
        Turn(child, {"parts": [{"type": "text", "text": "ask"}]}).run()
        part["state"] = {"status": "completed", "input": arguments, "output": "done"}
        self.part(part)
        self.write(["Done."])


def new_session(body: Json) -> str:
    """A conversation."""
    session = new_id("ses").replace("_", "_", 1)
    info = {"id": session, "title": "New session - now", **body}
    with STATE.lock:
        STATE.sessions[session] = info
        STATE.messages[session] = []
    STATE.send("session.created", sessionID=session, info=info)
    return session


class Handler(BaseHTTPRequestHandler):
    """The routes."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        self.route("GET")

    def do_POST(self) -> None:
        self.route("POST")

    def do_PATCH(self) -> None:
        self.route("PATCH")

    def do_DELETE(self) -> None:
        self.route("DELETE")

    def route(self, method: str) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        secret = base64.b64encode(f"opencode:{os.environ['OPENCODE_SERVER_PASSWORD']}".encode())
        if self.headers.get("authorization") != f"Basic {secret.decode()}":
            self.reply({"error": "unauthorized"}, 401)
            return
        url = urlsplit(self.path)
        words = [word for word in url.path.split("/") if word]
        self.query = parse_qs(url.query)
        if url.path == "/global/event":
            self.events()
        elif words[:1] == ["session"] and len(words) > 1 and words[1] != "status":
            self.session(method, words[1], words[2:], body)
        else:
            self.plain(method, words, body)

    def plain(self, method: str, words: list[str], body: Json) -> None:
        match words:
            case ["global", "health"]:
                version = os.environ.get("FAKE_OPENCODE_VERSION", "1.18.33")
                self.reply({"healthy": True, "version": version})
            case ["config", "providers"]:
                self.reply({"providers": [PROVIDER], "default": {"fake": "fake-model"}})
            case ["agent"]:
                deny = {"permission": "bash", "pattern": "rm *", "action": "deny"}
                self.reply([{"name": "build", "mode": "primary", "permission": [deny]}])
            case ["command"]:
                self.reply([{"name": "tidy", "description": "Tidy up", "source": "command"}])
            case ["mcp"]:
                self.reply({"demo": {"status": "connected"}})
            case ["session", "status"]:
                self.reply({session: {"type": "busy"} for session in STATE.busy})
            case ["session"]:
                self.reply(STATE.sessions[new_session(body)])
            case ["permission" | "question" as kind]:
                self.reply([one for one in STATE.pending.values() if one["kind"] == kind])
            case ["permission" | "question", ask_id, _]:
                if ask_id not in STATE.pending:
                    self.reply({"_tag": "NotFound"}, 404)
                else:
                    STATE.replies[ask_id].put(body)
                    self.reply(True)
            case _:
                self.reply({"name": "NotFoundError"}, 404)

    def session(self, method: str, session: str, rest: list[str], body: Json) -> None:
        if session not in STATE.sessions:
            words = f"Session not found: {session}"
            self.reply({"name": "NotFoundError", "data": {"message": words}}, 404)
            return
        match rest:
            case []:
                if method == "PATCH":
                    rules = STATE.sessions[session].setdefault("permission", [])
                    rules += body.get("permission", [])
                self.reply(STATE.sessions[session])
            case ["prompt_async"]:
                self.prompt(session, body)
                self.reply(None, 204)
            case ["command"]:
                self.prompt(session, {**body, "parts": [{"type": "text", "text": body["command"]}]})
                self.reply({})
            case ["abort"]:
                STATE.aborted.add(session)
                self.reply(True)
            case ["fork"]:
                branch = new_session({})
                STATE.messages[branch] = list(STATE.messages[session])
                self.reply(STATE.sessions[branch])
            case ["message"]:
                self.reply(STATE.messages[session])
            case ["message", message]:
                kept = [m for m in STATE.messages[session] if m["info"]["id"] != message]
                STATE.messages[session] = kept
                self.reply(True)
            case ["children"]:
                children = [s for s in STATE.sessions.values() if s.get("parentID") == session]
                self.reply(children)
            case _:
                self.reply([])

    def prompt(self, session: str, body: Json) -> None:
        if session in STATE.busy:
            STATE.waiting.setdefault(session, []).append(body)
            text = "\n".join(p["text"] for p in body["parts"] if p["type"] == "text")
            Turn(session, body).tell_user(body["messageID"], text)
            return
        threading.Thread(target=Turn(session, body).run, daemon=True).start()

    def events(self) -> None:
        mine: queue.Queue[bytes | None] = queue.Queue()
        with STATE.lock:
            STATE.listeners.append(mine)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b'data: {"payload":{"type":"server.connected"}}\n\n')
        try:
            while (piece := mine.get()) is not None:
                self.wfile.write(piece)
                self.wfile.flush()
        except OSError:
            return

    def reply(self, body: Any, status: int = 200) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


PROVIDER: Json = {
    "id": "fake",
    "name": "Fake",
    "options": {"apiKey": "sk-fake-secret-key"},
    "models": {
        "fake-model": {
            "name": "Fake Model",
            "limit": {"context": 128_000},
            "capabilities": {"input": {"image": True}},
            "variants": {"low": {}, "high": {}},
        }
    },
}


class Server(ThreadingHTTPServer):
    """Quiet about clients that hang up."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """No error here."""


def main() -> None:
    """`serve ...` runs it; `--version` and `models` answer at once."""
    version = os.environ.get("FAKE_OPENCODE_VERSION", "1.18.33")
    if "--version" in sys.argv:
        print(version)
        return
    if "models" in sys.argv:
        print("fake/fake-model")
        print(json.dumps(PROVIDER["models"]["fake-model"], indent=2))
        return
    if os.environ.get("FAKE_OPENCODE_BROKEN"):
        print("Error: Config file is not valid JSON", file=sys.stderr)
        sys.exit(1)
    server = Server(("127.0.0.1", 0), Handler)
    print(f"opencode server listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
