"""The models that the interface offers, from Codex' own catalogue. Pure."""

from __future__ import annotations

from ...protocol.resources import Model
from .wire import Json, objects_of, text_of, true_at


def models_of(answer: Json) -> list[Model]:
    """The list in the answer to `model/list`; hidden ones are left out."""
    return [
        Model(
            id=text_of(item, "id"),
            name=text_of(item, "displayName") or text_of(item, "id"),
            efforts=[
                effort
                for one in objects_of(item, "supportedReasoningEfforts")
                if (effort := text_of(one, "reasoningEffort"))
            ],
            tiers=[
                tier for one in objects_of(item, "serviceTiers") if (tier := text_of(one, "id"))
            ],
            default=true_at(item, "isDefault"),
        )
        for item in objects_of(answer, "data")
        if text_of(item, "id") and not true_at(item, "hidden")
    ]


def configured(models: list[Model], names: tuple[str, ...], default: str | None) -> list[Model]:
    """The list with an admin's choice: only `names` where given, `default` marked as such."""
    known = {model.id: model for model in models}
    chosen = [known.get(name) or Model(id=name, name=name) for name in names] or models
    if default is None:
        return chosen
    if default not in {model.id for model in chosen}:
        chosen = [Model(id=default, name=default), *chosen]
    return [model.model_copy(update={"default": model.id == default}) for model in chosen]
