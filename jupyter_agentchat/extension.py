"""AgentChatApp: the admin's settings as traits, and the life of the extension in its server."""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jupyter_core.paths import jupyter_data_dir
from jupyter_server._tz import utcnow
from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Dict, Enum, Float, Int, List, Unicode, Union, default

from .handlers.routes import routes
from .protocol.words import PERMISSIONS
from .providers.settings import parse_named
from .store.attention import needs_attention

if TYPE_CHECKING:
    # what stands behind the first request is imported by it (see `assembly`)
    from .assembly import Assembly, RestartPolicy, Settings
    from .chats.queue import AfterCrash
    from .handlers.base import Services
    from .protocol.words import Mode
    from .runs.hub import Hub
    from .store.base import Store
    from .store.sqlite import JournalChoice

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
    queue_after_crash = Enum(
        ["wait", "run"],
        "wait",
        help="What prompts do that waited in a queue when the server went down: wait for a person, "
        "or run when it is back.",
    ).tag(config=True)
    idle_process_timeout = Float(
        600.0, help="Seconds that an agent's process is kept between runs."
    ).tag(config=True)
    restart_policy = Enum(
        ["crash", "reattach", "stop"],
        "crash",
        help="What becomes of running agents when the server goes. crash: they survive a crash and "
        "the next server goes on with them; a clean stop ends them. reattach: they survive a clean "
        "stop too. stop: they end with the server. Linux; elsewhere always stop.",
    ).tag(config=True)
    unattended_max = Float(
        3600.0, help="Seconds that an agent may go on without any server, before it is ended."
    ).tag(config=True)
    keep_alive_max = Float(
        43_200.0,
        help="Seconds for which one run keeps the server from being culled as idle. A run that "
        "waits for a person, or has said nothing for half an hour, does not.",
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
    trash_days = Float(
        7.0, help="Days that a deleted chat can be brought back; then it is removed for good."
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

    _assembly: Assembly | None = None
    _noted = float("-inf")
    """When a run last made progress, as told to the culler; by its clock, which may jump."""
    _loop_runs = False
    _stopped = False

    # ---- life -------------------------------------------------------------------------------

    def initialize_settings(self) -> None:
        """Check the settings and look whether an earlier server left work.

        Starts no process, no task, no probe. Raises ValueError for a wrong setting.
        """
        if sys.platform == "win32":
            raise RuntimeError("jupyter_agentchat does not run on Windows: use WSL.")
        began = time.monotonic()
        for name, raw in self.provider_settings.items():
            parse_named(name, raw)  # a wrong setting is said at the start
        if needs_attention(self._data_dir(), self._root()):
            self.assemble()
        self.log.debug("agentchat loaded in %.0f ms", (time.monotonic() - began) * 1000)

    def initialize_handlers(self) -> None:
        """The addresses; see handlers/routes.py."""
        self.handlers.extend(routes(lambda: self.assemble().services))

    async def _start_jupyter_server_extension(self, serverapp: Any) -> None:
        """The loop runs: end what an earlier server left behind."""
        self._loop_runs = True
        if self._assembly is not None:  # Jupyter calls this even when loading has failed
            self._assembly.begin()

    async def stop_extension(self) -> None:
        """Clean stop; see `Assembly.close`. A start that failed left nothing to stop."""
        self._stopped = True
        if self._assembly is not None:
            await self._assembly.close()

    def assemble(self) -> Assembly:
        """Everything behind the addresses: built at the first call, kept ever after.

        Takes some 100 ms once, on the loop. Raises RuntimeError when the extension has stopped.
        """
        if self._assembly is None:
            if self._stopped:
                raise RuntimeError("agent chat has stopped")
            from .assembly import Assembly

            assembly = Assembly(self._settings(), self._note_activity)
            health = assembly.store.health
            if health.notice:
                self.log.warning("agentchat: %s", health.notice)
            if assembly.interrupted:
                self.log.info("agentchat: %d interrupted runs were closed", assembly.interrupted)
            self._assembly = assembly
            if self._loop_runs:
                assembly.begin()
        return self._assembly

    @property
    def services(self) -> Services:
        return self.assemble().services

    @property
    def store(self) -> Store:
        return self.assemble().store

    @property
    def hub(self) -> Hub:
        return self.assemble().hub

    # ---- inside -----------------------------------------------------------------------------

    def _root(self) -> Path:
        if self.serverapp is None:
            raise RuntimeError("jupyter_agentchat is an extension: it needs a Jupyter server.")
        return Path(self.serverapp.root_dir).expanduser().resolve()

    def _data_dir(self) -> Path:
        # an empty setting means the default, never the folder the server happens to start in
        return Path(self.data_dir or self._default_data_dir()).expanduser()

    def _settings(self) -> Settings:
        from .assembly import Settings

        loose = self.loose_chats
        if loose == "auto":
            loose = "JUPYTERHUB_USER" not in os.environ
        return Settings(
            server_root=self._root(),
            data_dir=self._data_dir(),
            provider_settings=self.provider_settings,
            default_provider=self.default_provider or None,
            allowed_providers=self.allowed_providers,
            allowed_models=self.allowed_models,
            allowed_modes=cast("list[Mode] | None", self.allowed_modes),
            max_permission=self.max_permission,
            max_concurrent_runs=self.max_concurrent_runs,
            idle_process_timeout_s=self.idle_process_timeout,
            queue_after_crash=cast("AfterCrash", self.queue_after_crash),
            restart_policy=cast("RestartPolicy", self.restart_policy),
            unattended_max_s=self.unattended_max,
            keep_alive_max_s=self.keep_alive_max,
            loose_chats=bool(loose),
            trusted_workspaces=self.trusted_workspaces,
            allow_token_approvals=self.allow_token_approvals,
            journal_mode=cast("JournalChoice", self.journal_mode),
            trash_days=self.trash_days,
            transcript_limit=self.transcript_limit,
            owner_name=self.owner_name,
        )

    def _note_activity(self) -> None:
        """A run that makes progress keeps the server from being culled as idle."""
        now = time.time()
        if abs(now - self._noted) < ACTIVITY_S:
            return
        if self._noted == float("-inf"):
            # what a run needs is loaded now, for good: some 200,000 objects, over which each full
            # collection would go again, and keep the loop for 100 ms
            gc.freeze()
        self._noted = now
        if self.serverapp is None or "last_activity_times" not in self.serverapp.web_app.settings:
            return
        times = self.serverapp.web_app.settings["last_activity_times"]
        times["agentchat"] = utcnow()
