"""Assembly: every object of a running extension, built and wired in one place.

Built by the first request, or while the server starts when an earlier one left work
(`store/attention.py`): a server that nobody chats on pays for neither the imports nor the store.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ._version import __version__
from .chats.policies import Policies
from .chats.projects import Projects
from .chats.prompts import Prompts
from .chats.service import ChatService
from .chats.trust import TrustKeeper
from .handlers.base import Services
from .process.local import LocalLauncher
from .process.reaper import reap
from .process.tasks import TaskOwner
from .protocol.frames import ProvidersFrame
from .protocol.resources import Provider
from .protocol.words import Mode, Permission
from .providers.registry import ProviderRegistry
from .runs.hooks import HubHooks
from .runs.hub import Hub
from .runs.ledger import StoreLedger
from .store.sqlite import JournalChoice, open_store


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
    loose_chats: bool
    trusted_workspaces: Literal["ask", "always", "never"] | list[str]
    allow_token_approvals: bool
    journal_mode: JournalChoice
    transcript_limit: int
    owner_name: str


class Assembly:
    """See the module. Starts no process, no task and no probe until `begin`."""

    def __init__(self, settings: Settings, note_activity: Callable[[], None]) -> None:
        """Opens the store and closes the runs that an earlier server left open.

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
        ledger = StoreLedger(self.store)
        self.launcher = LocalLauncher(ledger=ledger)
        closing.push_async_callback(self.launcher.close)
        self.providers = ProviderRegistry(
            launcher=self.launcher,
            environment=dict(os.environ),
            settings=settings.provider_settings,
            allowed=settings.allowed_providers,
            scratch=Path(scratch.name),
            idle_timeout_s=settings.idle_process_timeout_s,
            on_probed=self._providers_changed,
        )
        closing.push_async_callback(self.providers.close)
        self.hub = Hub(
            self.store,
            self.providers.adapter,
            max_runs=settings.max_concurrent_runs,
            reap=lambda: reap(ledger),
        )
        closing.push_async_callback(self.hub.close)
        policies = self._policies(settings)
        projects = Projects(self.store, policies)
        chats = ChatService(self.store, self.hub, policies, projects, self.providers)
        trust = TrustKeeper(self.store, self.providers, settings.trusted_workspaces)
        self.hub.connect(
            HubHooks(chats.announce, chats.on_session, chats.on_finished, note_activity)
        )
        self.services = Services(
            store=self.store,
            hub=self.hub,
            chats=chats,
            prompts=Prompts(self.store, self.hub, chats, policies, trust),
            trust=trust,
            policies=policies,
            providers=self.providers,
            tasks=tasks,
            owner_name=settings.owner_name,
            version=__version__,
        )
        self.interrupted = self.hub.recover() if self.store.health.writable else 0

    def begin(self) -> None:
        """The loop runs: end what an earlier server left behind. Twice is once."""
        self.hub.begin()

    async def close(self) -> None:
        """Clean stop: runs end as interrupted, agents by their ladder, the store is flushed.

        In reverse order of their making, each step whatever became of the others.
        """
        await self._closing.aclose()

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

    def _providers_changed(self, providers: list[Provider]) -> None:
        text = ProvidersFrame(providers=providers).model_dump_json()
        self.hub.broadcast(lambda _username: text)
