"""From the CLI's lines to event bodies: pure, split by message family."""

from .asks import OpenAsk, needs_a_person
from .endings import SIGN_IN_HINT, ends_turn
from .tools import kind_of
from .translator import PROVIDER, Translator, Turn

__all__ = [
    "PROVIDER",
    "SIGN_IN_HINT",
    "OpenAsk",
    "Translator",
    "Turn",
    "ends_turn",
    "kind_of",
    "needs_a_person",
]
