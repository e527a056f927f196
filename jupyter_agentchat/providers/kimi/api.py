"""Kimi Code's REST interface: each call by its purpose, refusals as exceptions.

Answers are `{code, msg, data}` with HTTP 200 nearly always, so that the code decides. What an
answer holds beside the message (a stack, for example) is never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from ...errors import AuthRequired, ProtocolError, ProviderError
from ...process.loopback import HttpRefused, LoopbackServer
from ...process.redact import redact
from .wire import Json, int_of, object_of, objects_of, text_of

NO_SESSION: Final = 40401
NO_PROMPT: Final = 40402
RESOLVED: Final = (40902, 40404, 40405)
"""An ask that is not open any more: answered, or gone with its turn."""
DISMISSED: Final = 40909
COMPLETED: Final = 40903
IN_USE: Final = 40927

_SIGNED_OUT: Final = (40110, 40111, 40112)
_MESSAGE_LIMIT = 300
SIGN_IN: Final = "kimi login"


class KimiRefused(ProviderError):
    """A refusal; `kimi_code` is the number of its kind."""

    def __init__(self, code: int, message: str, data: Json) -> None:
        super().__init__(message or f"Kimi Code refused this ({code}).", kimi_code=code)
        self.kimi_code = code
        self.data = data


class KimiApi:
    """Calls to one server. Every one raises KimiRefused, AuthRequired, and what the connection
    raises (ProviderTimeout, ProcessExited, ProtocolError)."""

    def __init__(self, server: LoopbackServer) -> None:
        self.server = server

    async def call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        query: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        also: tuple[int, ...] = (),
    ) -> Json:
        """The `data` of the answer; codes in `also` are as good as success."""
        try:
            answer = await self.server.request(
                method, f"/api/v1{path}", query=query, body=body, timeout_s=timeout_s
            )
        except HttpRefused as refused:
            if not isinstance(refused.body, dict) or int_of(refused.body, "code") is None:
                raise
            answer = refused.body
        if not isinstance(answer, dict):
            raise ProtocolError(f"Kimi Code's answer to {path.split('?')[0]} is no object.")
        code = int_of(answer, "code")
        if code == 0 or code in also:
            return object_of(answer, "data")
        message = redact(text_of(answer, "msg").split("\n", 1)[0][:_MESSAGE_LIMIT])
        if code in _SIGNED_OUT:
            hint = f"Run `{SIGN_IN}` in a terminal, then send the prompt again."
            raise AuthRequired(message or "Nobody is signed in with Kimi Code.", hint=hint)
        raise KimiRefused(code or 0, message, object_of(answer, "data"))

    async def on_session(
        self,
        session_id: str,
        method: str,
        rest: str,
        body: Json | None = None,
        *,
        query: Mapping[str, str] | None = None,
        also: tuple[int, ...] = (),
    ) -> Json:
        """A call below a session's own path; `rest` begins with `/` or `:`, or is empty."""
        path = f"/sessions/{quote(session_id, safe='')}{rest}"
        return await self.call(method, path, body, query=query, also=also)

    async def create(self, cwd: str) -> tuple[str, str]:
        """(session id, workspace id) of a new session in a directory."""
        data = await self.call("POST", "/sessions", {"metadata": {"cwd": cwd}})
        session_id = text_of(data, "id")
        if not session_id:
            raise ProtocolError("Kimi Code began a session and did not name it.")
        return session_id, text_of(data, "workspace_id")

    async def session(self, session_id: str) -> Json:
        """A session; one that is not loaded is."""
        await self.on_session(session_id, "GET", "/status")
        return await self.on_session(session_id, "GET", "")

    async def session_of_run(self, key: str, run_id: str) -> str | None:
        """The session, among those last worked in, whose metadata names the run as its newest."""
        data = await self.call("GET", "/sessions", query={"page_size": "100"})
        for item in objects_of(data, "items"):
            if text_of(object_of(item, "metadata"), key) == run_id:
                return text_of(item, "id") or None
        return None

    async def answer_approval(self, session_id: str, approval_id: str, body: Json) -> bool:
        """Whether the answer counted: False when the ask is not open any more."""
        rest = f"/approvals/{quote(approval_id, safe='')}"
        return await self._counts(session_id, rest, body)

    async def answer_question(self, session_id: str, question_id: str, body: Json | None) -> bool:
        """The same for a question; no body dismisses it."""
        rest = f"/questions/{quote(question_id, safe='')}"
        if body is None:
            return await self._counts(session_id, f"{rest}:dismiss", {}, also=(DISMISSED,))
        return await self._counts(session_id, rest, body)

    async def _counts(
        self, session_id: str, rest: str, body: Json, also: tuple[int, ...] = ()
    ) -> bool:
        try:
            await self.on_session(session_id, "POST", rest, body, also=also)
        except KimiRefused as refused:
            if refused.kimi_code in RESOLVED:
                return False
            raise
        return True
