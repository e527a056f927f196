"""A hub on the memory store, with an adapter that does what the test says, well or badly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from jupyter_agentchat.errors import StorageError
from jupyter_agentchat.protocol.base import now
from jupyter_agentchat.protocol.events import (
    AssistantText,
    Complete,
    EventBody,
    RunStarted,
    Session,
    User,
)
from jupyter_agentchat.protocol.resources import (
    AskAnswer,
    Attachment,
    Author,
    Chat,
    ProjectLoad,
    Provider,
    RunRequest,
)
from jupyter_agentchat.protocol.words import Permission
from jupyter_agentchat.providers.base import (
    Adapter,
    AgentRun,
    ChildMark,
    RunContext,
    Scope,
    Step,
)
from jupyter_agentchat.runs.hooks import HubHooks
from jupyter_agentchat.runs.hub import Hub
from jupyter_agentchat.runs.plan import RunPlan
from jupyter_agentchat.store.base import ChatRecord, StoredEvent
from jupyter_agentchat.store.memory import MemoryStore
from tests.waiting import until

OWNER = Author(username="owner", name="You")
DONE = Complete(outcome="completed")


def say(text: str, item: str = "m") -> AssistantText:
    return AssistantText(item_id=item, delta=text)


class StagedRun:
    """One run: the test emits; `on_cancel` decides what Stop does."""

    def __init__(self, on_cancel: Callable[[StagedRun, bool], Awaitable[None]] | None = None):
        self._queue: asyncio.Queue[Step | BaseException | None] = asyncio.Queue()
        self._on_cancel = on_cancel
        self.cancels: list[bool] = []
        self.answers: list[tuple[str, AskAnswer]] = []
        self.answering: Callable[[], Awaitable[None]] | None = None
        self.closed = False
        self.permissions: list[Permission] = []

    def emit(self, *bodies: EventBody, offset: int | None = None) -> None:
        self._queue.put_nowait(Step(bodies, offset))

    def end(self, *bodies: EventBody) -> None:
        self.emit(*bodies)
        self._queue.put_nowait(None)

    def fail(self, error: BaseException) -> None:
        self._queue.put_nowait(error)

    async def steps(self) -> AsyncIterator[Step]:
        try:
            while (item := await self._queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self.closed = True

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        if self.answering is not None:
            await self.answering()
        self.answers.append((ask_id, answer))

    async def cancel(self, *, force: bool = False) -> None:
        self.cancels.append(force)
        if self._on_cancel is not None:
            await self._on_cancel(self, force)
        else:
            self.end(Complete(outcome="cancelled"))

    can_steer = False

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        return False

    async def set_permission(self, permission: Permission) -> bool:
        self.permissions.append(permission)
        return True


class StagedAdapter:
    """Starts what the test has put on `runs`; `starting` may hold or fail a start."""

    id = name = "staged"
    scope = Scope.CHAT
    rewinder = None
    forker = None

    def __init__(self) -> None:
        self.runs: list[StagedRun] = []
        self.mark: ChildMark | None = None
        """Where a start says that the run's child stands."""
        self.starting: list[Callable[[], Awaitable[None]]] = []
        self.requests: list[tuple[RunRequest, RunContext]] = []
        self.attached: list[tuple[RunRequest, RunContext, ChildMark]] = []
        self.attaching: Callable[[], Awaitable[None]] | None = None
        self.closed_chats: list[str] = []
        self.closing: Callable[[], Awaitable[None]] | None = None

    def next(self, run: StagedRun | None = None) -> StagedRun:
        self.runs.append(run or StagedRun())
        return self.runs[-1]

    async def start(self, request: RunRequest, context: RunContext) -> AgentRun:
        self.requests.append((request, context))
        if self.starting:
            await self.starting.pop(0)()
        if self.mark is not None:
            await context.on_child(self.mark)
        return self.runs.pop(0)

    async def attach(self, request: RunRequest, context: RunContext, mark: ChildMark) -> AgentRun:
        self.attached.append((request, context, mark))
        if self.attaching is not None:
            await self.attaching()
        return self.runs.pop(0)

    async def close_chat(self, chat_id: str) -> None:
        self.closed_chats.append(chat_id)
        if self.closing is not None:
            await self.closing()

    async def probe(self) -> Provider:
        return Provider(id=self.id, name=self.name, state="ready", available=True)

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        return []

    async def close(self) -> None:
        return None


class FullDisk(MemoryStore):
    """A MemoryStore whose disk the test fills up."""

    full = False

    def append(self, *args: Any, **options: Any) -> list[StoredEvent]:
        self._check_space()
        return super().append(*args, **options)

    def start_run(self, *args: Any, **options: Any) -> list[StoredEvent]:
        self._check_space()
        return super().start_run(*args, **options)

    def save_run(self, *args: Any) -> None:
        self._check_space()
        super().save_run(*args)

    def save_chat(self, record: ChatRecord) -> None:
        self._check_space()
        super().save_chat(record)

    def _check_space(self) -> None:
        if self.full:
            raise StorageError("The disk is full.")


