"""A chat in a project, whose agent is a function, and everything that rewinds and forks need."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from jupyter_agentchat.chats.access import OWNER, Caller
from jupyter_agentchat.chats.dispatch import Dispatcher
from jupyter_agentchat.chats.fork import Forks
from jupyter_agentchat.chats.plans import Allowance, Planner
from jupyter_agentchat.chats.policies import Policies
from jupyter_agentchat.chats.projects import Projects
from jupyter_agentchat.chats.queue import PromptQueue
from jupyter_agentchat.chats.rewind import Rewinds
from jupyter_agentchat.chats.service import ChatService
from jupyter_agentchat.chats.starts import Starter
from jupyter_agentchat.protocol.base import now
from jupyter_agentchat.protocol.controls import ForkRequest, RewindRequest, RewindResult
from jupyter_agentchat.protocol.events import AssistantText, Complete, Session, User
from jupyter_agentchat.protocol.resources import Chat, RunRequest
from jupyter_agentchat.providers.base import Adapter, AgentRun, ChildMark, RunContext
from jupyter_agentchat.runs.hooks import HubHooks
from jupyter_agentchat.runs.hub import Hub
from jupyter_agentchat.store.base import ChatRecord, Store
from jupyter_agentchat.workspace.checkpoints import Checkpoints
from jupyter_agentchat.workspace.snapshot import Limits
from tests.unit.chats.desk import Agents, Trusting
from tests.unit.runs.staged import DONE, StagedAdapter
from tests.waiting import until


class Cutting:
    """A rewinder of which the test decides what it does."""

    def __init__(self) -> None:
        self.answer: bool | Exception = True
        self.cuts: list[tuple[str | None, list[str]]] = []
        self.files: dict[Path, str] = {}
        """What the agent itself would put back: path and content."""
        self.restored: list[str] = []

    async def rewind(
        self, request: RunRequest, _context: RunContext, cut_run_ids: list[str]
    ) -> bool:
        self.cuts.append((request.provider_session_id, cut_run_ids))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def preview_files(
        self, request: RunRequest, _context: RunContext, _first: str
    ) -> list[str]:
        cwd = Path(request.cwd)
        return [str(p.relative_to(cwd) if p.is_relative_to(cwd) else p) for p in self.files]

    async def restore_files(
        self, request: RunRequest, context: RunContext, first: str
    ) -> list[str]:
        for path, text in self.files.items():
            path.write_text(text)
        self.restored.append(first)
        return await self.preview_files(request, context, first)


class CheckpointedAdapter(StagedAdapter):
    """Waits for what must be ready before the prompt is written, as adapters do."""

    rewinder: Any = None
    forker: Any = None

    async def start(self, request: RunRequest, context: RunContext) -> AgentRun:
        await context.on_child(ChildMark("child", 0))
        return await super().start(request, context)


class RewindAgents(Agents):
    """The registry: one agent for every name, and which chats were closed."""

    ids = ("staged", "other")

    def __init__(self, adapter: CheckpointedAdapter) -> None:
        super().__init__()
        self._adapter = adapter

    async def adapter(self, _name: str) -> Adapter:
        return self._adapter

    async def close_chat(self, chat_id: str) -> None:
        await self._adapter.close_chat(chat_id)


class RewindDesk:
    """See the module. One loop; `close` at the end."""

    def __init__(self, store: Store, data: Path, root: Path, holder: str = "here/") -> None:
        self.store = store
        self.root = root
        self.adapter = CheckpointedAdapter()
        agents: Any = RewindAgents(self.adapter)
        trust: Any = Trusting()
        self.hub = Hub(store, agents.adapter, max_runs=4, holder=holder)
        self.policies = Policies(server_root=root.parent, loose_root=root.with_name("loose"))
        projects = Projects(store, self.policies)
        self.chats = ChatService(store, self.hub, self.policies, projects, agents)
        self.checkpoints = Checkpoints(data / "checkpoints", limits=Limits(before_s=20.0))
        self.planner = Planner(store, self.chats, self.policies, trust)
        self.starter = Starter(store, self.hub, self.chats, self.checkpoints)
        dispatcher = Dispatcher(store, self.hub, self.planner, self.starter, agents.provider)
        self.queue = PromptQueue(store, self.hub, dispatcher)
        self.rewinds = Rewinds(
            store,
            self.hub,
            self.chats,
            agents,
            self.queue,
            self.checkpoints,
            self.planner.trusted,
            holder=holder,
        )
        self.forks = Forks(store, self.chats, agents, self.policies)
        self.hub.connect(
            HubHooks(self.chats.announce, self.chats.on_session, self._finished, lambda: None)
        )
        self._count = 0

    def _finished(self, chat_id: str, complete: Complete) -> None:
        self.checkpoints.end(chat_id, late=complete.outcome == "interrupted")
        self.chats.on_finished(chat_id, complete)

    def add_chat(self, chat_id: str = "c", **fields: Any) -> None:
        chat = Chat(id=chat_id, provider="staged", created=now(), updated=now(), **fields)
        self.store.create_chat(ChatRecord(chat, project_path=str(self.root)))

    async def run(
        self,
        text: str,
        work: Callable[[], object] = lambda: None,
        *,
        chat_id: str = "c",
        session: str | None = "s1",
        provider: str = "staged",
    ) -> int:
        """One prompt and its whole run; the prompt's seq. The run says `re: text`."""
        self._count += 1
        record = self.store.chat(chat_id)
        if record.chat.provider != provider:
            self.store.save_chat(record.with_chat(provider=provider))
        record = self.store.chat(chat_id)
        seq = self.store.last_seq(chat_id) + 1
        run = self.adapter.next()
        started = len(self.adapter.requests)
        user = User(text=text, author=OWNER.author, client_id=f"p{self._count}")
        self.starter.start(self.planner.plan(record, user, Allowance(trusted=False)))
        await until(lambda: len(self.adapter.requests) > started)
        work()
        if session is not None:
            run.emit(Session(provider=provider, provider_session_id=session))
        run.end(AssistantText(item_id=f"m{self._count}", text=f"re: {text}", final=True), DONE)
        await until(lambda: self.hub.state(chat_id) == "idle")
        await self.checkpoints.settled(chat_id)
        return seq

    async def rewind(self, seq: int, **fields: Any) -> RewindResult:
        asked = RewindRequest(seq=seq, **{"files": "restore", **fields})
        return await self.rewinds.rewind("c", OWNER, asked)

    async def undo(self) -> RewindResult:
        return await self.rewinds.undo("c", OWNER)

    async def fork(
        self, after_seq: int | None = None, *, chat_id: str = "c", caller: Caller = OWNER
    ) -> Chat:
        return await self.forks.fork(chat_id, caller, ForkRequest(after_seq=after_seq))

    def chat(self, chat_id: str = "c") -> Chat:
        return self.store.chat(chat_id).chat

    def log(self, chat_id: str = "c") -> list[tuple[int, str, str]]:
        """What is visible: (seq, type, body)."""
        page = self.store.events_after(chat_id, 0, limit=5000)
        return [(event.seq, event.type, event.body_json) for event in page.events]

    def said(self, chat_id: str = "c") -> list[str]:
        """Prompts and answers that are visible, in order."""
        page = self.store.events_after(chat_id, 0, limit=5000)
        bodies = [event.body() for event in page.events]
        return [body.text or "" for body in bodies if isinstance(body, User | AssistantText)]

    @property
    def request(self) -> RunRequest:
        """What the agent was asked last."""
        return self.adapter.requests[-1][0]

    def change(self, **settings: Any) -> None:
        self.store.save_chat(self.store.chat("c").with_chat(**settings))

    async def close(self) -> None:
        await self.queue.close()
        await self.hub.close()
        await self.checkpoints.close()


def at_desk(
    store: Store, tmp_path: Path, scenario: Callable[[RewindDesk], Awaitable[None]]
) -> None:
    """Play `scenario` at a desk with the chat `c`."""

    async def play() -> None:
        root = tmp_path / "project"
        root.mkdir(exist_ok=True)
        desk = RewindDesk(store, tmp_path / "data", root)
        desk.hub.begin()
        desk.add_chat()
        try:
            await scenario(desk)
        finally:
            await desk.close()

    asyncio.run(play())
