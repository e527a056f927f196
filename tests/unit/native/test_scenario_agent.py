"""The fake itself: it misbehaves as told, the run survives, and its journal is the truth."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.protocol.events import Notice, Plan, ToolUseEnd, Usage
from jupyter_agentchat.providers.conformance import Played, play
from tests.unit.native.scenario_subject import make_agent, make_request, open_adapter


def perform(folder: Path, steps: list[Any], *arguments: str, **changes: Any) -> Played:
    """One run of the script."""

    async def main() -> Played:
        async with open_adapter(folder, make_agent(*arguments)) as adapter:
            return await play(adapter, make_request(folder, steps, **changes))

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("step", "notices"),
    [
        ("bad_bytes", 1),
        ("nul", 1),
        ({"deep_json": 100_000}, 1),
        ("unknown_type", 1),
        ({"huge_line": 17_000_000}, 1),
        ({"huge_line": 15_000_000}, 0),
        ({"stderr": 1_000_000}, 0),
        ({"raw": ""}, 0),
        ({"burst": 5_000, "text": "tiny "}, 0),
    ],
    ids=str,
)
def test_a_run_survives_misbehaviour(tmp_path: Path, step: Any, notices: int) -> None:
    played = perform(tmp_path, [step, {"say": "still here"}])
    assert played.outcome == "completed"
    assert played.text.endswith("still here")
    assert len(played.of(Notice)) == notices


def test_content_steps_bring_what_they_say(tmp_path: Path) -> None:
    steps = [
        {"plan": [{"text": "one", "status": "in_progress"}]},
        {"diff": {"path": "a.txt", "new": "b\n"}, "write": True},
        {"tool": {"output": 64_000, "updates": ["0123"]}},
        {"usage": {"output_tokens": 7}},
        {"stamp": 3, "rate": 1000},
        {"say": "{model} {session}"},
    ]
    played = perform(tmp_path, steps, model="m1", provider_session_id="kept")
    assert played.outcome == "completed"
    assert played.of(Plan)[0].entries[0].text == "one"
    edit, shell = played.of(ToolUseEnd)
    assert edit.diffs[0].new == (tmp_path / "a.txt").read_text() == "b\n"
    assert len(shell.output[0].model_dump()["text"]) == 64_000
    assert played.of(Usage)[0].output_tokens == 7
    *stamps, words, session = played.text.split()
    assert stamps == sorted(stamps, key=int)
    assert (words, session) == ("m1", "kept")


def test_its_journal_holds_every_line_that_anybody_saw(tmp_path: Path) -> None:
    async def main() -> None:
        journal = tmp_path / "journal"
        async with open_adapter(tmp_path, make_agent("--journal", str(journal))) as adapter:
            steps = [{"say": "a b c"}, {"burst": 100}, {"die": 9}]
            played = await play(adapter, make_request(tmp_path, steps))
            assert played.failure
            lines = journal.read_text().splitlines()
            assert len(lines) == 1 + 1 + 4 + 101
            assert len(played.bodies) == len(lines) - 1
            assert played.offsets[-1] == sum(len(line.encode()) + 1 for line in lines)

    asyncio.run(main())


def test_a_script_can_come_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"say": "from the file"}]')
    played = perform(tmp_path, [], "--script", str(script))
    assert played.text == ""
    echoed = asyncio.run(_plain(tmp_path, script))
    assert echoed.text == "from the file"


async def _plain(folder: Path, script: Path) -> Played:
    async with open_adapter(folder, make_agent("--script", str(script))) as adapter:
        return await play(adapter, make_request(folder, "any prompt"))
