"""The two APIs of the fake model server: a request read, and a reply in each one's words."""

from __future__ import annotations

import json
import uuid
from typing import Any, ClassVar

from tests.fakes.model_script import Json, Message, Reply, Request


class Face:
    """One API's words for a reply."""

    def __init__(self, request: Request, body: Json) -> None:
        self.request, self.body = request, body
        self.id = uuid.uuid4().hex[:12]

    @property
    def streams(self) -> bool:
        raise NotImplementedError

    def error(self, reply: Reply) -> Json:
        raise NotImplementedError

    def whole(self, reply: Reply) -> Json:
        raise NotImplementedError

    def thought(self, text: str) -> Json:
        raise NotImplementedError

    def text(self, text: str) -> Json:
        raise NotImplementedError

    def end(self, reply: Reply) -> list[Json | None]:
        raise NotImplementedError


class OpenAiFace(Face):
    _USAGE: ClassVar[Json] = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 10},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    def error(self, reply: Reply) -> Json:
        return {"error": {"message": reply.error, "type": "fake_error", "code": None}}

    def whole(self, reply: Reply) -> Json:
        message: Json = {"role": "assistant", "content": "".join(reply.text) or None}
        if reply.calls:
            message["tool_calls"] = self._calls(reply)
        choice = {"index": 0, "message": message, "finish_reason": self._finish(reply)}
        return self._body("chat.completion", choices=[choice], usage=self._USAGE)

    def thought(self, text: str) -> Json:
        return self._chunk({"reasoning_content": text})

    def text(self, text: str) -> Json:
        return self._chunk({"content": text})

    def end(self, reply: Reply) -> list[Json | None]:
        calls = [self._chunk({"tool_calls": [call]}) for call in self._calls(reply)]
        usage = self._body("chat.completion.chunk", choices=[], usage=self._USAGE)
        return [*calls, self._chunk({}, self._finish(reply)), usage, None]

    def _calls(self, reply: Reply) -> list[Json]:
        return [
            {
                "index": number,
                "id": f"call_{uuid.uuid4().hex[:10]}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(reply.calls)
        ]

    def _finish(self, reply: Reply) -> str:
        return "tool_calls" if reply.calls else "stop"

    def _chunk(self, delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return self._body("chat.completion.chunk", choices=[choice])

    def _body(self, kind: str, **more: Any) -> Json:
        model = self.request.model
        return {"id": f"chatcmpl-{self.id}", "object": kind, "created": 1, "model": model, **more}


class GeminiFace(Face):
    _USAGE: ClassVar[Json] = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 20,
        "totalTokenCount": 120,
        "cachedContentTokenCount": 10,
        "thoughtsTokenCount": 5,
    }

    @property
    def streams(self) -> bool:
        return "streamGenerateContent" in self.request.path

    def error(self, reply: Reply) -> Json:
        return {"error": {"code": reply.status, "message": reply.error, "status": "FAKE"}}

    def whole(self, reply: Reply) -> Json:
        config = self.body.get("generationConfig") or {}
        schema = config.get("responseJsonSchema") or config.get("responseSchema")
        text = json.dumps(_example(schema)) if schema else "".join(reply.text)
        return self._chunk({"text": text}, "STOP")

    def thought(self, text: str) -> Json:
        return self._chunk({"text": f"**Plan** {text}", "thought": True})

    def text(self, text: str) -> Json:
        return self._chunk({"text": text})

    def end(self, reply: Reply) -> list[Json | None]:
        calls = [
            self._chunk({"functionCall": {"name": name, "args": arguments}})
            for name, arguments in reply.calls
        ]
        return [*calls, self._chunk({"text": ""}, "STOP")]

    def _chunk(self, part: Json, finish: str | None = None) -> Json:
        candidate: Json = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if finish is None:
            return {"candidates": [candidate], "modelVersion": "gemini-fake"}
        candidate["finishReason"] = finish
        return {"candidates": [candidate], "modelVersion": "x", "usageMetadata": self._USAGE}


def _example(schema: Json) -> Any:
    kind = str(schema.get("type") or "string").lower()
    if kind == "object":
        return {name: _example(sub) for name, sub in (schema.get("properties") or {}).items()}
    if "enum" in schema:
        return schema["enum"][0]
    return {"integer": 1, "number": 1, "boolean": False, "array": []}.get(kind, "fake")


def from_openai(body: Json, path: str) -> Request:
    messages = []
    for one in body.get("messages") or []:
        content = one.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        text = "\n".join(part.get("text") or "" for part in parts if part.get("type") == "text")
        images = sum(part.get("type") == "image_url" for part in parts)
        messages.append(Message(str(one.get("role")), text, images))
    functions = [tool.get("function") or {} for tool in body.get("tools") or []]
    tools = {one["name"]: one.get("parameters") or {} for one in functions if one.get("name")}
    return Request(messages, tools, str(body.get("model")), path)


def from_gemini(body: Json, path: str) -> Request:
    messages = []
    for one in body.get("contents") or []:
        parts = one.get("parts") or []
        results = sum("functionResponse" in part for part in parts)
        if results:
            messages += [Message("tool")] * results
            continue
        role = "assistant" if one.get("role") == "model" else "user"
        images = sum("inlineData" in part for part in parts)
        text = "\n".join(part.get("text") or "" for part in parts)
        messages.append(Message(role, text, images))
    tools = {
        one["name"]: one.get("parametersJsonSchema") or one.get("parameters") or {}
        for tool in body.get("tools") or []
        for one in tool.get("functionDeclarations") or []
    }
    return Request(messages, tools, path.rsplit("/", 1)[-1].split(":")[0], path)
