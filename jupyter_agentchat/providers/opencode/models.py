"""The models that opencode offers. Its answer holds keys: only what is named here is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from ...protocol.resources import Model
from .wire import (
    Json,
    as_object,
    int_of,
    object_of,
    objects_of,
    parse,
    text_of,
    true_at,
)


@dataclass(frozen=True, slots=True)
class Catalog:
    """What is known of models: for the interface, and for a run. Ids are `provider/model`."""

    models: tuple[Model, ...] = ()
    windows: Mapping[str, int] = field(default_factory=dict)
    seeing: frozenset[str] = frozenset()
    """Those that take images."""
    providers: tuple[str, ...] = ()
    default: str | None = None

    def efforts(self, model: str) -> list[str] | None:
        """The efforts of a model; None when it is not known."""
        return next((one.efforts for one in self.models if one.id == model), None)


def catalog_of(answer: JsonValue) -> Catalog:
    """From the answer to `GET /config/providers`."""
    found = as_object(answer)
    defaults = object_of(found, "default")
    entries: list[tuple[str, Json]] = []
    names = []
    for provider in objects_of(found, "providers"):
        provider_id = text_of(provider, "id")
        names.append(text_of(provider, "name") or provider_id)
        for model_id, model in object_of(provider, "models").items():
            entries.append((f"{provider_id}/{model_id}", as_object(model)))
    first = next((f"{name}/{model}" for name, model in defaults.items()), None)
    return _catalog(entries, tuple(names), first)


def catalog_of_listing(lines: list[str]) -> Catalog:
    """From what `opencode models --verbose` prints: a name, then an object over many lines."""
    entries: list[tuple[str, Json]] = []
    name, collected = "", ""
    for line in lines:
        if not collected and line and not line.startswith(("{", " ")) and "/" in line:
            name = line.strip()
        elif name:
            collected += line
            if line == "}":
                entries.append((name, parse(collected) or {}))
                name, collected = "", ""
    names = dict.fromkeys(name.partition("/")[0] for name, _ in entries)
    return _catalog(entries, tuple(names), None)


def split_model(name: str) -> tuple[str, str] | None:
    """(provider, model) of `provider/model`; None for what is no such name."""
    provider, slash, model = name.partition("/")
    return (provider, model) if slash and provider and model else None


def _catalog(
    entries: list[tuple[str, Json]], providers: tuple[str, ...], default: str | None
) -> Catalog:
    models, windows, seeing = [], {}, set()
    for name, model in entries:
        if text_of(model, "status") == "deprecated":
            continue
        window = int_of(object_of(model, "limit"), "context") or None
        if window is not None:
            windows[name] = window
        if true_at(object_of(object_of(model, "capabilities"), "input"), "image"):
            seeing.add(name)
        models.append(
            Model(
                id=name,
                name=text_of(model, "name") or name,
                efforts=list(object_of(model, "variants")),
                context_window=window,
                default=name == default,
            )
        )
    return Catalog(tuple(models), windows, frozenset(seeing), providers, default)
