"""The agent that docs/protocol.md shows is a real one."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from .command import make_home

pytestmark = pytest.mark.timeout(120)  # starts a server

PREFACE = Path(__file__).parents[2] / "jupyter_agentchat" / "protocol" / "preface.md"


def test_the_example_agent_answers_in_at_most_25_lines(tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", PREFACE.read_text("utf-8"), re.DOTALL)[0]
    assert code.count("\n") <= 25
    program = tmp_path / "echo.py"
    program.write_text(code)
    echo = {"kind": "native", "name": "Echo", "command": [sys.executable, str(program)]}
    home = make_home(tmp_path, provider_settings={"echo": echo})
    done = home.run("send", "say something", "--agent", "echo")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"I am in {home.project} and was told: say something \n"
