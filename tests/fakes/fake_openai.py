"""A fake of OpenAI's Responses API on 127.0.0.1, to drive the real Codex offline.

    with FakeOpenAI() as fake:
        config.write_text(fake.config())
        ...
        fake.calls  # what the model was asked so far

What the "model" says is scripted: see `openai_scenarios`. Own work; standard library only.
"""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.fakes.openai_scenarios import (
    Block,
    Broken,
    Call,
    Custom,
    Failed,
    HttpError,
    Item,
    Json,
    Message,
    Reasoning,
    Reply,
    choose,
    read_context,
)

MODEL = "gpt-fake-codex"
_HANG_S = 60
_ARGUMENT_CHUNK = 40


@dataclass(frozen=True)
class Request:
    """One request that came in; `body` is {} where there was none."""

    method: str
    path: str
    headers: dict[str, str]
    body: Json


class FakeOpenAI:
    """The server as an object; a context manager for tests."""

    def __init__(self, port: int = 0) -> None:
        self.stopping = threading.Event()
        self.rate_limits = False
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._ids = itertools.count(1)

    def config(self) -> str:
        """A config.toml by which Codex talks to this server, without retries and without news."""
        return f"""model = "{MODEL}"
model_provider = "fake"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "{self.url}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 1
stream_idle_timeout_ms = 20000

[features]
enable_request_compression = false

[analytics]
enabled = false
"""

    @property
    def calls(self) -> list[Request]:
        """The calls of the model so far, oldest first."""
        with self._lock:
            return [seen for seen in self._requests if seen.path.endswith("/responses")]

    def note(self, request: Request) -> None:
        """Remember a request."""
        with self._lock:
            self._requests.append(request)

    def new_id(self, prefix: str) -> str:
        """An id that no other item has."""
        with self._lock:
            return f"{prefix}_{next(self._ids):06d}"

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
    owner: FakeOpenAI

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, as an interrupted turn does, is no error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._note({})
        if self.path.split("?")[0].endswith("/models"):
            # an empty catalogue: Codex then takes the one it was built with
            self._json(200, {"object": "list", "data": [], "models": []})
        else:
            self._json(404, {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body: Json = json.loads(raw) if raw else {}
        self._note(body)
        if not self.path.endswith("/responses"):
            return self._json(404, {"error": {"message": "no such path"}})
        try:
            reply = choose(read_context(body))
            self._begin()
            _Stream(self.wfile.write, self.server.owner, body).send(reply, self)
        except HttpError as error:
            self._json(error.status, error.error, error.headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        return None

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        if self.server.owner.rate_limits:
            # how Codex hears of the plan without asking
            for name, value in (
                ("primary-used-percent", "12.5"),
                ("primary-window-minutes", "300"),
                ("primary-reset-at", "1900000000"),
                ("secondary-used-percent", "40"),
                ("secondary-window-minutes", "10080"),
                ("secondary-reset-at", "1900500000"),
            ):
                self.send_header(f"x-codex-{name}", value)
        self.end_headers()
        self.close_connection = True

    def hang(self) -> None:
        """Say nothing more."""
        self.server.owner.stopping.wait(_HANG_S)

    def drop(self) -> None:
        """Cut the line."""
        self.connection.shutdown(socket.SHUT_RDWR)

    def _note(self, body: Json) -> None:
        request = Request(self.command, self.path, dict(self.headers.items()), body)
        self.server.owner.note(request)

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class _Stream:
    """One response as server-sent events."""

    def __init__(self, write: Callable[[bytes], Any], owner: FakeOpenAI, body: Json) -> None:
        self._write = write
        self._owner = owner
        self._body = body
        self._id = owner.new_id("resp")
        self._seq = itertools.count()
        self._items: list[Json] = []

    def send(self, reply: Reply, handler: _Handler) -> None:
        head = {"id": self._id, "object": "response", "model": self._body.get("model")}
        self._event("response.created", response={**head, "status": "in_progress", "output": []})
        if isinstance(reply, Failed):
            error = {"code": reply.code, "message": reply.message}
            self._event("response.failed", response={**head, "status": "failed", "error": error})
            return
        if isinstance(reply, Broken):
            self._event("response.output_text.delta", delta="partial", item_id="x", output_index=0)
            handler.hang() if reply.how == "hang" else handler.drop()
            return
        for block in reply:
            self._block(block)
        done = {**head, "status": "completed", "output": self._items, "usage": self._usage()}
        self._event("response.completed", response=done)

    def _block(self, block: Block) -> None:
        index = len(self._items)
        match block:
            case Message():
                item = self._message(block, index)
            case Reasoning(parts):
                item = self._reasoning(parts, index)
            case Call(name, arguments, namespace):
                text = json.dumps(arguments)
                item = self._call("function_call", name, "arguments", text, index, namespace)
            case Custom(name, text):
                item = self._call("custom_tool_call", name, "input", text, index, None)
            case Item(item):
                self._added(index, {**item, "status": "in_progress"})
        self._items.append(item)
        self._event("response.output_item.done", output_index=index, item=item)

    def _message(self, block: Message, index: int) -> Json:
        item: Json = {"type": "message", "id": self._owner.new_id("msg"), "role": "assistant"}
        if block.phase:
            item["phase"] = block.phase
        self._added(index, {**item, "status": "in_progress", "content": []})
        place = {"item_id": item["id"], "output_index": index, "content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": []}
        self._event("response.content_part.added", part=empty, **place)
        for at in range(0, len(block.text), block.chunk):
            piece = block.text[at : at + block.chunk]
            self._event("response.output_text.delta", delta=piece, **place)
            if block.delay_s:
                time.sleep(block.delay_s)
        part = {**empty, "text": block.text}
        self._event("response.output_text.done", text=block.text, **place)
        self._event("response.content_part.done", part=part, **place)
        return {**item, "status": "completed", "content": [part]}

    def _reasoning(self, parts: list[str], index: int) -> Json:
        item: Json = {"type": "reasoning", "id": self._owner.new_id("rs"), "summary": []}
        self._added(index, item)
        for number, text in enumerate(parts):
            place = {"item_id": item["id"], "output_index": index, "summary_index": number}
            part = {"type": "summary_text", "text": ""}
            self._event("response.reasoning_summary_part.added", part=part, **place)
            for at in range(0, len(text), _ARGUMENT_CHUNK):
                piece = text[at : at + _ARGUMENT_CHUNK]
                self._event("response.reasoning_summary_text.delta", delta=piece, **place)
            self._event("response.reasoning_summary_text.done", text=text, **place)
            self._event(
                "response.reasoning_summary_part.done", part={**part, "text": text}, **place
            )
        summary = [{"type": "summary_text", "text": text} for text in parts]
        return {**item, "summary": summary, "encrypted_content": "ZmFrZQ=="}

    def _call(
        self, kind: str, name: str, key: str, text: str, index: int, namespace: str | None
    ) -> Json:
        ids = {"id": self._owner.new_id("fc"), "call_id": self._owner.new_id("call")}
        item: Json = {"type": kind, **ids, "name": name, "status": "completed", key: text}
        if namespace:
            item["namespace"] = namespace
        self._added(index, {**item, "status": "in_progress", key: ""})
        events = {
            "input": "response.custom_tool_call_input.delta",
            "arguments": "response.function_call_arguments.delta",
        }
        for at in range(0, len(text), _ARGUMENT_CHUNK):
            piece = text[at : at + _ARGUMENT_CHUNK]
            self._event(events[key], item_id=ids["id"], output_index=index, delta=piece)
        return item

    def _added(self, index: int, item: Json) -> None:
        self._event("response.output_item.added", output_index=index, item=item)

    def _usage(self) -> Json:
        read = max(1, len(json.dumps(self._body.get("input", []))) // 4)
        made = max(1, len(json.dumps(self._items)) // 4)
        return {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": read // 2},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": made // 3},
            "total_tokens": read + made,
        }

    def _event(self, kind: str, **data: Any) -> None:
        line = json.dumps({"type": kind, "sequence_number": next(self._seq), **data})
        self._write(f"event: {kind}\ndata: {line}\n\n".encode())
