"""What is known of an agent, as the interface shows it: from its own words, or why there are none.

One process answers all questions of a probe: its version, whether somebody is signed in, its modes
and models stand in the answers to `initialize` and `session/new`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, get_args

from ...errors import AuthRequired, NotInstalled, ProviderError, TooOld
from ...protocol.resources import Model, Provider, ProviderFeatures
from ...protocol.words import PERMISSIONS, Mode, Permission
from .agents import AcpAgent
from .offers import Abilities, Offers, mode_for, models_of

PROBE_TIMEOUT_S: Final = 4.5
SLOW: Final = "It has not answered yet: what it can do is not known."

_ANSWERED: Final[dict[Permission, str]] = {
    "read_only": "{name} has no mode for this. Agentchat refuses what it asks for; what it does "
    "without asking is not held back.",
    "accept_edits": "{name} has no mode for this: agentchat allows edits in the folder itself.",
    "full": "{name} has no mode for this, or not in this folder: agentchat allows each call "
    "itself.",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What an agent has told of itself, last time it was started."""

    abilities: Abilities = field(default_factory=Abilities)
    offers: Offers = field(default_factory=Offers)


def refused(agent: AcpAgent, error: ProviderError) -> Provider:
    """What to show of an agent that could not be started, with the next command."""
    hint = agent.install_hint or error.hint
    match error:
        case NotInstalled():
            return _state(agent, "missing", error.message, install_hint=hint)
        case TooOld():
            return _state(agent, "too_old", error.message, install_hint=hint)
        case AuthRequired():
            return _state(agent, "signed_out", error.message, sign_in_hint=agent.sign_in_hint)
    return _state(agent, "error", error.message, install_hint=error.hint)


def provider(
    agent: AcpAgent, facts: Facts | None, models: list[Model], *, reattach: bool
) -> Provider:
    """A `Provider` that is ready, by what is known. One that is slow to start is no less there:
    it is offered, with a reason that makes it be looked at again soon."""
    known = facts or Facts()
    told = known.abilities
    notes = {
        permission: text.format(name=agent.name)
        for permission, text in _ANSWERED.items()
        if facts is not None and mode_for(permission, known.offers.mode, agent.modes) is None
    }
    return blank(agent).model_copy(
        update={
            "state": "ready",
            "available": True,
            "reason": SLOW if facts is None else None,
            "version": told.version or None,
            "models": models or models_of(known.offers),
            "permission_notes": notes,
            "features": features(agent, told, reattach=reattach),
        }
    )


def features(agent: AcpAgent, abilities: Abilities, *, reattach: bool) -> ProviderFeatures:
    """What the protocol can carry, and this agent announces. What it announces and does not do is
    found out when it is used. No steering, no plan usage, no rewind of files."""
    return ProviderFeatures(
        resume=abilities.load or abilities.resume,
        fork="native" if abilities.fork else "transcript",
        rewind="transcript",
        asks=True,
        questions=agent.questions,
        reasoning=True,
        images=abilities.images,
        mcp="per_chat",
        reattach=reattach,
    )


def blank(agent: AcpAgent) -> Provider:
    """What is known without starting anything."""
    return Provider(
        id=agent.id,
        name=agent.name,
        description=agent.description,
        min_version=agent.min_version,
        modes=list(get_args(Mode)),
        permissions=list(PERMISSIONS),
    )


def _state(agent: AcpAgent, state: str, reason: str, **hints: str | None) -> Provider:
    return blank(agent).model_copy(update={"state": state, "reason": reason, **hints})