class Stage:
    """One chat, `c`, whose hub and adapter are in the test's hands."""

    def __init__(self, *, max_runs: int = 4) -> None:
        self.store = FullDisk()
        self.adapter = StagedAdapter()
        self.told: list[tuple[str, object]] = []
        self.reaped: list[frozenset[str]] = []
        self.children: set[str] = set()
        """Those that a next server may attach to."""
        self.alive = {"here/", "next/"}
        self._max_runs = max_runs
        self.hub = self.make_hub("here/")
        self.add_chat("c")
        self._count = 0
        self.finding: Callable[[], Awaitable[None]] | None = None

    def make_hub(self, holder: str) -> Hub:
        """A server on the stage's store."""
        hub = Hub(
            self.store,
            self._adapter_for,
            max_runs=self._max_runs,
            holder=holder,
            reap=self._reap,
            known_child=self.children.__contains__,
            lives=self.alive.__contains__,
        )
        hub.connect(
            HubHooks(
                chat_changed=lambda chat_id: self.told.append(("changed", chat_id)),
                session=lambda chat_id, session: self.told.append(("session", session)),
                finished=lambda chat_id, complete: self.told.append(("finished", complete)),
                progress=lambda: self.told.append(("progress", None)),
            )
        )
        return hub

    def die(self) -> None:
        """The server `here/` is killed: nothing that it does is stored any more."""
        self.alive.discard("here/")

    async def _reap(self, spare: frozenset[str]) -> None:
        self.reaped.append(spare)

    def add_chat(self, chat_id: str) -> None:
        chat = Chat(id=chat_id, provider="staged", created=now(), updated=now())
        self.store.create_chat(ChatRecord(chat))

    async def _adapter_for(self, _name: str) -> Adapter:
        if self.finding is not None:
            await self.finding()
        return self.adapter

    def plan(self, chat_id: str = "c", *, session: str | None = None) -> RunPlan:
        self._count += 1
        run_id = f"run{self._count}"
        return RunPlan(
            RunRequest(
                chat_id=chat_id, run_id=run_id, prompt="hi", cwd="/", provider_session_id=session
            ),
            RunContext(trusted=False, first_session_id="fresh"),
            User(text="hi", author=OWNER, client_id=run_id),
            RunStarted(provider="staged"),
            lambda: "what was said",
        )

    def start(self, chat_id: str = "c", *, session: str | None = None) -> StagedRun:
        """Start a run; returns what its adapter will give it."""
        run = self.adapter.next()
        self.hub.start(self.plan(chat_id, session=session))
        return run

    async def until_idle(self, chat_id: str = "c") -> None:
        await until(lambda: self.hub.state(chat_id) == "idle")

    def log(self, chat_id: str = "c") -> list[dict[str, Any]]:
        page = self.store.events_after(chat_id, 0, limit=5000)
        return [
            {"seq": e.seq, "run_id": e.run_id, **(b.model_dump() if (b := e.body()) else {})}
            for e in page.events
        ]

    def outcomes(self, chat_id: str = "c") -> list[str]:
        """The outcome of each run. Fails where a run did not end once, last and tidily."""
        runs: dict[str, list[dict[str, Any]]] = {}
        for event in self.log(chat_id):
            runs.setdefault(event["run_id"], []).append(event)
        return [_outcome(events) for events in runs.values()]


def _outcome(events: list[dict[str, Any]]) -> str:
    types = [event["type"] for event in events]
    assert types.count("complete") == 1, types
    assert types[-1] == "complete", types
    outcome = str(events[-1]["outcome"])
    assert types.count("error") == (outcome == "failed"), (outcome, types)
    assert outcome != "failed" or types[-2] == "error", types
    for begin, end, key in (
        ("tool_use_start", "tool_use_end", "tool_id"),
        ("ask", "ask_resolved", "ask_id"),
    ):
        opened = {event[key] for event in events if event["type"] == begin}
        closed = [event[key] for event in events if event["type"] == end]
        assert sorted(opened) == sorted(closed), (begin, types)
    return outcome


def on_stage(scenario: Callable[[Stage], Awaitable[None]], **options: Any) -> Stage:
    """Run `scenario` on a new stage; afterwards the hub must close and leave no task."""

    async def play() -> Stage:
        stage = Stage(**options)
        stage.hub.begin()
        await scenario(stage)
        stage.store.full = False
        await stage.hub.close()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert left == [], left
        return stage

    return asyncio.run(play())


SESSION = Session(provider="staged", provider_session_id="s1")
