"""Our requests to the CLI's control protocol: ids, answers, deadlines."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ...errors import ProviderError, ProviderTimeout, Unsupported
from .wire import Json, dump, object_of, text_of

REQUEST_TIMEOUT_S: Final = 10.0
INITIALIZE_TIMEOUT_S: Final = 60.0
"""The CLI waits for its MCP servers before it answers."""


class ControlRefused(ProviderError):
    """The CLI declined a control request; `details` {subtype, error_code}."""


@dataclass(frozen=True, slots=True)
class PostedRequest:
    """A request on its way; only `ControlChannel.answer_to` knows what to do with it."""

    request_id: str
    subtype: str
    answer: asyncio.Future[Json]


class ControlChannel:
    """Sends control requests and matches their answers. Answers come in any order, also in a turn.

    `send` writes one line. The reader of the CLI's output hands in every `control_response`. Ids
    are of this channel alone: answers that an earlier server waited for find nobody.
    """

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._count = 0
        self._epoch = secrets.token_hex(4)
        self._waiting: dict[str, asyncio.Future[Json]] = {}
        self._closed: ProviderError | None = None

    async def request(
        self, subtype: str, *, timeout_s: float = REQUEST_TIMEOUT_S, **fields: JsonValue
    ) -> Json:
        """Send a request and give the payload of its answer.

        Raises ControlRefused, Unsupported for what this version does not know, ProviderTimeout,
        or what ended the process. Cancelled, a late answer is ignored.
        """
        return await self.answer_to(await self.post(subtype, **fields), timeout_s=timeout_s)

    async def post(self, subtype: str, **fields: JsonValue) -> PostedRequest:
        """Send a request without waiting for its answer: other lines may follow at once."""
        if self._closed is not None:
            raise self._closed
        self._count += 1
        request_id = f"agentchat-{self._epoch}-{self._count}"
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        request: Json = {"subtype": subtype, **fields}
        line: Json = {"type": "control_request", "request_id": request_id, "request": request}
        try:
            await self._send(dump(line))
        except BaseException:
            del self._waiting[request_id]
            raise
        return PostedRequest(request_id, subtype, answer)

    async def answer_to(self, posted: PostedRequest, *, timeout_s: float) -> Json:
        """The payload of the answer to `posted`; raises like `request`."""
        try:
            async with asyncio.timeout(timeout_s):
                response = await posted.answer
        except TimeoutError:
            raise ProviderTimeout(
                f"Claude Code did not answer the request {posted.subtype}.",
                hint="Stop the run and send the prompt again.",
                timeout_s=timeout_s,
            ) from None
        finally:
            self._waiting.pop(posted.request_id, None)
        return _payload(posted.subtype, response)

    def resolve(self, response: Json) -> None:
        """Hand in the `response` of a `control_response`; one that nobody waits for is ignored."""
        answer = self._waiting.get(text_of(response, "request_id"))
        if answer is not None and not answer.done():
            answer.set_result(response)

    def close(self, error: ProviderError) -> None:
        """No answer will come any more: every request fails with `error`."""
        self._closed = error
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)
                answer.exception()  # its waiter may have been cancelled: nobody is left to see it


def _payload(subtype: str, response: Json) -> Json:
    if text_of(response, "subtype") != "error":
        return object_of(response, "response")
    error, code = text_of(response, "error"), text_of(response, "error_code")
    if code == "unsupported_request" or error.startswith("Unsupported control request"):
        raise Unsupported(f"This version of Claude Code does not know {subtype}.", subtype=subtype)
    raise ControlRefused(
        f"Claude Code refused {subtype}: {error or 'no reason given'}.",
        subtype=subtype,
        error_code=code,
    )
