"""What the promises' tests measured: one line of JSON per figure, read by the report.

A figure has a goal where reliability has one. The suite asserts facts, never times; `make faults`
says which goals were missed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

LONG = os.environ.get("PYTEST_FAULTS") == "long"
"""The long version of `make faults`; the short one is part of `make test`."""


def size(short: int, long: int) -> int:
    """How much of a thing to do."""
    return long if LONG else short


class Figures:
    """Figures of one test; dropped where nobody wants a report."""

    def __init__(self, test: str) -> None:
        self._test = test
        name = os.environ.get("PYTEST_FAULTS_REPORT")
        self._file = Path(name) if name else None

    def note(
        self, promise: str, what: str, value: float, unit: str, at_most: float | None = None
    ) -> None:
        """Keep a figure; `at_most` is the promise."""
        line: dict[str, Any] = {
            "promise": promise, "what": what, "value": round(value, 2), "unit": unit,
            "at_most": at_most, "held": at_most is None or value <= at_most, "test": self._test,
        }  # fmt: skip
        if self._file is not None:
            with self._file.open("a") as file:
                file.write(json.dumps(line) + "\n")
