"""The real CLIs, each against a fake model server, in a home and a project of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents import acp_agent, codex_agent, opencode_agent
from tests.agents.claude_agent import Place
from tests.fakes.fake_anthropic import FakeAnthropic
from tests.fakes.fake_models import FakeModels
from tests.fakes.fake_openai import FakeOpenAI


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


@pytest.fixture(params=acp_agent.AGENTS)
def acp_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[acp_agent.Place]:
    """Where one test's Gemini CLI or Qwen Code lives, against a fake model server."""
    agent = str(request.param)
    program = acp_agent.program(agent)
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    with FakeModels(str(project)) as fake:
        yield acp_agent.Place(agent, program, fake, home, project)


@pytest.fixture
def codex_place(
    agent_program: Callable[[str], Path], tmp_path: Path
) -> Iterator[codex_agent.Place]:
    """Where the Codex program of one test lives, against a fake model server."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    with FakeOpenAI() as fake:
        yield codex_agent.Place(agent_program("codex"), fake, home, project)


@pytest.fixture
def opencode_place(tmp_path: Path) -> Iterator[opencode_agent.Place]:
    """Where the opencode of one test lives, against a fake model server."""
    with opencode_agent.new_place(tmp_path) as place:
        yield place
