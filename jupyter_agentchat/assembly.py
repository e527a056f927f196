"""Assembly: every object of a running extension, built and wired in one place.

Built by the first request, or while the server starts when an earlier one left work
(`store/attention.py`): a server that nobody chats on pays for neither the imports nor the store.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ._version import __version__
from .chats.dispatch import Dispatcher
from .chats.drafts import Drafts
from .chats.fork import Forks
from .chats.plans import Planner
from .chats.policies import Policies
from .chats.projects import Projects
from .chats.prompts import Prompts
from .chats.queue import AfterCrash, PromptQueue
from .chats.queued import queue_of
from .chats.rewind import Rewinds
from .chats.search import Search
from .chats.service import ChatService
from .chats.starts import Starter
from .chats.trash import Trash
from .chats.trust import TrustKeeper
from .chats.unasked import UnaskedTurns
from .handlers.base import Services
from .process.child_secrets import ChildSecrets
from .process.keeper import spool_supported
from .process.local import LocalLauncher
from .process.reaper import reap
from .process.spool import SpoolLauncher
from .process.tasks import TaskOwner
from .protocol.events import Complete
from .protocol.frames import ProvidersFrame
from .protocol.resources import Provider
from .protocol.words import Mode, Permission
from .providers.base import Begin
from .providers.registry import ProviderRegistry
from .runs.hooks import HubHooks
from .runs.hub import Hub
from .runs.ledger import StoreLedger
from .store.sqlite import JournalChoice, open_store
from .workspace.checkpoints import Checkpoints

log = logging.getLogger(__name__)

RestartPolicy = Literal["crash", "reattach", "stop"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The admin's traits, checked by traitlets, with their defaults worked out."""

    server_root: Path
    data_dir: Path
    provider_settings: dict[str, Any]
    default_provider: str | None
    allowed_providers: list[str] | None
    allowed_models: list[str] | None
    allowed_modes: list[Mode] | None
    max_permission: Permission
    max_concurrent_runs: int
    idle_process_timeout_s: float
    queue_after_crash: AfterCrash
    loose_chats: bool
    trusted_workspaces: Literal["ask", "always", "never"] | list[str]
    allow_token_approvals: bool
    restart_policy: RestartPolicy
    unattended_max_s: float
    keep_alive_max_s: float
    journal_mode: JournalChoice
    trash_days: float
    transcript_limit: int
    owner_name: str


