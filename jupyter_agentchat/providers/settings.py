"""The admin's settings for agents: the trait `provider_settings`, checked.

Imports nothing that imports pydantic: it is checked while the server starts.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

_log = logging.getLogger(__name__)
_OF_KINDS = frozenset({"kind", "name", "description", "preset", "sign_in"})
"""Settings of agents that an admin adds: `kind` native or acp."""


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """An admin's settings for one provider (trait `provider_settings`)."""

    enabled: bool = True
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    default_model: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


def parse_named(name: str, raw: object) -> ProviderSettings:
    """The same as `parse_settings`; the error names the agent, an unknown setting is logged."""
    if not isinstance(raw, Mapping):
        raise ValueError(f"provider_settings: {name} must map names of settings to values")  # noqa: TRY004
    try:
        settings = parse_settings(raw)
    except ValueError as error:
        raise ValueError(f"{error} (agent {name})") from error
    if unknown := settings.extra.keys() - _OF_KINDS:
        # a misspelt "enabled" must not go unnoticed
        _log.warning("provider_settings: %s: unknown and ignored: %s", name, sorted(unknown))
    return settings


def parse_settings(raw: Mapping[str, object]) -> ProviderSettings:
    """One provider's entry of the trait `provider_settings`.

    Raises ValueError, with a sentence for the admin, when a value has the wrong type.
    """
    known = {"enabled", "command", "env", "pass_env", "models", "default_model"}
    env, default, enabled = raw.get("env", {}), raw.get("default_model"), raw.get("enabled", True)
    if not isinstance(enabled, bool):
        raise ValueError("provider_settings: enabled must be true or false")  # noqa: TRY004
    if not isinstance(env, Mapping) or not all(isinstance(value, str) for value in env.values()):
        raise ValueError("provider_settings: env must map names to texts")
    if default is not None and not isinstance(default, str):
        raise ValueError("provider_settings: default_model must be a text")
    return ProviderSettings(
        enabled=enabled,
        command=_texts(raw, "command"),
        env={str(name): value for name, value in env.items()},
        pass_env=_texts(raw, "pass_env"),
        models=_texts(raw, "models"),
        default_model=default,
        extra={name: value for name, value in raw.items() if name not in known},
    )


def _texts(raw: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = raw.get(name, ())
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise ValueError(f"provider_settings: {name} must be a list of texts")  # noqa: TRY004
    if not all(isinstance(item, str) for item in value):
        raise ValueError(f"provider_settings: {name} must be a list of texts")
    return tuple(value)
