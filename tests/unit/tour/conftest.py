"""A small project for the tour to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.tour.guest import README


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small project with things that a walk must leave alone."""
    root = tmp_path / "bike-demand"
    (root / "src").mkdir(parents=True)
    (root / "README.md").write_text(README)
    (root / "src" / "train.py").write_text("rides = 3\nprint(rides)\n")
    (root / "data.csv").write_text("hour,rides\n1,2\n")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("rides")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "rides.js").write_text("rides")
    (root / "picture.bin").write_bytes(b"\0\xffrides")
    (root / "link-out").symlink_to(tmp_path)
    return root
