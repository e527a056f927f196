"""A fake of the Anthropic Messages API on 127.0.0.1, to drive the real Claude Code CLI offline.

    with FakeAnthropic() as fake:
        environment["ANTHROPIC_BASE_URL"] = fake.url
        ...
        fake.requests  # what came in so far

What the "model" says is scripted: see `anthropic_scenarios`. Own work; standard library only.
"""

from __future__ import annotations

import json
import socket
import threading
import time
import uuid
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.fakes.anthropic_requests import Json, read_context
from tests.fakes.anthropic_scenarios import Block, HttpError, Reply, Text, Thinking, Tool, choose

MODEL = "claude-fake-1"
_HANG_S = 60


@dataclass(frozen=True)
class Request:
    """One request that came in; `body` is {} where there was none."""

    method: str
    path: str
    headers: dict[str, str]
    body: Json


class FakeAnthropic:
    """The server as an object; a context manager for tests."""

    def __init__(self, port: int = 0) -> None:
        self.headers: dict[str, str] = {}
        """More headers of each reply of the model, as those that tell of a plan's limits."""
        self.stopping = threading.Event()
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[Request]:
        """The requests so far, oldest first."""
        with self._lock:
            return list(self._requests)

    @property
    def calls(self) -> list[Request]:
        """Those of them that called the model."""
        return [seen for seen in self.requests if seen.path.startswith("/v1/messages?")]

    def note(self, request: Request) -> None:
        """Remember a request."""
        with self._lock:
            self._requests.append(request)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: FakeAnthropic

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, as an interrupted CLI does, is no error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._note({})
        self._json(200, {})

    def do_GET(self) -> None:
        self._note({})
        match self.path.split("?")[0]:
            case "/":
                self._json(200, {"ok": True})
            case "/v1/models":
                model = {"type": "model", "id": MODEL, "display_name": "Fake 1"}
                self._json(200, {"data": [model], "has_more": False})
            case path:
                self._error(404, "not_found_error", f"no such path {path}")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body: Json = json.loads(raw) if raw else {}
        self._note(body)
        path = self.path.split("?")[0]
        if path == "/v1/messages/count_tokens":
            return self._json(200, {"input_tokens": _tokens(body)})
        if path != "/v1/messages":
            return self._error(404, "not_found_error", f"no such path {path}")
        try:
            self._answer(body, choose(read_context(body)))
        except HttpError as error:
            self._error(error.status, error.kind, str(error), error.headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        return None

    def _answer(self, body: Json, reply: Reply) -> None:
        if body.get("stream"):
            _Stream(self, self.server.owner.stopping).send(_envelope(body), reply)
            return
        usage = {**_usage(body), "output_tokens": _tokens([vars(b) for b in reply.blocks])}
        content = [_whole(block) for block in reply.blocks]
        whole = {"content": content, "stop_reason": reply.stop_reason, "usage": usage}
        self._json(200, {**_envelope(body), **whole})

    def _note(self, body: Json) -> None:
        request = Request(self.command, self.path, dict(self.headers.items()), body)
        self.server.owner.note(request)

    def _error(
        self, status: int, kind: str, message: str, headers: dict[str, str] | None = None
    ) -> None:
        error = {"type": "error", "error": {"type": kind, "message": message}}
        self._json(status, error, headers)

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class _Stream:
    """One message as server-sent events in a chunked body."""

    def __init__(self, handler: _Handler, stopping: threading.Event) -> None:
        self._handler = handler
        self._stopping = stopping

    def send(self, envelope: Json, reply: Reply) -> None:
        handler = self._handler
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream; charset=utf-8")
        handler.send_header("transfer-encoding", "chunked")
        for name, text in handler.server.owner.headers.items():
            handler.send_header(name, text)
        handler.end_headers()
        self._event("message_start", message=envelope)
        for index, block in enumerate(reply.blocks):
            if not self._block(index, block, reply):
                return
        delta = {"stop_reason": reply.stop_reason, "stop_sequence": None}
        size = _tokens([vars(block) for block in reply.blocks])
        self._event("message_delta", delta=delta, usage={"output_tokens": size})
        self._event("message_stop")
        self._chunk(b"")

    def _block(self, index: int, block: Block, reply: Reply) -> bool:
        start, kind, field, payload = _streamed(block)
        self._event("content_block_start", index=index, content_block=start)
        for at in range(0, len(payload), reply.chunk):
            piece = {"type": kind, field: payload[at : at + reply.chunk]}
            self._event("content_block_delta", index=index, delta=piece)
            if reply.fault:
                self._fail(reply.fault)
                return False
            time.sleep(reply.delay_s)
        if isinstance(block, Thinking):
            signature = {"type": "signature_delta", "signature": "ZmFrZQ=="}
            self._event("content_block_delta", index=index, delta=signature)
        self._event("content_block_stop", index=index)
        return True

    def _fail(self, fault: str) -> None:
        self._handler.close_connection = True
        if fault == "drop":
            time.sleep(0.1)  # else what was sent may be lost with the line
            self._handler.connection.shutdown(socket.SHUT_RDWR)
        elif fault == "overloaded":
            error = {"type": "overloaded_error", "message": "Overloaded"}
            self._event("error", error=error)
            self._chunk(b"")
        else:
            self._stopping.wait(_HANG_S)

    def _event(self, kind: str, **data: Any) -> None:
        line = json.dumps({"type": kind, **data})
        self._chunk(f"event: {kind}\ndata: {line}\n\n".encode())

    def _chunk(self, data: bytes) -> None:
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self._handler.wfile.flush()


def _envelope(body: Json) -> Json:
    return {
        "id": "msg_" + uuid.uuid4().hex[:20],
        "type": "message",
        "role": "assistant",
        "model": body.get("model", MODEL),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(body),
    }


def _usage(body: Json) -> Json:
    size = _tokens(body.get("messages"))
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": size, **cached, "output_tokens": 1}


def _tokens(value: Any) -> int:
    return max(1, len(json.dumps(value)) // 4)


def _whole(block: Block) -> Json:
    match block:
        case Tool(name, arguments):
            return {"type": "tool_use", "id": _tool_id(), "name": name, "input": arguments}
        case Thinking(text):
            return {"type": "thinking", "thinking": text, "signature": "ZmFrZQ=="}
        case Text(text):
            return {"type": "text", "text": text}


def _streamed(block: Block) -> tuple[Json, str, str, str]:
    match block:
        case Tool(name, arguments):
            start = {"type": "tool_use", "id": _tool_id(), "name": name, "input": {}}
            return start, "input_json_delta", "partial_json", json.dumps(arguments)
        case Thinking(text):
            start = {"type": "thinking", "thinking": "", "signature": ""}
            return start, "thinking_delta", "thinking", text
        case Text(text):
            return {"type": "text", "text": ""}, "text_delta", "text", text


def _tool_id() -> str:
    return "toolu_" + uuid.uuid4().hex[:20]
