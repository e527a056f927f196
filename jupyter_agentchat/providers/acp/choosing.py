"""Brings a conversation to what a chat is set to: model, effort, and a mode for its permission."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from ...errors import ProviderError
from ...process.jsonrpc import RpcError
from ...protocol.words import Permission
from .agents import AcpAgent
from .connection import Connection
from .files import Files
from .offers import Choice, Offers, mode_for
from .wire import Json

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Live:
    """What can be changed in a conversation that is open. None leaves the choice to the agent."""

    model: str | None
    effort: str | None
    permission: Permission


class ChoiceRefused(ProviderError):
    """The agent does not offer what the chat is set to."""

    event_code = "model_not_found"


class Choosing:
    """The part of a session that can be chosen. `connection` is set by the session itself."""

    connection: Connection

    def __init__(self, agent: AcpAgent, child_id: str, files: Files) -> None:
        self.agent = agent
        self.files = files
        self.session_id = ""
        self.offers = Offers()
        self.own_mode = False
        """The agent is in a mode of its own that means the chat's permission."""
        self.applied: Live | None = None
        self._first: Offers | None = None
        self._child_id = child_id

    @property
    def known(self) -> bool:
        """Whether it told us itself what it offers; one that was taken over did not."""
        return self._first is not None

    def adopt(self, session_id: str, live: Live) -> None:
        """Of one that was taken over: its conversation, and what the server before had set."""
        self.session_id, self.applied = session_id or self.session_id, live

    async def apply(self, live: Live) -> None:
        """Bring model, effort and mode to `live`. Raises ChoiceRefused, ProviderError."""
        if not self.known:
            if live != self.applied:
                raise ChoiceRefused("What the agent offers is not known.")
            return
        first = self._first or Offers()
        await self._choose("model", live.model, first.model.current)
        # the efforts are those of the model
        await self._choose("effort", live.effort, first.effort.current)
        await self.set_mode(live.permission)
        self.applied = live

    async def set_mode(self, permission: Permission) -> bool:
        """The agent's own mode of that meaning, else the one in which it asks and we answer.

        False when it stays in a mode that may allow more, or when its modes are not known. Raises
        ProviderError when the agent is gone.
        """
        self.files.writable = permission != "read_only"
        if not self.known:
            return False
        mode = self.offers.mode
        for wanted in (permission, "ask"):
            target = mode_for(wanted, mode, self.agent.modes)
            if target is None and wanted == "ask" and self._first is not None:
                target = self._first.mode.current or None
            if target is None or not await self._switch(mode, target):
                continue
            self.own_mode = wanted == permission
            return True
        self.own_mode = False
        return not mode.ids

    async def _choose(self, name: str, chosen: str | None, first: str) -> None:
        choice: Choice = getattr(self.offers, name)
        # back to what the agent began with, where that is still on offer
        wanted = chosen or (first if first in choice.ids else "")
        if not wanted or wanted == choice.current:
            return
        if wanted not in choice.ids:
            raise ChoiceRefused(
                f"{self.agent.name} does not offer the {name} {wanted[:80]!r}.",
                hint=f"Choose another {name}.",
            )
        session: Json = {"sessionId": self.session_id}
        try:
            if choice.option:
                params: Json = {**session, "configId": choice.option, "value": wanted}
                answer = await self.connection.ask("session/set_config_option", params)
                self.offers = self.offers.with_answer(answer)
            else:
                await self.connection.ask("session/set_model", {**session, "modelId": wanted})
        except RpcError as error:
            raise ChoiceRefused(
                f"{self.agent.name} refused the {name} {wanted[:80]!r}: {error.message[:200]}",
                hint=f"Choose another {name}.",
            ) from error
        self.offers = replace(
            self.offers, **{name: replace(getattr(self.offers, name), current=wanted)}
        )

    async def _switch(self, mode: Choice, target: str) -> bool:
        if target == self.offers.mode.current:
            return True
        session: Json = {"sessionId": self.session_id}
        try:
            if mode.option:
                params: Json = {**session, "configId": mode.option, "value": target}
                await self.connection.ask("session/set_config_option", params)
            else:
                await self.connection.ask("session/set_mode", {**session, "modeId": target})
        except RpcError as error:
            _log.info("child=%s: no mode %s: %s", self._child_id, target, error.message)
            return False
        self.offers = replace(self.offers, mode=replace(self.offers.mode, current=target))
        return True
