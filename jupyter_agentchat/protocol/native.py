"""The native agent protocol: one JSON object a line, both ways. Anyone can write such a program.

The agent first writes `hello`, then event bodies of NATIVE_TYPES; it reads `op` lines. It may
outlive the server that started it: the next server goes on with it, and writes again what may not
have arrived. So a `run` whose `run_id` it has begun before is ignored, and so is an `answer` to an
ask that is not open. See docs/protocol.md and `jupyter_agentchat.tour` for a whole one.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from .base import DEFERRED, Id, Text, Wire
from .resources import AskAnswer, Attachment, Model, ProviderFeatures, RunRequest

NATIVE_TYPES: Final = frozenset(
    {
        "session",
        "assistant_text",
        "thinking",
        "tool_use_start",
        "tool_use_update",
        "tool_use_end",
        "ask",
        "ask_resolved",
        "plan",
        "usage",
        "plan_usage",
        "system",
        "notice",
        "error",
        "complete",
        "resume_refused",
    }
)
"""Event types that an agent may write; anything else is a protocol error."""


class AgentHello(Wire):
    """First line of an agent. Unknown fields are ignored: agents may be newer than we are."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    type: Literal["hello"] = "hello"
    name: Text
    version: Text = ""
    models: list[Model] = []
    features: ProviderFeatures = Field(default_factory=ProviderFeatures)


class OpRun(Wire):
    """Start a run; ignored when a run with this `run_id` was begun before.

    One that ended with `resume_refused` was not begun: it comes again under the same `run_id`,
    with a transcript instead of the session.
    """

    op: Literal["run"] = "run"
    request: RunRequest


class OpAnswer(AskAnswer):
    """A person answered; ignored when that ask is not open (any more)."""

    op: Literal["answer"] = "answer"
    ask_id: Id


class OpSteer(Wire):
    """A message into the running turn."""

    op: Literal["steer"] = "steer"
    text: Text
    attachments: list[Attachment] = []


class OpCancel(Wire):
    """Stop the run, then write `complete` with outcome cancelled."""

    op: Literal["cancel"] = "cancel"


class OpClose(Wire):
    """No more runs: exit."""

    op: Literal["close"] = "close"


Op = Annotated[OpRun | OpAnswer | OpSteer | OpCancel | OpClose, Field(discriminator="op")]
OP: TypeAdapter[Any] = TypeAdapter(Op, config=DEFERRED)
