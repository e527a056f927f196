"""A chat on the memory store with everything that stands between a person and a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_agentchat.chats.access import OWNER, Caller
from jupyter_agentchat.chats.dispatch import Dispatcher
from jupyter_agentchat.chats.plans import Planner
from jupyter_agentchat.chats.policies import Policies
from jupyter_agentchat.chats.projects import Projects
from jupyter_agentchat.chats.prompts import Prompts
from jupyter_agentchat.chats.queue import AfterCrash, PromptQueue
from jupyter_agentchat.chats.service import ChatService
from jupyter_agentchat.chats.starts import Starter
from jupyter_agentchat.protocol.controls import Accepted
from jupyter_agentchat.protocol.events import Complete
from jupyter_agentchat.protocol.resources import Attachment, Prompt, Provider, Trust
from jupyter_agentchat.protocol.words import Delivery
from jupyter_agentchat.runs.hooks import HubHooks
from tests.unit.runs.staged import DONE, Stage, StagedRun, on_stage
from tests.waiting import until


class Agents:
    """What is known of the agents; `known` is changed by the test."""

    ids = ("staged",)

    def __init__(self) -> None:
        self.known = Provider(id="staged", name="Staged", state="ready", available=True)
        self.probes = 0

    def name_of(self, _name: str) -> str:
        return self.known.name

    async def provider(self, _name: str) -> Provider:
        known = self.known
        await asyncio.sleep(0)
        return known

    def probe_all(self) -> None:
        self.probes += 1


class Trusting:
    """Decisions on trust: `answer`, or a person's own in `of`, is given after `looking`."""

    def __init__(self) -> None:
        self.answer: bool | None = False
        self.of: dict[str, bool] = {}
        self.looking: Callable[[], Awaitable[None]] | None = None

    async def look(self, username: str, _directory: Path) -> Trust:
        if self.looking is not None:
            await self.looking()
        return Trust(trusted=self.of.get(username, self.answer), digest="d", loads=[])


class SteeredRun(StagedRun):
    """A run that takes messages, as `taking` says."""

    can_steer = True

    def __init__(self) -> None:
        super().__init__()
        self.got: list[str] = []
        self.taking: Callable[[], Awaitable[bool]] | None = None

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        taken = await self.taking() if self.taking else True
        if taken:
            self.got.append(text)
        return taken


class Desk:
    """One chat, `c`, as people have it before them. Nobody needs to be connected."""

    def __init__(self, stage: Stage, root: Path, after_crash: AfterCrash) -> None:
        self.stage = stage
        self.store = stage.store
        self.agents = Agents()
        self.trust = Trusting()
        self.policies = Policies(server_root=root, loose_root=root.with_name("loose"))
        projects = Projects(self.store, self.policies)
        registry: Any = self.agents
        trust: Any = self.trust
        self.chats = ChatService(self.store, stage.hub, self.policies, projects, registry)
        planner = Planner(self.store, self.chats, self.policies, trust)
        starter = Starter(self.store, stage.hub, self.chats)
        dispatcher = Dispatcher(self.store, stage.hub, planner, starter, self.agents.provider)
        self.queue = PromptQueue(
            self.store,
            stage.hub,
            dispatcher,
            after_crash=after_crash,
            look_again=self.agents.probe_all,
        )
        self.prompts = Prompts(self.store, stage.hub, self.chats, planner, starter, self.queue)
        stage.hub.connect(
            HubHooks(
                self.chats.announce,
                self.chats.on_session,
                self._finished,
                lambda: None,
                self.queue.on_freed,
                self.queue.on_taken_over,
            )
        )
        self._root = root
        self.put_in_project("c")

    def _finished(self, chat_id: str, complete: Complete) -> None:
        self.queue.on_finished(chat_id, complete)
        self.chats.on_finished(chat_id, complete)

    def put_in_project(self, chat_id: str) -> None:
        record = self.store.chat(chat_id)
        self.store.save_chat(replace(record, project_path=str(self._root)))

    async def send(
        self,
        text: str,
        delivery: Delivery = "auto",
        *,
        chat_id: str = "c",
        client_id: str | None = None,
        caller: Caller = OWNER,
        **fields: Any,
    ) -> Accepted:
        prompt = Prompt(
            client_id=client_id or f"id of {text[:100]}", text=text, delivery=delivery, **fields
        )
        return await self.prompts.send(chat_id, caller, prompt)

    async def enqueue(self, *texts: str) -> list[str]:
        """Queue these behind each other; returns the ids of the items."""
        ids = []
        for text in texts:
            item = (await self.send(text, "queue")).queue_item
            assert item is not None
            ids.append(item.id)
        return ids

    def change(self, **settings: Any) -> None:
        """Somebody changes the chat's settings."""
        self.store.save_chat(self.store.chat("c").with_chat(**settings))

    @property
    def waiting(self) -> list[str]:
        return [item.text for item in self.queue.view("c").queue]

    @property
    def pause(self) -> str | None:
        return self.queue.view("c").pause_reason

    def sent(self, chat_id: str = "c") -> list[str]:
        """What became a prompt of the thread, in order."""
        return [e["text"] for e in self.stage.log(chat_id) if e["type"] == "user"]

    def outcomes(self, chat_id: str = "c") -> list[str]:
        """The outcomes of the runs that are over, in order."""
        log = self.stage.log(chat_id)
        return [event["outcome"] for event in log if event["type"] == "complete"]

    def started(self) -> list[str]:
        """What agents were asked to do, in order."""
        return [request.prompt for request, _ in self.stage.adapter.requests]

    async def run_of(self, text: str) -> None:
        """Wait until the agent works on `text`."""
        await until(lambda: text in self.started())

    def next(self, run: StagedRun | None = None) -> StagedRun:
        return self.stage.adapter.next(run)

    def finish_at_once(self, count: int) -> None:
        """The next `count` runs end well by themselves."""
        for _ in range(count):
            self.next().end(DONE)

    async def settle(self) -> None:
        """Let everything happen that happens by itself."""
        for _ in range(200):
            await asyncio.sleep(0)


def at_desk(
    scenario: Callable[[Desk], Awaitable[None]],
    root: Path,
    *,
    after_crash: AfterCrash = "wait",
    begin: bool = True,
) -> None:
    """Play `scenario`; afterwards everything must close and leave no task."""

    async def play(stage: Stage) -> None:
        desk = Desk(stage, root, after_crash)
        if begin:
            desk.queue.begin()
        await scenario(desk)
        await desk.queue.close()

    on_stage(play)
