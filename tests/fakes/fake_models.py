"""A fake model server on 127.0.0.1 with two faces: Chat Completions, and the Gemini API.

    with FakeModels() as fake:
        environment["OPENAI_BASE_URL"] = fake.url + "/v1"
        environment["GOOGLE_GEMINI_BASE_URL"] = fake.url
        fake.requests  # what came in so far

To drive real ACP agents offline. What the "model" says is scripted: see `model_script`. Own work;
standard library only.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.fakes.model_faces import Face, GeminiFace, OpenAiFace, from_gemini, from_openai
from tests.fakes.model_script import Json, Reply, Request, dump, reply_to

_STALL_S = 60.0


class FakeModels:
    """The server as an object; a context manager for tests. `workdir` is where files are named."""

    def __init__(self, workdir: str = "/") -> None:
        self.workdir = workdir
        self.stopping = threading.Event()
        self.raw: list[str] = []
        """Every body as it came."""
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """The requests so far, housekeeping included."""
        with self._lock:
            return list(self._requests)

    @property
    def turns(self) -> list[Request]:
        """The requests that offered tools: an agent's turns."""
        return [request for request in self.requests if request.tools]

    def take(self, request: Request, raw: str) -> Reply:
        """Note a request and decide on its reply."""
        with self._lock:
            self._requests.append(request)
            self.raw.append(raw)
        return reply_to(request, self.workdir)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: FakeModels

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Agents hang up in the middle; that is no error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": [{"id": "fake-model", "object": "model"}]})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body: Json = json.loads(raw or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/chat/completions"):
            self._answer(from_openai(body, path), raw, body, OpenAiFace)
        elif "enerateContent" in path:
            self._answer(from_gemini(body, path), raw, body, GeminiFace)
        elif path.endswith(":countTokens"):
            self._json(200, {"totalTokens": 100})
        else:
            self._json(404, {"error": {"message": f"not found: {path}"}})

    def _answer(self, request: Request, raw: bytes, body: Json, face: type[Face]) -> None:
        reply = self.server.owner.take(request, raw.decode("utf-8", "replace"))
        made = face(request, body)
        if reply.status != 200:
            self._json(reply.status, made.error(reply))
        elif not made.streams:
            self._json(200, made.whole(reply))
        else:
            self._stream(reply, made)

    def _stream(self, reply: Reply, face: Face) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        stopping = self.server.owner.stopping
        try:
            for thought in reply.thoughts:
                self._event(face.thought(thought))
            for piece in reply.text:
                self._event(face.text(piece))
                time.sleep(reply.delay_s)
            while reply.endless and not stopping.is_set():
                self._event(face.text(reply.text[-1]))
                time.sleep(reply.delay_s)
            if reply.stall:
                stopping.wait(_STALL_S)
                return
            for event in face.end(reply):
                self._event(event)
        except (BrokenPipeError, ConnectionResetError):
            return

    def _event(self, event: Json | None) -> None:
        self.wfile.write(b"data: " + (dump(event) if event is not None else b"[DONE]") + b"\n\n")
        self.wfile.flush()

    def _json(self, status: int, body: Json) -> None:
        data = dump(body)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
