"""The models that the interface offers: what a started CLI told, before that its stable aliases."""

from __future__ import annotations

from typing import Final

from ...protocol.resources import Model
from .wire import Json, objects_of, text_of, texts_of

_EFFORTS: Final = ["low", "medium", "high", "xhigh", "max"]

ALIASES: Final = (
    Model(id="default", name="Default of your account", efforts=_EFFORTS, default=True),
    Model(id="opus", name="Opus (newest)", efforts=_EFFORTS),
    Model(id="sonnet", name="Sonnet (newest)", efforts=_EFFORTS),
    Model(id="haiku", name="Haiku (newest)"),
)
"""Names that every version resolves by itself; offered until a CLI has told its own list."""


def models_of(initialized: Json) -> list[Model]:
    """The list in the answer to `initialize`; empty when it has none."""
    models = [
        Model(
            id=text_of(item, "value"),
            name=text_of(item, "displayName") or text_of(item, "value"),
            efforts=texts_of(item, "supportedEffortLevels"),
            default=text_of(item, "value") == "default",
        )
        for item in objects_of(initialized, "models")
        if text_of(item, "value")
    ]
    return models
