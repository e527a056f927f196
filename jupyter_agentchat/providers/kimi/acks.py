"""Frames of ours on the websocket, and the acknowledgements that answer them."""

from __future__ import annotations

import asyncio
from typing import Final

from ...errors import ProviderError, ProviderTimeout
from ...process.loopback import LoopbackSocket
from .wire import Json, object_of, text_of

ACK_S: Final = 15.0


class Acks:
    """Pairs what was sent with what is acknowledged, by numbers of ours."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[Json]] = {}
        self._number = 0

    async def ask(self, socket: LoopbackSocket, kind: str, payload: Json) -> Json:
        """The payload of the acknowledgement. Raises ProviderTimeout, ProcessExited."""
        self._number += 1
        name = str(self._number)
        ack = self._waiting[name] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(ACK_S):
                await socket.send({"type": kind, "id": name, "payload": payload})
                answer: Json = await ack
        except TimeoutError:
            raise ProviderTimeout(f"Kimi Code did not answer {kind} in {ACK_S:g} s.") from None
        finally:
            del self._waiting[name]
        return answer

    def take(self, message: Json) -> None:
        """An acknowledgement has come."""
        ack = self._waiting.get(text_of(message, "id"))
        if ack is not None and not ack.done():
            ack.set_result(object_of(message, "payload"))

    def fail(self, failure: ProviderError) -> None:
        """None will come: the socket is gone."""
        for ack in self._waiting.values():
            if not ack.done():
                ack.set_exception(failure)
