"""From the lines of one run to event bodies: pure, split by message family."""

from .asks import ASKING, PLAN, OpenAsk
from .translator import Translator, Turn

__all__ = ["ASKING", "PLAN", "OpenAsk", "Translator", "Turn"]
