"""`jupyter agentchat doctor`: what a person is told whose agent does not come up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .command import Home, make_home

pytestmark = pytest.mark.timeout(180)  # a server of its own for each command


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = make_home(tmp_path)
    yield home
    home.close()


def test_every_agent_is_told_with_the_reason_why_it_cannot_be_used(home: Home) -> None:
    done = home.run("doctor")
    assert done.returncode == 0, done.stderr
    told = {line.split(" · ")[0]: line for line in done.stdout.splitlines() if line[:1] != " "}
    scenario = next(line for name, line in told.items() if name.endswith("(scenario)"))
    assert scenario.endswith("· ready · version 1.0")
    assert "· not installed" in next(line for name, line in told.items() if "(absent)" in name)
    # the next line says why
    lines = done.stdout.splitlines()
    absent = next(at for at, line in enumerate(lines) if "(absent)" in line)
    assert lines[absent + 1].startswith("    ")


def test_one_agent_that_is_missing_ends_with_the_code_for_that(home: Home) -> None:
    done = home.run("doctor", "--agent", "absent", "--json")
    assert done.returncode == 5
    provider = json.loads(done.stdout)
    assert (provider["id"], provider["state"], provider["available"]) == (
        "absent",
        "missing",
        False,
    )
    assert home.run("doctor", "--agent", "nobody").returncode == 5


def test_what_an_agent_can_do_is_told_when_asked_for(home: Home) -> None:
    done = home.run("doctor", "--agent", "scenario", "--verbose")
    assert done.returncode == 0
    assert "    can: " in done.stdout
    assert "    permissions: read_only, ask, accept_edits, full" in done.stdout
