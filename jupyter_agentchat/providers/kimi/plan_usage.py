"""How much of the person's Kimi plan is used up, as the account service says. Pure."""

from __future__ import annotations

from ...protocol.events import PlanUsage
from ...protocol.tools import PlanWindow
from .wire import Json, float_of, int_of, object_of, objects_of, text_of

_UNITS = {"minute": "min", "hour": "h", "day": "d", "week": "w"}


def plan_usage(answer: Json) -> PlanUsage | None:
    """The windows in an answer to `/oauth/usage`; None when the service could not say."""
    if text_of(answer, "kind") != "ok":
        return None
    rows = [object_of(answer, "summary"), *objects_of(answer, "limits")]
    windows: dict[str, PlanWindow] = {}
    for row in rows:
        used, limit = float_of(row, "used"), float_of(row, "limit")
        if used is None or not limit or limit < 0:
            continue
        name = text_of(row, "name") or _window(object_of(row, "window")) or "plan"
        percent = round(min(100.0, max(0.0, 100 * used / limit)), 1)
        resets = text_of(row, "reset_at") or None
        windows.setdefault(name, PlanWindow(name=name, used_percent=percent, resets_at=resets))
    return PlanUsage(windows=list(windows.values())) if windows else None


def _window(window: Json) -> str:
    duration, unit = int_of(window, "duration"), text_of(window, "unit")
    return f"{duration} {_UNITS.get(unit, unit)}" if duration and unit else ""
