"""Whether a run keeps its server from being culled as idle (reliability section 6, R20).

A run that makes progress does, and a silent one for a while; one that waits for a person, has said
nothing for half an hour or runs for half a day does not: a forgotten chat must not hold a pod.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

QUIET_LIMIT_S = 1_800.0
REPORT_S = 30.0
"""Between two reports of a run that is silent."""


@dataclass(slots=True)
class Wakefulness:
    """Of one run; times are of the monotonic clock."""

    limit_s: float
    began: float = field(default_factory=time.monotonic)
    last_output: float = field(default_factory=time.monotonic)

    def output(self) -> None:
        """The agent has said something."""
        self.last_output = time.monotonic()

    def holds(self, *, waiting: bool) -> bool:
        """Whether the run counts as activity now; `waiting`: for a person's answer."""
        now = time.monotonic()
        if waiting or now - self.began > self.limit_s:
            return False
        return now - self.last_output <= QUIET_LIMIT_S
