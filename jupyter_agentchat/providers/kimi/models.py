"""The models that the interface offers: what the server lists, before that what its file says."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from ...errors import ProviderError
from ...protocol.resources import Model
from .wire import Json, int_of, object_of, objects_of, text_of, texts_of

_SIZE_LIMIT = 4 * 1024 * 1024


def models_of(items: Json, default: str) -> list[Model]:
    """The models in the server's answer to `/models`; `default` is the alias that is marked."""
    return [
        _model(alias, item, default)
        for item in objects_of(items, "items")
        if (alias := text_of(item, "model"))
    ]


def read_settings(home: Path) -> Json:
    """`config.toml`; empty when there is none to be read."""
    path = home / "config.toml"
    try:
        if path.stat().st_size > _SIZE_LIMIT:
            return {}
        value: Json = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value


def models_in(settings: Json) -> list[Model]:
    """The models that `config.toml` names."""
    default = text_of(settings, "default_model")
    return [
        _model(alias, item, default)
        for alias, item in object_of(settings, "models").items()
        if isinstance(item, dict)
    ]


def chosen_model(wanted: str | None, default: str | None, models: Sequence[Model]) -> str:
    """The alias a session is set to: without one every turn fails. Raises ProviderError."""
    if wanted:
        return wanted
    if default:
        return default
    for model in models:
        if model.default:
            return model.id
    if models:
        return models[0].id
    raise ProviderError(
        "Kimi Code has no model to work with.",
        hint="Run `kimi login` in a terminal, or add a provider with `kimi provider`.",
    )


def _model(alias: str, item: Json, default: str) -> Model:
    return Model(
        id=alias,
        name=text_of(item, "display_name") or alias,
        efforts=texts_of(item, "support_efforts"),
        context_window=int_of(item, "max_context_size"),
        default=alias == default,
    )
