"""Which agents there are: found by entry point or by settings, imported on first use, probed late.

Importing this module imports no adapter. Nothing is started before somebody asks: `list` answers
from memory at once, `probe_all` looks at one agent after the other in the background.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import cast

from ..errors import AgentChatError, Forbidden, NotFound, ProviderError
from ..process.environment import clean_search_path
from ..process.launcher import Launcher
from ..process.tasks import TaskOwner
from ..protocol.resources import Provider
from .base import Adapter, AdapterContext, AdapterFactory, Begin
from .settings import ProviderSettings, parse_named

_log = logging.getLogger(__name__)

GROUP = "jupyter_agentchat.providers"
PRESETS = "jupyter_agentchat.presets"
"""Agents that are shown where a program of their name lies on PATH."""
KINDS = frozenset({"native", "acp"})
"""What an admin can add by settings alone."""
PROBE_DEADLINE_S = 5.0
CLEAN_S = 24 * 3600.0
WARNED_S = 2 * 3600.0

# the order in which people meet them, and in which the default is looked for; others come behind,
# by name, and the tour last
_ORDER = ("claude", "codex", "opencode", "kimi", "minimax")
_NAMES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "minimax": "MiniMax",
    "opencode": "opencode",
    "kimi": "Kimi Code",
    "antigravity": "Antigravity",
}


async def _nobody_begins(_provider: str, _chat_id: str, _begin: Begin) -> bool:
    return False


def _place(name: str) -> tuple[int, str]:
    if name == "tour":
        return len(_ORDER) + 1, name
    return _ORDER.index(name) if name in _ORDER else len(_ORDER), name


# what somebody else's package may raise while it is imported and set up
_BROKEN = (
    *(ImportError, SyntaxError, AttributeError, LookupError, TypeError, ValueError),
    *(OSError, RuntimeError, AgentChatError),
)


class ProviderRegistry:
    """Owns the adapters of one server. `on_probed` is called with the list after every probe.

    `settings` is the admin's trait as it is: `{provider id: {enabled, command, ..., kind}}`;
    `allowed` are the ids that may be used, None for all. Used on one loop.
    """

    def __init__(
        self,
        *,
        launcher: Launcher,
        environment: Mapping[str, str],
        scratch: Path,
        settings: Mapping[str, Mapping[str, object]] | None = None,
        allowed: Iterable[str] | None = None,
        idle_timeout_s: float = 600.0,
        probe_launcher: Launcher | None = None,
        on_probed: Callable[[list[Provider]], None] | None = None,
        begin_unasked: Callable[[str, str, Begin], Awaitable[bool]] = _nobody_begins,
        secret_of: Callable[[str], str] | None = None,
        found: Iterable[EntryPoint] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._launcher = launcher
        self._probe_launcher = probe_launcher
        self._environment = environment
        self._scratch = scratch
        self._settings = {name: parse_named(name, raw) for name, raw in (settings or {}).items()}
        self._allowed = None if allowed is None else frozenset(allowed)
        self._idle_timeout_s = idle_timeout_s
        self._on_probed = on_probed
        self._begin_unasked = begin_unasked
        self._secret_of = secret_of
        self._clock = clock
        points = entry_points(group=GROUP) if found is None else found
        self._points = {point.name: point for point in points}
        self._configured = frozenset(
            name for name, own in self._settings.items() if own.extra.get("kind") in KINDS
        )
        if found is None:
            for point in entry_points(group=PRESETS):
                if point.name in self._settings or self._is_on_path(point.name):
                    self._points.setdefault(point.name, point)
        for name in self._settings.keys() - set(self.ids):
            _log.warning("provider_settings: there is no agent %r here; ignored", name)
        self._adapters: dict[str, Adapter] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._probed: dict[str, tuple[Provider, float]] = {}
        self._wanted: dict[str, None] = {}
        self._probing: asyncio.Task[None] | None = None
        self._tasks = TaskOwner("providers")

    @property
    def ids(self) -> list[str]:
        """Every provider known here: ours, then others by name, the tour last."""
        return sorted({*self._points, *self._configured}, key=_place)

    def name_of(self, provider_id: str) -> str:
        """The agent's name for people; the id of one that is not known here."""
        return self._known(provider_id).name if provider_id in self.ids else provider_id

    def list(self) -> list[Provider]:
        """What is known now, at once; `state` is `probing` where nothing is known yet."""
        return [self._known(name) for name in self.ids]

    def probe_all(self, *, refresh: bool = False) -> asyncio.Task[None] | None:
        """Begin to probe what is unknown or known too long ago (`refresh`: everything).

        One probe at a time, and one flight of them: a call during it adds to it. Returns the task
        of the flight, to wait for if one likes; None when there is nothing to do.
        """
        for name in self.ids:
            if not self._refusal(name) and (refresh or not self._is_fresh(name)):
                self._wanted[name] = None
        if self._wanted and (self._probing is None or self._probing.done()):
            self._probing = self._tasks.spawn(self._probe_wanted(), name="probe")
        return None if self._probing is None or self._probing.done() else self._probing

    async def provider(self, provider_id: str, *, timeout_s: float = PROBE_DEADLINE_S) -> Provider:
        """One provider; one that was not probed yet is, and waited for `timeout_s` at most.

        Raises NotFound.
        """
        if provider_id not in self.ids:
            raise NotFound(f"There is no agent {provider_id!r} here.", provider=provider_id)
        if self._refusal(provider_id) is None and provider_id not in self._probed:
            # whoever waits for one does not wait for the others
            self._wanted = {provider_id: None, **self._wanted}
            flight = self.probe_all()
            end = time.monotonic() + timeout_s
            while flight and not flight.done() and provider_id not in self._probed:
                if (left := end - time.monotonic()) <= 0:
                    break
                await asyncio.wait({flight}, timeout=min(left, 0.05))
        return self._known(provider_id)

    async def adapter(self, provider_id: str) -> Adapter:
        """The adapter, imported and made on first use.

        Raises NotFound, Forbidden when the admin's settings exclude it, ProviderError when it
        cannot be loaded.
        """
        if provider_id not in self.ids:
            raise NotFound(f"There is no agent {provider_id!r} here.", provider=provider_id)
        if refusal := self._refusal(provider_id):
            raise Forbidden(refusal, provider=provider_id)
        async with self._locks.setdefault(provider_id, asyncio.Lock()):
            if provider_id not in self._adapters:
                self._adapters[provider_id] = await self._make(provider_id)
            return self._adapters[provider_id]

    async def close_chat(self, chat_id: str) -> None:
        """End what any adapter keeps warm for a chat."""
        await asyncio.gather(*(one.close_chat(chat_id) for one in list(self._adapters.values())))

    async def close(self) -> None:
        """Stop probing and close every adapter. Nothing can be used afterwards."""
        await self._tasks.close()
        await asyncio.gather(*(one.close() for one in list(self._adapters.values())))

    async def _make(self, name: str) -> Adapter:
        settings = self._settings.get(name, ProviderSettings())
        scratch = self._scratch / name
        try:
            factory = await asyncio.to_thread(self._load, name)
            scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
            context = AdapterContext(
                launcher=self._launcher,
                environment=self._environment,
                settings=settings,
                scratch=scratch,
                idle_timeout_s=self._idle_timeout_s,
                probe_launcher=self._probe_launcher,
                begin_unasked=partial(self._begin_unasked, name),
            )
            if self._secret_of is not None:
                context = replace(context, secret_of=self._secret_of)
            return factory(context)
        except _BROKEN as error:
            _log.exception("provider=%s cannot be loaded", name)
            raise ProviderError(
                f"The adapter for {name} cannot be loaded: {error}.",
                hint="See the server's log; reinstall or remove the package it comes from.",
            ) from error

    def _load(self, name: str) -> AdapterFactory:
        if name not in self._configured:
            return cast(AdapterFactory, self._points[name].load())
        settings = self._settings[name]
        if settings.extra["kind"] == "acp":
            from .acp.adapter import AcpAdapter
            from .acp.agents import configured_agent as configured_acp

            acp = configured_acp(name, settings)
            return lambda context: AcpAdapter(context, acp)
        from .native.adapter import NativeAdapter
        from .native.launch import configured_agent

        agent = configured_agent(name, settings)
        return lambda context: NativeAdapter(context, agent)

    def _is_on_path(self, program: str) -> bool:
        path = clean_search_path(self._environment.get("PATH", ""))
        return shutil.which(program, path=path) is not None

    async def _probe_wanted(self) -> None:
        while self._wanted:
            name = next(iter(self._wanted))
            del self._wanted[name]
            self._probed[name] = (await self._probe(name), self._clock())
            if self._on_probed:
                self._on_probed(self.list())

    async def _probe(self, name: str) -> Provider:
        try:
            async with asyncio.timeout(PROBE_DEADLINE_S):
                return await (await self.adapter(name)).probe()
        except TimeoutError:
            reason = f"It did not answer within {PROBE_DEADLINE_S:.0f} s."
        except ProviderError as error:
            reason = error.message
        except _BROKEN as error:
            _log.exception("provider=%s: its probe failed", name)
            reason = f"Its probe failed: {error}."
        return self._blank(name).model_copy(update={"state": "error", "reason": reason})

    def _known(self, name: str) -> Provider:
        if refusal := self._refusal(name):
            return self._blank(name).model_copy(
                update={"state": "refused_by_policy", "reason": refusal}
            )
        return self._probed[name][0] if name in self._probed else self._blank(name)

    def _blank(self, name: str) -> Provider:
        adapter = self._adapters.get(name)
        return Provider(id=name, name=adapter.name if adapter else _NAMES.get(name, name.title()))

    def _refusal(self, name: str) -> str | None:
        if not self._settings.get(name, ProviderSettings()).enabled:
            return "The administrator has switched this agent off."
        if self._allowed is not None and name not in self._allowed:
            return "The administrator does not allow this agent."
        return None

    def _is_fresh(self, name: str) -> bool:
        if name not in self._probed:
            return False
        provider, then = self._probed[name]
        clean = provider.state == "ready" and provider.reason is None
        return self._clock() - then < (CLEAN_S if clean else WARNED_S)
