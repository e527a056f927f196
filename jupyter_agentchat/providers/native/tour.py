"""The guided tour as a provider: always there, needs no account."""

from __future__ import annotations

import sys

from ..._version import __version__
from ...protocol.resources import Model, Provider, ProviderFeatures
from ..base import AdapterContext
from .adapter import NativeAdapter
from .launch import NativeAgent

TOUR = NativeAgent(
    id="tour",
    name="Tour",
    # -P: without it `-m` would look for modules in the project first, and run what lies there
    argv=(sys.executable, "-P", "-m", "jupyter_agentchat.tour"),
    description="Scripted, no account needed",
    pass_env=("AGENTCHAT_TOUR_PACE",),
)


class TourAdapter(NativeAdapter):
    """The provider `tour`; what it can do is known, so that its probe starts nothing."""

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context, TOUR)

    async def probe(self) -> Provider:
        """Always ready."""
        return self.describe().model_copy(
            update={
                "state": "ready",
                "available": True,
                "version": __version__,
                "models": [Model(id="script", name="Script (no model)", default=True)],
                "features": self._features(
                    ProviderFeatures(resume=True, asks=True, questions=True, reasoning=True)
                ),
            }
        )
