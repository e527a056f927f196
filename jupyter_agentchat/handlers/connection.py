"""One websocket connection, without Tornado: frames in, calls to the services, frames out.

Bad frames are answered by `refused` and change nothing; the socket stays. Subscriptions, reads,
cancels and pings are done at once and in order; prompts and answers run beside (they may wait), so
that a slow one never holds up a Stop.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

from pydantic import ValidationError

from ..chats.access import Caller
from ..errors import (
    AgentChatError,
    BadRequest,
    Busy,
    Forbidden,
    RateLimited,
    TooLarge,
    Unsupported,
)
from ..process.tasks import TaskOwner
from ..protocol.frames import (
    CLIENT_FRAME,
    PROTOCOL,
    Ack,
    AnswerFrame,
    Cancel,
    ClientFrame,
    Hello,
    Ping,
    Pong,
    PromptFrame,
    Read,
    RefusedFrame,
    Subscribe,
    Unsubscribe,
    Welcome,
)
from ..protocol.resources import AskAnswer, Prompt, ReadMark
from ..protocol.words import RefusalCode
from ..runs.channel import Channel
from .base import Services, describe

log = logging.getLogger(__name__)

FRAME_LIMIT_BYTES = 4 * 1024 * 1024
OPEN_COMMANDS_LIMIT = 32


class Connection:
    """A client's connection; `may_execute` re-checks identity and rights before each command."""

    def __init__(
        self,
        services: Services,
        caller: Caller,
        send: Callable[[str], Awaitable[None]],
        may_execute: Callable[[], Awaitable[bool]],
        hang_up: Callable[[], None],
    ) -> None:
        """`send` returns when the frame has drained; `hang_up` closes the socket."""
        self._services = services
        self._caller = caller
        self._may_execute = may_execute
        self._hang_up = hang_up
        self._channel = Channel(send, services.hub.unsubscribe)
        self._tasks = TaskOwner("connection")
        self._commands = 0
        self._greeted = False

    def open(self) -> None:
        """Greet, and start the writer."""
        services = self._services
        services.hub.begin()
        services.hub.add_client(self._channel, self._caller.username)
        welcome = Welcome(user=self._caller.author, epoch=services.store.epoch)
        self._channel.push(welcome.model_dump_json())
        self._tasks.spawn(self._write(), name="writer")

    async def _write(self) -> None:
        await self._channel.write()
        self._hang_up()  # it does not read, or the server stops

    def leave(self) -> None:
        """End all subscriptions, at once. Runs go on."""
        self._services.hub.remove_client(self._channel)

    async def close(self) -> None:
        """Leave, and end the connection's tasks."""
        self.leave()
        await self._tasks.close(2.0)

    # ---- frames -----------------------------------------------------------------------------

    def receive(self, message: str | bytes) -> None:
        """Take one frame; never raises."""
        request_id: str | None = None
        try:
            text = _readable(message)
            request_id = _request_id(text)
            self._dispatch(CLIENT_FRAME.validate_json(text, strict=True))
        except ValidationError as error:
            self._refuse(
                request_id, BadRequest("The frame is malformed.", problems=describe(error))
            )
        except AgentChatError as error:
            self._refuse(request_id, error)
        except Exception:  # the door: a fault of ours must not close the socket
            log.exception("agentchat: a frame failed")
            self._refuse(request_id, AgentChatError("Something went wrong."))

    def _dispatch(self, frame: ClientFrame) -> None:
        if not self._greeted and not isinstance(frame, Hello | Ping):
            raise BadRequest("Say hello first.")
        hub = self._services.hub
        match frame:
            case Hello():
                if frame.protocol != PROTOCOL:
                    raise Unsupported("Reload the page: the server was updated.", protocol=PROTOCOL)
                self._greeted = True
                self._ack(frame.request_id)
            case Ping():
                self._channel.push(Pong(request_id=frame.request_id).model_dump_json())
            case Subscribe():
                hub.subscribe(self._channel, frame.chat_id, frame.after_seq, frame.epoch)
                self._ack(frame.request_id)
            case Unsubscribe():
                hub.unsubscribe(self._channel, frame.chat_id)
                self._ack(frame.request_id)
            case Read():
                mark = ReadMark(seq=frame.seq)
                self._services.chats.mark_read(frame.chat_id, self._caller, mark)
                self._ack(frame.request_id)
            case Cancel():
                self._spawn(frame.request_id, self._cancel(frame))
            case PromptFrame():
                self._spawn(frame.request_id, self._prompt(frame))
            case AnswerFrame():
                self._spawn(frame.request_id, self._answer(frame))

    def _spawn(self, request_id: str | None, work: Any) -> None:
        """Not a task of the connection: what was sent is done, also when the page closes now."""
        if self._commands >= OPEN_COMMANDS_LIMIT:
            work.close()
            raise RateLimited("Too many commands at once: wait for the answers.")
        try:
            self._services.tasks.spawn(self._command(request_id, work), name="command")
        except RuntimeError:
            work.close()
            raise Busy("The server is stopping.") from None
        self._commands += 1

    async def _command(self, request_id: str | None, work: Awaitable[dict[str, Any]]) -> None:
        try:
            self._ack(request_id, await work)
        except AgentChatError as error:
            self._refuse(request_id, error)
        except Exception:  # the door: see `receive`
            log.exception("agentchat: a command failed")
            self._refuse(request_id, AgentChatError("Something went wrong."))
        finally:
            self._commands -= 1

    async def _allowed(self) -> None:
        if not await self._may_execute():
            raise Forbidden("You may look at this chat, but not run agents in it.")

    async def _cancel(self, frame: Cancel) -> dict[str, Any]:
        await self._allowed()
        return {} if self._services.queue.stop(frame.chat_id) else {"running": False}

    async def _prompt(self, frame: PromptFrame) -> dict[str, Any]:
        await self._allowed()
        prompt = Prompt.model_validate({name: getattr(frame, name) for name in Prompt.model_fields})
        accepted = await self._services.prompts.send(frame.chat_id, self._caller, prompt)
        return accepted.model_dump(mode="json")

    async def _answer(self, frame: AnswerFrame) -> dict[str, Any]:
        await self._allowed()
        answer = AskAnswer.model_validate(
            {name: getattr(frame, name) for name in AskAnswer.model_fields}
        )
        resolved = await self._services.chats.answer(
            frame.chat_id, frame.ask_id, answer, self._caller
        )
        return resolved.model_dump(mode="json")

    def _ack(self, request_id: str | None, result: dict[str, Any] | None = None) -> None:
        if request_id is not None:
            self._channel.push(Ack(request_id=request_id, result=result or {}).model_dump_json())

    def _refuse(self, request_id: str | None, error: AgentChatError) -> None:
        frame = RefusedFrame(
            request_id=request_id,
            code=cast(RefusalCode, error.code),
            message=error.message,
            details=error.details,
        )
        self._channel.push(frame.model_dump_json())


def _readable(message: str | bytes) -> str:
    if isinstance(message, bytes):
        raise BadRequest("Frames are text.")
    if len(message) > FRAME_LIMIT_BYTES:
        raise TooLarge("The frame is too large.", limit_bytes=FRAME_LIMIT_BYTES)
    return message


def _request_id(message: str) -> str | None:
    """The id to answer to, also of a frame that is otherwise wrong."""
    try:
        data = json.loads(message)
    except (ValueError, RecursionError):
        return None
    value = data.get("request_id") if isinstance(data, dict) else None
    return value if isinstance(value, str) and 0 < len(value) <= 200 else None
