"""The adapter for Antigravity: its program `agy`, started for each turn."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from ...errors import ChildGone, NotInstalled
from ...process.environment import clean_search_path
from ...process.executable import find_executable
from ...process.launcher import Handle, Spawn
from ...process.tasks import TaskOwner
from ...protocol.resources import ProjectLoad, Provider, RunRequest
from ..base import AdapterContext, ChildMark, RunContext, Scope
from .launch import (
    NAME,
    PROVIDER,
    arguments,
    environment,
    project_loads,
    prompt_line,
    refuse_untrusted,
)
from .probe import INSTALL_HINT, missing_provider, probe_program
from .run import FORCED, LADDER, AntigravityRun

SILENCE_S: Final = 600.0
_USUAL_PLACES: Final = (".local/bin/agy", ".antigravity/bin/agy")


@runtime_checkable
class Attaching(Protocol):
    """A launcher whose children outlive their server."""

    async def attach(self, child_id: str, *, offset: int = 0) -> Handle:
        """A child of an earlier server, its output from `offset` on. Raises ChildGone."""
        ...


class AntigravityAdapter:
    """Implements `base.Adapter`. Nothing is kept warm: the conversation lives in its files."""

    id = PROVIDER
    name = NAME
    scope = Scope.CHAT
    rewinder = None
    forker = None

    def __init__(self, context: AdapterContext, *, silence_s: float = SILENCE_S) -> None:
        self._context = context
        self._silence_s = silence_s
        self._environment = environment(context.environment, context.settings)
        self._handles: dict[str, Handle] = {}
        self._tasks = TaskOwner(PROVIDER)

    async def probe(self) -> Provider:
        """See `base.Adapter.probe`."""
        try:
            command = await asyncio.to_thread(self._program)
        except NotInstalled as error:
            return missing_provider(error)
        found = await probe_program(
            command, self._context.for_probes, self._environment, self._context.scratch
        )
        reattach = isinstance(self._context.launcher, Attaching)
        features = found.features.model_copy(update={"reattach": reattach})
        return found.model_copy(update={"features": features})

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `base.Adapter.loads`."""
        return project_loads(directory, top)

    async def start(self, request: RunRequest, context: RunContext) -> AntigravityRun:
        """See `base.Adapter.start`."""
        cwd = Path(request.cwd)
        if not context.trusted:
            await asyncio.to_thread(refuse_untrusted, cwd)
        command = await asyncio.to_thread(self._program, cwd)
        argv = [*command, *arguments(request, self._context.settings)]
        child_id = f"agy-{uuid.uuid4().hex}"
        handle = await self._context.launcher.spawn(Spawn(argv, cwd, self._environment, child_id))
        self._handles[request.chat_id] = handle
        try:
            await context.on_child(ChildMark(handle.child_id, handle.position))
            await handle.write(prompt_line(request))
            handle.close_stdin()  # one turn: it ends when it has answered
        except BaseException:
            await asyncio.shield(self._tasks.spawn(handle.stop(FORCED), name="abandon"))
            raise
        return self._run(request, handle)

    async def attach(
        self, request: RunRequest, context: RunContext, mark: ChildMark
    ) -> AntigravityRun:
        """See `base.Adapter.attach`. Whether a prompt has arrived of which nothing came cannot be
        known, and it is never sent twice: the watch on silence ends such a turn."""
        launcher = self._context.launcher
        if not isinstance(launcher, Attaching):
            raise ChildGone("Agents end with their server here.")
        handle = await launcher.attach(mark.child_id, offset=mark.first)
        handle.close_stdin()
        self._handles[request.chat_id] = handle
        return self._run(request, handle)

    async def close_chat(self, chat_id: str) -> None:
        """See `base.Adapter.close_chat`."""
        handle = self._handles.pop(chat_id, None)
        if handle is not None:
            await handle.stop(LADDER)

    async def close(self) -> None:
        """See `base.Adapter.close`."""
        await asyncio.gather(*(self.close_chat(chat_id) for chat_id in list(self._handles)))
        await self._tasks.close()

    def _run(self, request: RunRequest, handle: Handle) -> AntigravityRun:
        def on_end(ended: Handle) -> None:
            if self._handles.get(request.chat_id) is ended:
                del self._handles[request.chat_id]

        return AntigravityRun(handle, request, silence_s=self._silence_s, on_end=on_end)

    def _program(self, not_below: Path | None = None) -> tuple[str, ...]:
        """An admin's command, PATH, the usual places; nothing below the project. Raises
        NotInstalled."""
        source, settings = self._context.environment, self._context.settings
        path = clean_search_path(source.get("PATH", ""))
        home = Path(source["HOME"]) if source.get("HOME") else None
        if settings.command:
            return (str(find_executable(settings.command[0], path)), *settings.command[1:])
        names = ["agy", *(str(home / place) for place in _USUAL_PLACES if home)]
        projects = [not_below] if not_below else []
        for name in names:
            try:
                return (str(find_executable(name, path, not_below=projects, home=home)),)
            except NotInstalled:
                continue
        raise NotInstalled(f"{NAME} is not installed.", hint=INSTALL_HINT)
