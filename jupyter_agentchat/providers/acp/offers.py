"""What an agent says that it can do: at `initialize`, and for one conversation. Pure.

Modes, models and efforts come in two dialects, `modes`/`models` and `configOptions`; some agents
speak both. Nothing of it is trusted: what was announced may still be refused when it is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from ...protocol.resources import Model
from ...protocol.words import Permission
from .agents import Names
from .wire import Json, first_text, object_of, objects_of, text_of

_PLAIN: Final = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True)
class Abilities:
    """What `initialize` brought. `fork` and the like are announcements."""

    name: str = ""
    version: str = ""
    load: bool = False
    resume: bool = False
    fork: bool = False
    images: bool = False
    http_mcp: bool = False
    sign_in_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing of a conversation that can be chosen: what there is, and what is set.

    `option` is the id of its config option; "" where the agent has a method of its own for it.
    """

    values: tuple[tuple[str, str], ...] = ()
    current: str = ""
    option: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that can be chosen."""
        return tuple(value for value, _ in self.values)


@dataclass(frozen=True, slots=True)
class Offers:
    """What can be chosen in a conversation, and how it is set now."""

    mode: Choice = field(default_factory=Choice)
    model: Choice = field(default_factory=Choice)
    effort: Choice = field(default_factory=Choice)

    def with_update(self, update: Json) -> Offers:
        """After a `current_mode_update` or `config_option_update`."""
        match text_of(update, "sessionUpdate"):
            case "current_mode_update":
                mode = first_text(update, "currentModeId", "modeId")
                return replace(self, mode=replace(self.mode, current=mode or self.mode.current))
            case "config_option_update":
                return self.with_answer(update)
        return self

    def with_answer(self, answer: Json) -> Offers:
        """After the answer to `session/new`, `load` and `set_config_option`: it replaces what it
        has, and leaves the rest."""
        modes, models = object_of(answer, "modes"), object_of(answer, "models")
        found = self
        if modes:
            found = replace(
                found, mode=_listed(modes, "availableModes", "id", text_of(modes, "currentModeId"))
            )
        if models:
            current = text_of(models, "currentModelId")
            found = replace(found, model=_listed(models, "availableModels", "modelId", current))
        options = objects_of(answer, "configOptions")
        for name, category in (("mode", "mode"), ("model", "model"), ("effort", "thought_level")):
            option = _option(options, category)
            if option is None:
                if options and name == "effort":
                    found = replace(found, effort=Choice())  # the new model has none
                continue
            if name == "mode" and modes:
                continue  # every agent that has its own method for modes takes that one
            found = replace(found, **{name: option})
        return found


def abilities_of(answer: Json) -> Abilities:
    """The answer to `initialize`."""
    info, can = object_of(answer, "agentInfo"), object_of(answer, "agentCapabilities")
    session = object_of(can, "sessionCapabilities")
    return Abilities(
        name=first_text(info, "title", "name"),
        version=text_of(info, "version"),
        load=can.get("loadSession") is True,
        resume=isinstance(session.get("resume"), dict),
        fork=isinstance(session.get("fork"), dict),
        images=object_of(can, "promptCapabilities").get("image") is True,
        http_mcp=object_of(can, "mcpCapabilities").get("http") is True,
        sign_in_names=tuple(
            first_text(method, "name", "id") for method in objects_of(answer, "authMethods")
        ),
    )


def mode_for(permission: Permission, mode: Choice, names: Names) -> str | None:
    """The agent's own mode of that meaning; None where it has none: then we answer its asks."""
    plain = {_PLAIN.sub("", value.lower()): value for value in mode.ids}
    return next((plain[name] for name in names[permission] if name in plain), None)


def models_of(offers: Offers) -> list[Model]:
    """The models for the interface; the one that is set counts as the default."""
    return [
        Model(
            id=value,
            name=name,
            efforts=list(offers.effort.ids) if value == offers.model.current else [],
            default=value == offers.model.current,
        )
        for value, name in offers.model.values
        if len(value) <= 200
    ]


def _listed(holder: Json, key: str, id_key: str, current: str) -> Choice:
    values = tuple(
        (value, first_text(item, "name") or value)
        for item in objects_of(holder, key)
        if (value := text_of(item, id_key))
    )
    return Choice(values, current)


def _option(options: list[Json], category: str) -> Choice | None:
    for option in options:
        if text_of(option, "category") != category or text_of(option, "type") not in ("select", ""):
            continue
        flat: list[Json] = []
        for item in objects_of(option, "options"):
            # options may stand in groups
            flat += objects_of(item, "options") or [item]
        values = tuple(
            (value, first_text(item, "name") or value)
            for item in flat
            if (value := text_of(item, "value"))
        )
        return Choice(values, text_of(option, "currentValue"), text_of(option, "id"))
    return None
