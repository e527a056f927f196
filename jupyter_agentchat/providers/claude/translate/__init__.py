"""From the CLI's lines to event bodies: pure, split by message family."""

from .asks import OpenAsk, needs_a_person
from .commands import Commands, steer_uuid
from .endings import SIGN_IN_HINT
from .tools import kind_of
from .translator import PROVIDER, Translator, Turn

__all__ = [
    "PROVIDER",
    "SIGN_IN_HINT",
    "Commands",
    "OpenAsk",
    "Translator",
    "Turn",
    "kind_of",
    "needs_a_person",
    "steer_uuid",
]
