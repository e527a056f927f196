"""From an agent's lines to event bodies: pure, split by message family."""

from .asks import OpenAsk
from .translator import Translator, Turn

__all__ = ["OpenAsk", "Translator", "Turn"]
