"""From opencode's events to ours. Pure: the same lines give the same bodies."""

from .translator import Translator
from .turn import Turn

__all__ = ["Translator", "Turn"]
