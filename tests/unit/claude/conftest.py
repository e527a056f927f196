"""A stage for each test of the Claude adapter."""

from __future__ import annotations

from pathlib import Path

import pytest

from .stage import Play, playing


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """`play(act)` acts on a stage of this test's own."""
    return playing(tmp_path)
