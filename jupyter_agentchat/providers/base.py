"""The seam between the hub and an agent: Adapter (who) and AgentRun (one run of it).

The hub pulls `AgentRun.steps()`; a slow store slows the reader, and the iterator's end *is* the
run's end. Bodies come from pure translators: no clock, no random ids; the same lines give the same
bodies. The hub stamps seq and time, closes what stays open, and writes the one `complete`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from ..process.launcher import Launcher
from ..protocol.events import EventBody
from ..protocol.resources import AskAnswer, Attachment, ProjectLoad, Provider, RunRequest
from ..protocol.words import Permission
from .settings import ProviderSettings


class Scope(StrEnum):
    """How long a child lives: one per chat, or one per server with many chats in it."""

    CHAT = "chat"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Step:
    """What one wire line (or one fact, such as the process's end) brought.

    `offset` is where the line ends in the child's output: stored together with `bodies`, in one
    transaction. None where there is no line behind it.
    """

    bodies: tuple[EventBody, ...]
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class AdapterContext:
    """What an adapter may use; handed over once, when it is made.

    `launcher` also keeps the child table, so that the next server finds what this one left behind;
    `environment` is the server's own (to build from, never to pass on); `scratch` is an empty
    private directory for probes.
    """

    launcher: Launcher
    environment: Mapping[str, str]
    settings: ProviderSettings
    scratch: Path
    idle_timeout_s: float = 600.0


@dataclass(frozen=True, slots=True)
class RunContext:
    """What differs per run besides the request.

    `trusted`: a person has said yes to this project's configuration; else start without it.
    `first_session_id`: the id the hub minted for a fresh conversation (UUID text), known and
    stored before the first byte, for adapters that can choose their id.
    `never_completed`: no run of the conversation `provider_session_id` has ended with `completed`
    yet. A refusal to resume it then only means that the agent had not written it down, and it may
    be begun again under the same id.
    """

    trusted: bool
    first_session_id: str
    never_completed: bool = False


class AgentRun(Protocol):
    """One run: from the prompt until the agent stops."""

    def steps(self) -> AsyncIterator[Step]:
        """Yield steps until the run is over; consumed once, by the hub.

        Ends normally after a `complete` body (outcome completed or cancelled, or failed with an
        `error` before it), or raises ProviderError (the hub then writes `error` and `complete`).
        SessionRejected before any content means: the hub starts again, once, with a transcript.
        Cancelling the consumer never kills the child by itself: call `cancel` or `Adapter.close`.
        """
        ...

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        """Pass a person's answer on. Raises ProviderError when the agent is gone."""
        ...

    async def cancel(self, *, force: bool = False) -> None:
        """Ask the agent to stop (native interrupt, then the ladder with its deadlines).

        Returns once `steps` is bound to end without further help. `force` skips to the ladder.
        Idempotent.
        """
        ...

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """Put a message into the running turn; False where the agent cannot."""
        ...

    async def set_permission(self, permission: Permission) -> bool:
        """Lower (or raise) what the agent may do in mid-run; False where it cannot."""
        ...


class Adapter(Protocol):
    """Our code for one provider. Made once per server, on first use."""

    id: str
    name: str
    scope: Scope

    async def probe(self) -> Provider:
        """Find the program, its version and sign-in state. <= 5 s, in `scratch`, leaves no process.

        Never raises for a missing or broken program: that is a `Provider` with state and reason.
        """
        ...

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """What `directory` and its parents up to `top` (the git root or the directory) would make
        this agent load and run by itself: hooks, MCP servers, settings, skills, instructions.
        Reads files only; starts nothing. Paths are relative to `directory`."""
        ...

    async def start(self, request: RunRequest, context: RunContext) -> AgentRun:
        """Start or resume the agent and hand it the prompt. Raises ProviderError.

        On cancel nothing of the attempt stays behind.
        """
        ...

    async def close_chat(self, chat_id: str) -> None:
        """End what is kept warm for a chat (its run is over). Idempotent."""
        ...

    async def close(self) -> None:
        """End every child, by the ladder. Idempotent; the adapter is not used afterwards."""
        ...


class AdapterFactory(Protocol):
    """What the entry point group `jupyter_agentchat.providers` names."""

    def __call__(self, context: AdapterContext) -> Adapter: ...
