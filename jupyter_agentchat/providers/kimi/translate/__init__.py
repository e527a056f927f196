"""From the server's events to event bodies: pure, split by message family."""

from .asks import OpenAsk, is_edit_inside, is_plan, open_approval
from .places import Places
from .tools import kind_of
from .translator import POSITION_SHIFT, Translator
from .turns import is_unasked, prompt_id, steer_id

__all__ = [
    "POSITION_SHIFT",
    "OpenAsk",
    "Places",
    "Translator",
    "is_edit_inside",
    "is_plan",
    "is_unasked",
    "kind_of",
    "open_approval",
    "prompt_id",
    "steer_id",
]
