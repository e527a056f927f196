"""Begins, reopens or branches a conversation, and trusts no announcement about it.

A capability that is refused as unknown when it is used is as good as absent. A conversation that
was loaded, and of which not one message came, is another one: some agents begin anew under the old
id without a word. Both end as a refused resume, after which the hub starts with a transcript.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from ..._version import __version__
from ...errors import ProtocolError, SessionRejected, TooOld
from ...process.jsonrpc import METHOD_NOT_FOUND, RpcError
from .agents import AcpAgent
from .connection import Connection
from .launch import mcp_servers
from .offers import Abilities, Offers, abilities_of
from .wire import PROTOCOL_VERSION, Json, int_of, text_of

LOAD_S = 120.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opening:
    """The conversation to open; `session_id` is that of an old one, to go on with or to branch."""

    kind: Literal["new", "load", "fork"]
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation, and the MCP servers that the agent cannot take."""

    session_id: str
    offers: Offers
    left_out: tuple[str, ...] = ()


class Opener:
    """Speaks the first words with an agent. `history` says how many messages of a past were shown
    since it was last asked."""

    def __init__(self, agent: AcpAgent, connection: Connection, history: Callable[[], int]) -> None:
        self._agent = agent
        self._connection = connection
        self._history = history

    async def introduce(self) -> Abilities:
        """`initialize`. Raises ProviderError."""
        answer = await self._connection.ask(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientInfo": {"name": "jupyter_agentchat", "version": __version__},
                # no files: agents read and write by their own tools. No terminals: a command that
                # ran in one of ours would end with this server
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
            },
            timeout_s=self._agent.start_s,
        )
        spoken = int_of(answer, "protocolVersion")
        if spoken != PROTOCOL_VERSION:
            raise ProtocolError(
                f"{self._agent.name} speaks version {spoken} of the Agent Client Protocol.",
                hint=f"Install a version of it that speaks version {PROTOCOL_VERSION}.",
            )
        abilities = abilities_of(answer)
        if too_old(abilities.version, self._agent.min_version):
            raise TooOld(
                f"Version {abilities.version} is older than {self._agent.min_version}.",
                hint=self._agent.install_hint,
            )
        return abilities

    async def open(
        self, opening: Opening, abilities: Abilities, cwd: str, mcp: dict[str, JsonValue]
    ) -> Opened:
        """Open a conversation in `cwd`. Raises SessionRejected, AuthRequired, ProviderError."""
        servers, left_out = mcp_servers(mcp, http=abilities.http_mcp)
        place: Json = {"cwd": cwd, "mcpServers": servers}
        if opening.kind == "new":
            answer = await self._ask("session/new", place, self._agent.start_s)
            session_id = text_of(answer, "sessionId")
        elif opening.kind == "fork":
            answer = await self._old("session/fork", opening, place, LOAD_S)
            session_id = text_of(answer, "sessionId")
        else:
            answer = await self._reopen(opening, abilities, place)
            session_id = opening.session_id
        if not session_id:
            raise ProtocolError(
                f"{self._agent.name} opened a conversation without a name.",
                hint="Start a new chat, or update the agent.",
            )
        return Opened(session_id, Offers().with_answer(answer), tuple(left_out))

    async def _reopen(self, opening: Opening, abilities: Abilities, place: Json) -> Json:
        if abilities.load:
            self._history()
            try:
                answer = await self._old("session/load", opening, place, LOAD_S)
            except _Unknown as error:
                _log.info("%s announced session/load and does not know it", self._agent.name)
                if not abilities.resume:
                    raise error.rejected from error
            else:
                if not self._history():
                    raise self._rejected(opening, "It opened an empty conversation in its place.")
                return answer
        if abilities.resume:
            try:
                return await self._old("session/resume", opening, place, LOAD_S)
            except _Unknown as error:
                raise error.rejected from error
        raise self._rejected(opening, "It cannot go on with an earlier conversation.")

    async def _old(self, method: str, opening: Opening, place: Json, timeout_s: float) -> Json:
        try:
            return await self._ask(method, {**place, "sessionId": opening.session_id}, timeout_s)
        except RpcError as error:
            data = error.data if isinstance(error.data, dict) else {}
            rejected = self._rejected(opening, text_of(data, "details") or error.message)
            if error.rpc_code == METHOD_NOT_FOUND:
                raise _Unknown(rejected) from error
            raise rejected from error

    async def _ask(self, method: str, params: Json, timeout_s: float) -> Json:
        return await self._connection.ask(method, params, timeout_s=timeout_s)

    def _rejected(self, opening: Opening, reason: str) -> SessionRejected:
        return SessionRejected(
            f"{self._agent.name} does not know this conversation any more.",
            provider_session_id=opening.session_id,
            reason=reason[:500],
        )


class _Unknown(SessionRejected):
    """The agent does not know the method."""

    def __init__(self, rejected: SessionRejected) -> None:
        super().__init__(
            rejected.message,
            provider_session_id=rejected.provider_session_id,
            reason=rejected.reason,
        )
        self.rejected = rejected


def too_old(version: str, minimum: str | None) -> bool:
    """Whether `version` is below `minimum`; one that cannot be read is not."""
    if minimum is None:
        return False
    try:
        parts = [int(part) for part in version.split("-")[0].split(".")]
    except ValueError:
        return False
    return parts < [int(part) for part in minimum.split(".")]
