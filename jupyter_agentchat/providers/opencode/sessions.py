"""The conversation that a run goes on in: opened, under the chat's rules, with its servers."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ...errors import ProviderError, ProviderTimeout, SessionRejected
from ...process.loopback import HttpRefused
from ...protocol.events import Notice
from ...protocol.resources import RunRequest
from ...protocol.words import Permission
from .link import OpencodeLink
from .permissions import forbidden_by, rules_for
from .wire import Json, as_object, object_of, objects_in, objects_of, text_of

STILL_S: Final = 8.0
"""How long a turn that an earlier run has left may take to end."""
FIRST_S: Final = 90.0
"""For the first word about a directory: then its plugins are installed and its servers started."""
MCP_S: Final = 15.0
_POLL_S: Final = 0.1
_NOT_FOUND: Final = 404

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation that can take a prompt."""

    session_id: str
    servers: tuple[str, ...]
    notices: tuple[Notice, ...]


async def open_session(link: OpencodeLink, request: RunRequest, known: str | None) -> Opened:
    """Begin, continue or copy the conversation `known`.

    Raises SessionRejected when opencode does not know it, ProviderTimeout when it does not come to
    rest, ProviderError.
    """
    agents = objects_in(await link.call("GET", "/agent", directory=request.cwd, timeout_s=FIRST_S))
    notices = await hand_over_servers(link, request)
    rules = rules_for(request.permission, forbidden_by(agents))
    if known is None:
        session_id = await _create(link, request, rules)
    else:
        if not request.fork:  # else it is another chat's, which may be at work
            await come_to_rest(link, request.cwd, known)
        session_id = await _resume(link, request, known, rules)
    return Opened(session_id, await servers_of(link, request.cwd), tuple(notices))


async def come_to_rest(link: OpencodeLink, directory: str, session_id: str) -> None:
    """A turn that nobody follows any more would take the next prompt for its own: end it.

    Raises ProviderTimeout when it does not end, ProviderError.
    """
    if session_id not in await busy_sessions(link, directory):
        return
    _log.info("session=%s still works: ending it", session_id)
    await link.call("POST", f"/session/{session_id}/abort", directory=directory)
    try:
        async with asyncio.timeout(STILL_S):
            # how it stands is known only to those who ask
            while session_id in await busy_sessions(link, directory):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_S)
    except TimeoutError as error:
        raise ProviderTimeout("The last turn of this conversation does not end.") from error


async def abandon(link: OpencodeLink, directory: str, session_id: str) -> None:
    """Nobody follows what was just begun there: end it. Raises nothing."""
    with suppress(ProviderError):
        await link.call("POST", f"/session/{session_id}/abort", directory=directory)


async def busy_sessions(link: OpencodeLink, directory: str) -> set[str]:
    """The conversations in which something goes on."""
    return set(as_object(await link.call("GET", "/session/status", directory=directory)))


async def set_rules(
    link: OpencodeLink, directory: str, session_id: str, permission: Permission
) -> None:
    """Put a conversation under another permission. Raises ProviderError.

    Rules are only ever added; the last one that matches holds.
    """
    agents = objects_in(await link.call("GET", "/agent", directory=directory))
    rules = rules_for(permission, forbidden_by(agents))
    path = f"/session/{session_id}"
    await link.call("PATCH", path, directory=directory, body={"permission": rules})


async def hand_over_servers(link: OpencodeLink, request: RunRequest) -> list[Notice]:
    """Give opencode the chat's MCP servers; it keeps them for the directory.

    One that does not come up is said, and the run goes on. Raises ProviderError.
    """
    notices: list[Notice] = []
    for name, server in request.mcp_servers.items():
        config = server_config(as_object(server))
        said: Json = {}
        reason = ""
        try:
            answer = await link.call(
                "POST",
                "/mcp",
                directory=request.cwd,
                body={"name": name, "config": config},
                timeout_s=MCP_S,
            )
            said = object_of(as_object(answer), name)
        except HttpRefused as error:
            reason = error.message
        if text_of(said, "status") != "connected":
            reason = reason or text_of(said, "error") or text_of(said, "status") or "no answer"
            text = f"The MCP server {name} is not available: {reason[:300]}"
            notices.append(Notice(level="warning", code="mcp_server", text=text))
    return notices


def server_config(server: Json) -> Json:
    """An MCP server as opencode's configuration spells it. Pure."""
    if text_of(server, "url"):
        headers = object_of(server, "headers")
        remote: Json = {"type": "remote", "url": text_of(server, "url"), "enabled": True}
        return {**remote, "headers": headers} if headers else remote
    args = server.get("args")
    command: list[JsonValue] = [text_of(server, "command")]
    command += args if isinstance(args, list) else []
    local: Json = {"type": "local", "command": command, "enabled": True}
    variables = object_of(server, "env")
    return {**local, "environment": variables} if variables else local


async def servers_of(link: OpencodeLink, directory: str) -> tuple[str, ...]:
    """The names of the MCP servers there are, by which their tools are known."""
    try:
        return tuple(as_object(await link.call("GET", "/mcp", directory=directory)))
    except ProviderError as error:
        _log.info("no list of MCP servers: %s", error)
        return ()


async def _create(link: OpencodeLink, request: RunRequest, rules: list[JsonValue]) -> str:
    # the next server finds the conversation by the run's id, before the prompt has arrived
    body: Json = {"permission": rules, "metadata": {"agentchat_run": request.run_id}}
    answer = await link.call("POST", "/session", directory=request.cwd, body=body)
    return text_of(as_object(answer), "id")


async def _resume(
    link: OpencodeLink, request: RunRequest, known: str, rules: list[JsonValue]
) -> str:
    try:
        path = f"/session/{known}"
        if request.fork:
            answer = await link.call("POST", f"{path}/fork", directory=request.cwd, body={})
        else:
            answer = await link.call("GET", path, directory=request.cwd)
    except HttpRefused as refused:
        if refused.http_status != _NOT_FOUND:
            raise
        raise SessionRejected(
            "opencode does not know this conversation any more.",
            provider_session_id=known,
            reason=text_of(object_of(as_object(refused.body), "data"), "message") or "not found",
        ) from refused
    session = as_object(answer)
    session_id = text_of(session, "id") or known
    if objects_of(session, "permission")[-len(rules) :] != rules:
        await link.call(
            "PATCH", f"/session/{session_id}", directory=request.cwd, body={"permission": rules}
        )
    return session_id
