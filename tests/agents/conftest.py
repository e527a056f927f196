"""The real CLIs, each against a fake model server, in a home and a project of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents.claude_agent import Place
from tests.fakes.fake_anthropic import FakeAnthropic


@pytest.fixture
def fake_anthropic() -> Iterator[FakeAnthropic]:
    """A fake model server on a free port."""
    with FakeAnthropic() as fake:
        yield fake


@pytest.fixture
def place(
    agent_program: Callable[[str], Path], fake_anthropic: FakeAnthropic, tmp_path: Path
) -> Place:
    """Where the Claude Code CLI of one test lives."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    return Place(agent_program("claude"), fake_anthropic, home, project)
