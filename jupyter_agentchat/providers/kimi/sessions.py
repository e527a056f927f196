"""Opens the conversation that a run is about: begun, resumed or forked, set to what the run wants.

Also passes on the person's decision on the project: Kimi Code starts a project's MCP servers only
in folders that it was told to trust, and keeps that by itself.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

from ...errors import ChildGone, SessionRejected
from ...protocol.resources import RunRequest
from .api import NO_SESSION, KimiApi, KimiRefused
from .launch import RUN_KEY, SessionConfig
from .link import KimiLink
from .loads import has_gated
from .wire import objects_of, text_of, true_at

_BUSY: Final = 40901
_log = logging.getLogger(__name__)


async def open_session(
    link: KimiLink, request: RunRequest, config: SessionConfig, *, trusted: bool
) -> str:
    """The id of the session, ready for the prompt.

    Raises SessionRejected when the conversation is not known any more, or cannot be forked now.
    """
    api, origin = link.api, request.provider_session_id
    try:
        gated = await follow_trust(api, Path(request.cwd), trusted=trusted)
        if origin is None:
            session_id, _ = await api.create(request.cwd)
        elif request.fork:
            data = await api.on_session(origin, "POST", ":fork", {})
            session_id = text_of(data, "id")
        else:
            session_id = origin
            if gated and link.loaded.get(origin, trusted if link.fresh else None) is not trusted:
                session_id = await _copied(link, origin)
        link.loaded[session_id] = trusted
        if session_id != origin or link.settled.get(session_id) != config.lasting:
            await api.on_session(session_id, "POST", "/profile", config.profile(request.run_id))
            link.settled[session_id] = config.lasting
    except KimiRefused as refused:
        if origin is not None and refused.kimi_code in (NO_SESSION, _BUSY):
            raise SessionRejected(
                "Kimi Code does not know this conversation any more.",
                provider_session_id=origin,
                reason=refused.message,
            ) from refused
        raise
    return session_id


async def _copied(link: KimiLink, session_id: str) -> str:
    """What trust has let into a loaded session stays in it: go on in a copy, and close the old one
    (opened again in the same process, it would not be told of any more; measured)."""
    data = await link.api.on_session(session_id, "POST", ":fork", {})
    await link.forget(session_id)
    await link.api.on_session(session_id, "POST", ":archive", {})
    return text_of(data, "id")


async def find_session(api: KimiApi, request: RunRequest) -> str:
    """The session of a run that an earlier server began. Raises ChildGone.

    A new one, a fork and a copy have an id that only the earlier server knew; each is marked with
    its run.
    """
    try:
        found = await api.session_of_run(RUN_KEY, request.run_id)
        if found is None and not request.fork:
            found = request.provider_session_id
        if found is not None:
            await api.on_session(found, "GET", "/status")  # loads it
            return found
    except KimiRefused as refused:
        raise ChildGone("Kimi Code does not know the conversation of this run.") from refused
    raise ChildGone("The conversation of this run was not found.")


async def follow_trust(api: KimiApi, directory: Path, *, trusted: bool) -> bool:
    """Make Kimi Code's trust in the folder the person's; whether that makes a difference there.

    It is given, and taken back, only where it lets something in. Raises ProviderError when it
    cannot be taken back: the run must not begin then.
    """
    if not await asyncio.to_thread(has_gated, directory):
        return False
    workspace = await _workspace(api, directory)
    if workspace is None:
        workspace = text_of(await api.call("POST", "/workspaces", {"root": str(directory)}), "id")
    state = await api.call("GET", f"/workspaces/{workspace}/trust")
    now = true_at(state, "trusted")
    if now and not trusted:
        await api.call("POST", f"/workspaces/{workspace}/untrust")
        _log.info("workspace=%s: Kimi Code's trust in it was taken back", workspace)
    elif trusted and not now:
        await api.call("POST", f"/workspaces/{workspace}/trust")
    return True


async def _workspace(api: KimiApi, directory: Path) -> str | None:
    roots = {str(directory), str(await asyncio.to_thread(directory.resolve))}
    listed = await api.call("GET", "/workspaces")
    for item in objects_of(listed, "items"):
        if text_of(item, "root") in roots:
            return text_of(item, "id")
    return None
