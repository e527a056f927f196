"""What a started CLI tells of its models and the person's plan; before that, its stable aliases."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, NamedTuple

from ...errors import ProviderError, Unsupported
from ...protocol.events import PlanUsage
from ...protocol.resources import Model
from .control import ControlChannel
from .translate.meters import plan_of_answer
from .wire import Json, object_of, objects_of, text_of, texts_of

_log = logging.getLogger(__name__)
_EFFORTS: Final = ["low", "medium", "high", "xhigh", "max"]


class ListedModel(NamedTuple):
    """A model that can be chosen, and the name that the API knows it by ("" when unknown)."""

    model: Model
    resolved: str = ""


ALIASES: Final = (
    ListedModel(
        Model(id="default", name="Default of your account", efforts=_EFFORTS, default=True)
    ),
    ListedModel(Model(id="opus", name="Opus (newest)", efforts=_EFFORTS)),
    ListedModel(Model(id="sonnet", name="Sonnet (newest)", efforts=_EFFORTS)),
    ListedModel(Model(id="haiku", name="Haiku (newest)")),
)
"""Names that every version resolves by itself; offered until a CLI has told its own list."""


def models_of(answer: Json) -> list[ListedModel]:
    """The list in the answer to `initialize` or `list_models`; empty when it has none."""
    return [
        ListedModel(
            Model(
                id=text_of(item, "value"),
                name=text_of(item, "displayName") or text_of(item, "value"),
                efforts=texts_of(item, "supportedEffortLevels"),
                default=text_of(item, "value") == "default",
            ),
            text_of(item, "resolvedModel"),
        )
        for item in objects_of(answer, "models")
        if text_of(item, "value")
    ]


def with_windows(listed: list[ListedModel], windows: Mapping[str, int]) -> list[Model]:
    """The models as the interface shows them; `windows` by the names that the API uses.

    The CLI lists no sizes: each becomes known with the first result of a run of its model.
    """
    return [
        one.model.model_copy(update={"context_window": windows.get(one.resolved)}) for one in listed
    ]


async def plan_usage_of(initialized: Json, control: ControlChannel) -> PlanUsage | None:
    """How much of the plan is used up; None where none is known of. Never raises ProviderError.

    Without asking, only a change is told. An API key has no plan.
    """
    if not text_of(object_of(initialized, "account"), "subscriptionType"):
        return None
    try:
        return plan_of_answer(await control.request("get_usage", skip_behaviors=True))
    except (ProviderError, Unsupported) as error:
        _log.info("get_usage: %s", error)
        return None
