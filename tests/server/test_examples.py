"""The example notebooks run from top to bottom, each in an empty folder with an empty HOME."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.mark.timeout(180)
@pytest.mark.parametrize("notebook", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_an_example_runs_from_top_to_bottom(notebook: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    copy = tmp_path / "project" / notebook.name
    copy.write_text(notebook.read_text())
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "nbconvert", "--execute", "--inplace", str(copy)],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "AGENTCHAT_TOUR_PACE": "0",
        },
        cwd=copy.parent,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
