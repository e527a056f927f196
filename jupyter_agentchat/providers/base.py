"""The seam between the hub and an agent: Adapter (who) and AgentRun (one run of it).

What an agent can do beside running stands on the adapter as an object or None (`rewinder`,
`forker`): whoever needs it asks for the object, not for a flag.

The hub pulls `AgentRun.steps()`; a slow store slows the reader, and the iterator's end *is* the
run's end. Bodies come from pure translators: no clock, no random ids; the same lines give the same
bodies. The hub stamps seq and time, closes what stays open, and writes the one `complete`.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias

from ..process.launcher import Launcher
from ..protocol.events import EventBody
from ..protocol.resources import AskAnswer, Attachment, ProjectLoad, Provider, RunRequest
from ..protocol.words import Permission
from .settings import ProviderSettings

_PROCESS_KEY = secrets.token_bytes(32)


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


Begin: TypeAlias = "Callable[[RunRequest, RunContext], Awaitable[AgentRun]]"


def _of_this_process(child_id: str) -> str:
    """For callers without a data directory (conformance, probes): children die with us."""
    return hashlib.sha256(_PROCESS_KEY + child_id.encode()).hexdigest()


async def _nobody_begins(_chat_id: str, _begin: Begin) -> bool:
    """For callers that host no unasked turns."""
    return False


@dataclass(frozen=True, slots=True)
class AdapterContext:
    """What an adapter may use; handed over once, when it is made.

    `launcher` also keeps the child table, so that the next server finds what this one left behind;
    its children may outlive this server. `probe_launcher` is for what must not (`for_probes`).
    `environment` is the server's own (to build from, never to pass on); `scratch` is an empty
    private directory for probes.
    `secret_of(child_id)`: the secret of a child on a port, the same in the next server.
    `begin_unasked(chat_id, begin)`: the agent has begun a turn by itself in that chat's
    conversation (its background task ended). The hub makes a run of it, `origin: provider`, and
    calls `begin(request, context)` for its `AgentRun` in place of `Adapter.start`; `request.prompt`
    is empty. False: it cannot be hosted (a run is active, the chat is gone, the server stops); the
    adapter then waits for the chat's next run, or stops the turn.
    """

    launcher: Launcher
    environment: Mapping[str, str]
    settings: ProviderSettings
    scratch: Path
    idle_timeout_s: float = 600.0
    probe_launcher: Launcher | None = None
    secret_of: Callable[[str], str] = _of_this_process
    begin_unasked: Callable[[str, Begin], Awaitable[bool]] = _nobody_begins

    @property
    def for_probes(self) -> Launcher:
        """Where short-lived children are started: they end with this server."""
        return self.probe_launcher or self.launcher


@dataclass(frozen=True, slots=True)
class ChildMark:
    """Where a run stands in its child's output, in bytes from the beginning.

    `first`: where the run's first line begins; `stored`: behind the last line whose events are
    stored (for `attach`; 0: none is). A child with no output of its own to count (a server on a
    port) counts what it likes, as long as it only rises.
    """

    child_id: str
    first: int
    stored: int = 0


async def _nobody_asks(_mark: ChildMark) -> None:
    """For callers that keep no run rows (conformance, probes)."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What differs per run besides the request.

    `trusted`: a person has said yes to this project's configuration; else start without it.
    `first_session_id`: the id the hub minted for a fresh conversation (UUID text), known and
    stored before the first byte, for adapters that can choose their id.
    `never_completed`: no run of the conversation `provider_session_id` has ended with `completed`
    yet. A refusal to resume it then only means that the agent had not written it down, and it may
    be begun again under the same id.
    `on_child`: awaited by the adapter once the child is ready and *before* the prompt is written
    (`first` = the handle's position): from then on the next server finds the run in its child. May
    be awaited again when the run moves to another child. It may raise StorageError: the run ends.
    The one of a plan (made above the hub) is awaited by the hub's own.
    """

    trusted: bool
    first_session_id: str
    never_completed: bool = False
    on_child: Callable[[ChildMark], Awaitable[None]] = _nobody_asks


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

    @property
    def can_steer(self) -> bool:
        """Whether `steer` would be taken now; may change while the run goes on."""
        ...

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """Put a message into the running turn; False where the agent cannot (any more).

        Never begins a turn of its own.
        """
        ...

    async def set_permission(self, permission: Permission) -> bool:
        """Lower (or raise) what the agent may do in mid-run; False where it cannot."""
        ...


class Rewinder(Protocol):
    """An agent that can cut its own conversation, and perhaps restore files by itself."""

    async def rewind(
        self, request: RunRequest, context: RunContext, cut_run_ids: list[str]
    ) -> bool:
        """Cut these runs (newest last) from the conversation `request.provider_session_id`.

        False: not possible now; the hub goes on with a transcript. Raises ProviderError.
        """
        ...

    async def preview_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """The files that `restore_files` would change; [] without checkpoints of the agent's."""
        ...

    async def restore_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """Put files back to where they were before that run; which were changed."""
        ...


@dataclass(frozen=True, slots=True)
class Forker:
    """A mark: `RunRequest.fork` with the parent's `provider_session_id` makes a native fork.

    At the end of the conversation only; a fork from an earlier message begins with a transcript.
    """


class Adapter(Protocol):
    """Our code for one provider. Made once per server, on first use."""

    id: str
    name: str
    scope: Scope

    @property
    def rewinder(self) -> Rewinder | None:
        """None: the hub rewinds by transcript."""
        ...

    @property
    def forker(self) -> Forker | None:
        """None: the hub forks by transcript."""
        ...

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

    async def attach(self, request: RunRequest, context: RunContext, mark: ChildMark) -> AgentRun:
        """Take over a run that an earlier server started; its child may be dead by now.

        The lines from `mark.first` on are translated again (translators are pure), so the steps
        come again from the run's beginning, each with its `offset`; the hub drops those up to
        `mark.stored`. Runs of one child are attached to in the order of their `mark.first`.
        Nothing is sent, but for a prompt that certainly or possibly never arrived, where sending
        it again is safe (the agent runs it once). An empty prompt is that of a turn which the agent
        had begun by itself: it is never sent. Raises ChildGone, ProviderError: the hub then
        closes the run as interrupted. On cancel nothing of the attempt stays behind, the child
        included.
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
