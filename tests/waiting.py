"""Waits in tests, on facts instead of times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object], *, timeout_s: float = 20.0) -> None:
    """Return once `condition` holds; AssertionError when it does not in `timeout_s` seconds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout_s
    while not condition():
        assert loop.time() < end, "what the test waits for did not happen"
        await asyncio.sleep(0.001)
