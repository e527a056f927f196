"""Frames of the websocket, both ways. Client frames are strict; a bad one changes nothing.

Frames that carry events are built from stored bytes (one serialisation per broadcast), so their
models serve the schema and the tests, not the hot path.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from .base import DEFERRED, AnyObject, Id, Seq, Text, Wire
from .controls import QueueItem
from .events import Ask
from .resources import AskAnswer, Author, Chat, Prompt, Provider
from .words import Phase, QueuePause, RefusalCode

PROTOCOL = 1
"""Version of the wire. A client that speaks another is refused and offers a reload."""


class _ClientFrame(Wire):
    request_id: Id | None = None


class Hello(_ClientFrame):
    """The first frame of a client."""

    type: Literal["hello"] = "hello"
    protocol: int
    client: Literal["panel", "widget", "script"]


class Subscribe(_ClientFrame):
    """Follow a chat from behind `after_seq`; again replaces."""

    type: Literal["subscribe"] = "subscribe"
    chat_id: Id
    after_seq: Seq
    epoch: Text | None = None


class Unsubscribe(_ClientFrame):
    """Stop following."""

    type: Literal["unsubscribe"] = "unsubscribe"
    chat_id: Id


class PromptFrame(_ClientFrame, Prompt):
    """As POST prompts."""

    type: Literal["prompt"] = "prompt"
    chat_id: Id


class Cancel(_ClientFrame):
    """Stop the run; again forces."""

    type: Literal["cancel"] = "cancel"
    chat_id: Id


class AnswerFrame(_ClientFrame, AskAnswer):
    """As POST asks/{ask_id}."""

    type: Literal["answer"] = "answer"
    chat_id: Id
    ask_id: Id


class Read(_ClientFrame):
    """This person has seen up to `seq`."""

    type: Literal["read"] = "read"
    chat_id: Id
    seq: Seq


class Ping(_ClientFrame):
    """Answered by `pong`."""

    type: Literal["ping"] = "ping"


ClientFrame = Annotated[
    Hello | Subscribe | Unsubscribe | PromptFrame | Cancel | AnswerFrame | Read | Ping,
    Field(discriminator="type"),
]
CLIENT_FRAME: TypeAdapter[Any] = TypeAdapter(ClientFrame, config=DEFERRED)


class Welcome(Wire):
    """Comes unasked when the socket opens."""

    type: Literal["welcome"] = "welcome"
    protocol: int = PROTOCOL
    user: Author
    epoch: Text


class Events(Wire):
    """All stored events with after < seq <= upto, in order, each a ChatEvent; holes are normal."""

    type: Literal["events"] = "events"
    chat_id: Id
    after: Seq
    upto: Seq
    events: list[AnyObject]


class Sync(Wire):
    """The state of a chat's run. `running: false` never before the adapter has returned.

    `remote`: another server runs the chat (`holder` says which); here it can only be watched.
    `may_steer`: the running agent takes messages now.
    """

    type: Literal["sync"] = "sync"
    chat_id: Id
    running: bool = False
    remote: bool = False
    run_id: Id | None = None
    phase: Phase = "idle"
    last_seq: Seq = 0
    epoch: Text
    queue: list[QueueItem] = []
    queue_paused: bool = False
    queue_pause_reason: QueuePause | None = None
    may_steer: bool = False
    holder: Text | None = None
    asks: list[Ask] = []


class ChatFrame(Wire):
    """A list row is new or has changed."""

    type: Literal["chat"] = "chat"
    chat: Chat


class ChatDeleted(Wire):
    """A chat is gone."""

    type: Literal["chat_deleted"] = "chat_deleted"
    chat_id: Id


class Ack(Wire):
    """The frame with this `request_id` was accepted; `result` is the REST answer."""

    type: Literal["ack"] = "ack"
    request_id: Id
    result: AnyObject = {}


class RefusedFrame(Wire):
    """The frame was refused and changed nothing."""

    type: Literal["refused"] = "refused"
    request_id: Id | None = None
    code: RefusalCode
    message: Text
    details: AnyObject = {}


class Gap(Wire):
    """The subscription has ended: load by REST, then subscribe again."""

    type: Literal["gap"] = "gap"
    chat_id: Id
    last_seq: Seq


class ProvidersFrame(Wire):
    """After each probe."""

    type: Literal["providers"] = "providers"
    providers: list[Provider]


class Pong(Wire):
    """Answer to `ping`."""

    type: Literal["pong"] = "pong"
    request_id: Id | None = None


ServerFrame = Annotated[
    Welcome
    | Events
    | Sync
    | ChatFrame
    | ChatDeleted
    | Ack
    | RefusedFrame
    | Gap
    | ProvidersFrame
    | Pong,
    Field(discriminator="type"),
]