class Assembly:
    """See the module. Starts no process, no task and no probe until `begin`."""

    def __init__(self, settings: Settings, note_activity: Callable[[], None]) -> None:
        """Opens the store; takes over the runs that an earlier server left, or closes them.

        `note_activity` is called whenever a run makes progress. Raises nothing for a bad disk (see
        `store.health`).
        """
        closing = self._closing = AsyncExitStack()
        scratch = tempfile.TemporaryDirectory(prefix="agentchat-", ignore_cleanup_errors=True)
        closing.callback(scratch.cleanup)
        self.store = open_store(
            settings.data_dir, settings.journal_mode, served_root=settings.server_root
        )
        closing.callback(self.store.close)
        tasks = TaskOwner("extension")
        closing.push_async_callback(tasks.close)
        self._ledger = StoreLedger(self.store)
        probes = LocalLauncher(ledger=self._ledger)
        closing.push_async_callback(probes.close)
        self.spool = self._spool(settings)
        if self.spool is not None:
            closing.push_async_callback(self.spool.close)
        self._leaves = settings.restart_policy == "reattach"
        self.launcher = self.spool or probes
        self.providers = ProviderRegistry(
            launcher=self.launcher,
            probe_launcher=probes,
            environment=dict(os.environ),
            settings=settings.provider_settings,
            allowed=settings.allowed_providers,
            scratch=Path(scratch.name),
            idle_timeout_s=settings.idle_process_timeout_s,
            on_probed=self._providers_changed,
            begin_unasked=self._host_unasked,
            secret_of=ChildSecrets(settings.data_dir).of,
        )
        closing.push_async_callback(self.providers.close)
        self.hub = Hub(
            self.store,
            self.providers.adapter,
            max_runs=settings.max_concurrent_runs,
            reap=self._end_leftovers,
            queue_view=lambda chat_id: queue_of(self.store, chat_id),
            known_child=self.spool.known if self.spool else lambda _child_id: False,
            keep_alive_max_s=settings.keep_alive_max_s,
        )
        checkpoints = Checkpoints(
            settings.data_dir / "checkpoints", avoid=(settings.data_dir.resolve(),)
        )
        closing.push_async_callback(checkpoints.close)
        closing.push_async_callback(self._stop_runs)
        policies = self._policies(settings)
        projects = Projects(self.store, policies)
        chats = ChatService(self.store, self.hub, policies, projects, self.providers)
        trust = TrustKeeper(self.store, self.providers, settings.trusted_workspaces)
        planner = Planner(self.store, chats, policies, trust)
        starter = Starter(self.store, self.hub, chats, checkpoints)
        self._unasked = UnaskedTurns(self.store, planner, starter)
        dispatcher = Dispatcher(self.store, self.hub, planner, starter, self.providers.provider)
        queue = self.queue = PromptQueue(
            self.store,
            self.hub,
            dispatcher,
            after_crash=settings.queue_after_crash,
            look_again=lambda: self.providers.probe_all(refresh=True),
        )
        closing.push_async_callback(queue.close)
        rewinds = Rewinds(
            self.store, self.hub, chats, self.providers, queue, checkpoints, planner.trusted
        )
        trash = self._trash = Trash(
            self.store,
            self.hub,
            chats,
            self.providers,
            tasks=tasks,
            days=settings.trash_days,
            purged=rewinds.forget,
        )

        def on_finished(chat_id: str, complete: Complete) -> None:
            checkpoints.end(chat_id, late=complete.outcome == "interrupted")
            queue.on_finished(chat_id, complete)
            chats.on_finished(chat_id, complete)

        self.hub.connect(
            HubHooks(
                chats.announce,
                chats.on_session,
                on_finished,
                note_activity,
                queue.on_freed,
                queue.on_taken_over,
            )
        )
        self.services = Services(
            store=self.store,
            hub=self.hub,
            chats=chats,
            prompts=Prompts(self.store, self.hub, chats, planner, starter, queue),
            queue=queue,
            drafts=Drafts(self.store),
            search=Search(self.store, projects),
            trash=trash,
            rewinds=rewinds,
            forks=Forks(self.store, chats, self.providers, policies),
            trust=trust,
            policies=policies,
            providers=self.providers,
            tasks=tasks,
            owner_name=settings.owner_name,
            version=__version__,
        )
        self.interrupted = 0
        if self.store.health.writable:
            self.interrupted = self.hub.recover()
            rewinds.recover()

    def begin(self) -> None:
        """The loop runs: go on with what an earlier server began. Twice is once."""
        self.hub.begin()
        self.queue.begin()
        if self.store.health.writable:
            self._trash.empty()

    async def close(self) -> None:
        """Clean stop: runs end as interrupted, agents by their ladder, the store is flushed.

        With the policy `reattach` both go on instead, for the next server. In reverse order of
        their making, each step whatever became of the others.
        """
        await self._closing.aclose()

    async def _stop_runs(self) -> None:
        leaves = self._leaves and self.spool is not None
        await self.hub.close(leave=leaves)
        if leaves and self.spool is not None:
            await self.spool.leave()

    async def _end_leftovers(self, spare: frozenset[str]) -> None:
        """End the children of servers that are gone, but for those that are gone on with."""
        await reap(self._ledger.sparing(spare))
        if self.spool is not None:
            for child_id in set(self.spool.stale()) - spare:
                await self.spool.discard(child_id)

    def _spool(self, settings: Settings) -> SpoolLauncher | None:
        """What starts agents that outlive this server; None where they end with it."""
        if settings.restart_policy == "stop":
            return None
        root = settings.data_dir / "spool"
        refusal = spool_supported(root)
        if refusal is not None:
            log.warning("%s Runs end with the server.", refusal)
            return None
        return SpoolLauncher(
            root,
            ledger=self._ledger,
            unattended_max_s=settings.unattended_max_s,
        )

    @staticmethod
    def _policies(settings: Settings) -> Policies:
        data_dir = settings.data_dir
        return Policies(
            server_root=settings.server_root,
            loose_root=data_dir.with_name(data_dir.name + "-loose"),
            default_provider=settings.default_provider,
            allowed_providers=settings.allowed_providers,
            allowed_models=settings.allowed_models,
            allowed_modes=settings.allowed_modes,
            max_permission=settings.max_permission,
            loose_chats=settings.loose_chats,
            allow_token_approvals=settings.allow_token_approvals,
            transcript_limit=settings.transcript_limit,
        )

    async def _host_unasked(self, provider: str, chat_id: str, begin: Begin) -> bool:
        return await self._unasked.host(provider, chat_id, begin)

    def _providers_changed(self, providers: list[Provider]) -> None:
        text = ProvidersFrame(providers=providers).model_dump_json()
        self.hub.broadcast(lambda _username: text)
        self.queue.wake_held()
