"""What every test gets: an environment without anything of the developer's, and honest skips."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Never

import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server"]

ROOT = Path(__file__).parent.parent

# Keys, tokens, proxies and JUPYTER_* of whoever runs the tests must reach no server and no agent.
KEPT = re.compile(
    r"PATH|TMPDIR|TZ|LANG|LC_\w+|TERM|COLUMNS|CI|VIRTUAL_ENV|PYTHON\w+|PYTEST_\w+|CHROMIUM"
    r"|REQUIRE_\w+|GOLDENS|PICTURES"
)

# Where `make agents` puts each CLI, and the version that the tests were written against.
PROGRAMS = {
    "claude": (".clis/claude/claude_agent_sdk/_bundled/claude", "2.1.332"),
    "codex": (
        ".clis/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        "0.171.0",
    ),
}

outer_environment: pytest.StashKey[dict[str, str]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Leave only `KEPT` in the environment, and an empty HOME."""
    config.stash[outer_environment] = dict(os.environ)
    for name in set(os.environ):
        if not KEPT.fullmatch(name):
            del os.environ[name]
    os.environ["HOME"] = tempfile.mkdtemp(prefix="agentchat-home-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Put the environment back and remove the HOME that was made for the tests."""
    outer = config.stash.get(outer_environment, None)
    if outer is not None:
        shutil.rmtree(os.environ["HOME"], ignore_errors=True)
        os.environ.clear()
        os.environ.update(outer)


def missing(what: str, remedy: str, switch: str) -> Never:
    """Skip, saying how to get `what`; where the variable `switch` is set (CI), fail instead."""
    reason = f"{what} is missing: {remedy}"
    if os.environ.get(switch):
        pytest.fail(f"{reason} ({switch}={os.environ[switch]})", pytrace=False)
    pytest.skip(reason)


def missing_agent(agent: str) -> Never:
    """The same for a CLI: it fails where REQUIRE_AGENTS names it; 1 stands for all."""
    reason = f"the {agent} CLI is missing: make agents AGENTS={agent}"
    required = os.environ.get("REQUIRE_AGENTS", "").split()
    if agent in required or "1" in required:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def installer_environment(pytestconfig: pytest.Config) -> dict[str, str]:
    """The environment that pytest was started in, for pip alone: it knows index and cache."""
    return dict(pytestconfig.stash[outer_environment])


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the system's Chromium: `$CHROMIUM`, else the first one on PATH."""
    named = os.environ.get("CHROMIUM")
    for name in [named] if named else ["chromium", "chromium-browser", "google-chrome"]:
        if path := shutil.which(name):
            return path
    missing("Chromium", "apt-get install chromium, or set CHROMIUM to its path", "REQUIRE_BROWSER")


@pytest.fixture(scope="session")
def agent_program() -> Callable[[str], Path]:
    """`agent_program("claude")` is the path of the real, pinned CLI that `make agents` installed.

    Fails when the installed version is another than the tests were written against.
    """
    checked: dict[str, Path] = {}

    def program(agent: str) -> Path:
        if agent not in checked:
            relative, version = PROGRAMS[agent]
            path = ROOT / relative
            if not path.exists():
                missing_agent(agent)
            said = subprocess.run(
                [path, "--version"],
                env={"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin", "TERM": "dumb"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            ).stdout
            if version not in said:
                pytest.fail(f"{path} says {said!r}, expected {version}: make agents", pytrace=False)
            checked[agent] = path
        return checked[agent]

    return program
