"""AgentChatApp: the admin's settings as traits, and the one place that builds and wires objects."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

from jupyter_core.paths import jupyter_data_dir
from jupyter_server._tz import utcnow
from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Dict, Enum, Float, Int, List, Unicode, Union, default

from ._version import __version__
from .chats.policies import Policies
from .chats.projects import Projects
from .chats.prompts import Prompts
from .chats.service import ChatService
from .chats.trust import TrustKeeper
from .handlers.base import Services
from .handlers.routes import routes
from .process.local import LocalLauncher
from .process.reaper import reap
from .process.tasks import TaskOwner
from .protocol.frames import ProvidersFrame
from .protocol.resources import Provider
from .protocol.words import PERMISSIONS, Mode
from .providers.registry import ProviderRegistry
from .runs.hooks import HubHooks
from .runs.hub import Hub
from .runs.ledger import StoreLedger
from .store.base import Store
from .store.sqlite import JournalChoice, open_store

ACTIVITY_S = 30.0


class AgentChatApp(ExtensionApp):
    """Chats with coding agents. Every setting is a trait: config file or command line."""

    name = "jupyter_agentchat"
    app_name = "Agent chat"
    description = "Chats with coding agents inside Jupyter, durable on the server."
    load_other_extensions = True
    file_url_prefix = "/render"
    extension_url = "/lab"

    data_dir = Unicode(
        help="Where chats are stored, 0700. One store per folder. Loose chats work beside it, in "
        "{data_dir}-loose."
    ).tag(config=True)
    provider_settings = Dict(
        help="Per agent: {id: {enabled, command: [...], env: {...}, pass_env: [names], models, "
        "default_model}}. `command` replaces the look-up of its program; `env` is added to the "
        "clean environment of the agent."
    ).tag(config=True)
    default_provider = Unicode("", help="Agent of new chats; empty: the first that is ready.").tag(
        config=True
    )
    allowed_providers = List(
        Unicode(), None, allow_none=True, help="Agents that may be used; None: all."
    ).tag(config=True)
    allowed_models = List(
        Unicode(), None, allow_none=True, help="Models that may be chosen; None: all."
    ).tag(config=True)
    allowed_modes = List(
        Unicode(), None, allow_none=True, help="Modes that may be chosen; None: all."
    ).tag(config=True)
    max_permission = Enum(
        PERMISSIONS, "full", help="The most that anybody may let an agent do without asking."
    ).tag(config=True)
    max_concurrent_runs = Int(
        help="Runs at the same time; more wait, and say so. Default: 4 + cores, less by MEM_LIMIT."
    ).tag(config=True)
    idle_process_timeout = Float(
        600.0, help="Seconds that an agent's process is kept between runs."
    ).tag(config=True)
    loose_chats = Union(
        [Bool(), Enum(["auto"])],
        default_value="auto",
        help="Chats without a project. auto: on, but off under a Hub, where more than one person "
        "can reach the server.",
    ).tag(config=True)
    trusted_workspaces = Union(
        [Enum(["ask", "always", "never"]), List(Unicode())],
        default_value="ask",
        help="Whether agents load a project's own hooks, MCP servers and settings: ask each person "
        "once, always, never, or a list of folders (those trusted, all others not).",
    ).tag(config=True)
    allow_token_approvals = Bool(
        False, help="Let bearer tokens answer asks, raise permissions and trust projects."
    ).tag(config=True)
    journal_mode = Enum(
        ["auto", "wal", "delete"], "auto", help="SQLite's journal; auto: delete on network disks."
    ).tag(config=True)
    transcript_limit = Int(
        24_576, help="Bytes of earlier conversation handed to an agent that does not know it."
    ).tag(config=True)
    owner_name = Unicode("You", help="Name of the one person of a server without a Hub.").tag(
        config=True
    )

    @default("config_file_name")
    def _default_config_file_name(self) -> str:
        # Jupyter's own default puts "jupyter_" before the name, which begins with it already
        return f"{self.name}_config"

    @default("data_dir")
    def _default_data_dir(self) -> str:
        return str(Path(jupyter_data_dir()) / "agentchat")

    @default("max_concurrent_runs")
    def _default_max_concurrent_runs(self) -> int:
        runs = 4 + (os.cpu_count() or 1)
        limit = os.environ.get("MEM_LIMIT", "")
        if limit.isdigit():
            # an agent's process takes about 200 MB
            runs = min(runs, max(1, int(limit) // 400_000_000))
        return runs

    _closing: AsyncExitStack | None = None
    _loaded = False

    # ---- life -------------------------------------------------------------------------------

    def initialize_settings(self) -> None:
        """Open the store and wire everything. Starts no process, no task, no probe."""
        if sys.platform == "win32":
            raise RuntimeError("jupyter_agentchat does not run on Windows: use WSL.")
        began = time.monotonic()
        if self.serverapp is None:
            raise RuntimeError("jupyter_agentchat is an extension: it needs a Jupyter server.")
        root = Path(self.serverapp.root_dir).expanduser().resolve()
        # an empty setting means the default, never the folder the server happens to start in
        data_dir = Path(self.data_dir or self._default_data_dir()).expanduser()
        closing = self._closing = AsyncExitStack()
        self._scratch = tempfile.TemporaryDirectory(prefix="agentchat-", ignore_cleanup_errors=True)
        closing.callback(self._scratch.cleanup)
        self.store: Store = open_store(
            data_dir, cast("JournalChoice", self.journal_mode), served_root=root
        )
        closing.callback(self.store.close)
        policies = self._policies(root, data_dir)
        self._tasks = TaskOwner("extension")
        closing.push_async_callback(self._tasks.close)
        self.launcher = LocalLauncher(ledger=StoreLedger(self.store))
        closing.push_async_callback(self.launcher.close)
        self.providers = ProviderRegistry(
            launcher=self.launcher,
            environment=dict(os.environ),
            settings=self.provider_settings,
            allowed=self.allowed_providers,
            scratch=Path(self._scratch.name),
            idle_timeout_s=self.idle_process_timeout,
            on_probed=self._providers_changed,
        )
        closing.push_async_callback(self.providers.close)
        ledger = StoreLedger(self.store)
        self.hub = Hub(
            self.store,
            self.providers.adapter,
            max_runs=self.max_concurrent_runs,
            reap=lambda: reap(ledger),
        )
        closing.push_async_callback(self.hub.close)
        projects = Projects(self.store, policies)
        chats = ChatService(self.store, self.hub, policies, projects, self.providers)
        trust = TrustKeeper(self.store, self.providers, self.trusted_workspaces)
        self.hub.connect(
            HubHooks(chats.announce, chats.on_session, chats.on_finished, self._note_activity)
        )
        self.services = Services(
            store=self.store,
            hub=self.hub,
            chats=chats,
            prompts=Prompts(self.store, self.hub, chats, policies, trust),
            trust=trust,
            policies=policies,
            providers=self.providers,
            tasks=self._tasks,
            owner_name=self.owner_name,
            version=__version__,
        )
        closed = self.hub.recover() if self.store.health.writable else 0
        if self.store.health.notice:
            self.log.warning("agentchat: %s", self.store.health.notice)
        if closed:
            self.log.info("agentchat: %d interrupted runs were closed", closed)
        self._loaded = True
        self.log.debug("agentchat loaded in %.0f ms", (time.monotonic() - began) * 1000)

    def initialize_handlers(self) -> None:
        """The addresses; see handlers/routes.py."""
        self.handlers.extend(routes(self.services))

    async def _start_jupyter_server_extension(self, serverapp: Any) -> None:
        """The loop runs: end what an earlier server left behind."""
        if self._loaded:  # Jupyter calls this even when loading has failed
            self.hub.begin()

    async def stop_extension(self) -> None:
        """Clean stop: runs end as interrupted, agents by their ladder, the store is flushed.

        In reverse order of their making, each step whatever became of the others. What failed to
        load stops as far as it came: an error here would keep the whole server from stopping.
        """
        if self._closing is not None:
            await self._closing.aclose()

    # ---- inside -----------------------------------------------------------------------------

    def _policies(self, root: Path, data_dir: Path) -> Policies:
        loose = self.loose_chats
        if loose == "auto":
            loose = "JUPYTERHUB_USER" not in os.environ
        return Policies(
            server_root=root,
            loose_root=data_dir.with_name(data_dir.name + "-loose"),
            default_provider=self.default_provider or None,
            allowed_providers=self.allowed_providers,
            allowed_models=self.allowed_models,
            allowed_modes=cast("list[Mode] | None", self.allowed_modes),
            max_permission=self.max_permission,
            loose_chats=bool(loose),
            allow_token_approvals=self.allow_token_approvals,
            transcript_limit=self.transcript_limit,
        )

    def _providers_changed(self, providers: list[Provider]) -> None:
        text = ProvidersFrame(providers=providers).model_dump_json()
        self.hub.broadcast(lambda _username: text)

    def _note_activity(self) -> None:
        """A run that makes progress keeps the server from being culled as idle."""
        if self.serverapp is None or "last_activity_times" not in self.serverapp.web_app.settings:
            return
        times = self.serverapp.web_app.settings["last_activity_times"]
        at = utcnow()
        last = times.get("agentchat")
        if last is None or (at - last).total_seconds() > ACTIVITY_S:
            times["agentchat"] = at
