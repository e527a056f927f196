"""Rewind over a CLI that the test plays: its refusals, and what is made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ProcessExited
from jupyter_agentchat.providers.claude.prompts import prompt_uuid
from jupyter_agentchat.providers.claude.record import read_record

from .scripted import Json, init
from .stage import HELLO, OLD, Play, Stage
from .test_commands import answered, life

ONE, TWO = prompt_uuid("r1"), prompt_uuid("r2")
DONE: Json = {"response": {"rewound": True}}
UNSUPPORTED: Json = {
    "subtype": "error",
    "error": "Unsupported control request subtype: rewind_conversation",
    "error_code": "unsupported_request",
}


def refused(reason: str) -> Json:
    """A refusal, which the CLI calls a success."""
    return {"response": {"rewound": False, "reason": reason}}


async def _talked(stage: Stage, *answers: Json) -> None:
    """Two runs in a warm process that will answer so to `rewind_conversation`."""
    for run_id, prompt in (("r1", ONE), ("r2", TWO)):
        session = OLD if run_id == "r2" else None
        run = await stage.start(run_id=run_id, provider_session_id=session)
        stage.cli.say(life(prompt, "queued"), init(OLD), HELLO, answered(prompt, session_id=OLD))
        await stage.follow(run)
    stage.cli.payloads["rewind_conversation"] = list(answers)


async def _rewind(stage: Stage, *run_ids: str) -> bool:
    request = stage.request(provider_session_id=OLD)
    return await stage.adapter.rewinder.rewind(request, stage.context(), list(run_ids))


def _requests(stage: Stage) -> list[tuple[Any, Any]]:
    return [
        (request["target_message_uuid"], request["last_seen_user_message_uuid"])
        for request in stage.cli.requests("rewind_conversation")
    ]


def _write_record(stage: Stage, *messages: Json | str) -> None:
    folder = stage.project / ".claude" / "projects" / "-somewhere"
    folder.mkdir(parents=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in messages]
    (folder / f"{OLD}.jsonl").write_text("\n".join(lines))


def _said(uuid: str, content: Any = "Do it") -> Json:
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}}


def test_a_cut_names_the_first_prompt_to_go_and_the_newest_that_there_is(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage, DONE)
        assert await _rewind(stage, "r1", "r2")
        assert _requests(stage) == [(ONE, TWO)]
        assert len(stage.launcher.handles) == 1

    play(act)


def test_what_was_cut_is_not_the_newest_any_more(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage, DONE, DONE)
        assert await _rewind(stage, "r2")
        assert await _rewind(stage, "r1")
        assert _requests(stage) == [(TWO, TWO), (ONE, ONE)]

    play(act)


def test_the_newest_is_looked_up_in_the_record(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage, *[refused("unseen_later_turn")] * 2, DONE)
        result_line = _said("u-result", [{"type": "tool_result", "tool_use_id": "t"}])
        _write_record(stage, _said(ONE), _said(TWO), "{torn", _said("u-new"), result_line)
        assert await _rewind(stage, "r2")
        assert _requests(stage) == [(TWO, TWO), (TWO, ONE), (TWO, "u-new")]

    play(act)


@pytest.mark.parametrize("reason", ["turn_running", "from_the_future", "unseen_later_turn"])
def test_a_refusal_leaves_it_to_the_hub(play: Play, reason: str) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage, *[refused(reason)] * 9)
        assert not await _rewind(stage, "r2")

    play(act)


def test_a_cli_that_cannot_rewind_leaves_it_to_the_hub(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage, UNSUPPORTED)
        assert not await _rewind(stage, "r2")

    play(act)


def test_a_prompt_that_is_in_no_record_needs_no_cut(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage, refused("target_not_found"), DONE)
        _write_record(stage, _said(ONE), _said(TWO))
        assert await _rewind(stage, "never", "r2")
        assert [target for target, _ in _requests(stage)] == [prompt_uuid("never"), TWO]

    play(act)


@pytest.mark.parametrize("recorded", [True, False])
def test_a_prompt_that_the_cli_has_put_away_is_not_forgotten(play: Play, recorded: bool) -> None:
    """It is in the record, or nobody knows: a summary of it may be in the conversation."""

    async def act(stage: Stage) -> None:
        await _talked(stage, *[refused("target_not_found")] * 4)
        if recorded:
            _write_record(stage, _said(ONE), _said(TWO))
        assert not await _rewind(stage, "r1", "r2")

    play(act)


def test_without_a_conversation_there_is_nothing_to_cut(play: Play) -> None:
    async def act(stage: Stage) -> None:
        rewinder = stage.adapter.rewinder
        assert not await rewinder.rewind(stage.request(), stage.context(), ["r1"])
        assert await rewinder.preview_files(stage.request(), stage.context(), "r1") == []
        assert stage.launcher.handles == []

    play(act)


def test_a_cli_that_dies_of_it_is_told(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage)
        stage.launcher.handles[-1].answers_control = False

        def die(cli: Any, message: Json) -> None:
            cli.die(3, "out of luck")

        stage.cli.act = die
        with pytest.raises(ProcessExited):
            await _rewind(stage, "r2")

    play(act)


def test_a_run_that_goes_on_is_left_alone(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage)
        run = await stage.start(run_id="r3", provider_session_id=OLD)
        request, rewinder = stage.request(provider_session_id=OLD), stage.adapter.rewinder
        assert not await _rewind(stage, "r2")
        assert await rewinder.preview_files(request, stage.context(), "r1") == []
        assert stage.cli.ladders == []
        stage.cli.say(init(OLD), HELLO, answered(prompt_uuid("r3")))
        assert (await stage.follow(run))[-1] == "complete"

    play(act)


def test_files_are_listed_relative_to_the_project_and_restored_once(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage)
        changed = [str(stage.project / "b.txt"), "/elsewhere/a.txt"]
        dry: Json = {"response": {"canRewind": True, "filesChanged": changed}}
        stage.cli.payloads["rewind_files"] = [dry, dry, {"response": {"canRewind": True}}]
        request, rewinder = stage.request(provider_session_id=OLD), stage.adapter.rewinder
        expected = ["/elsewhere/a.txt", "b.txt"]
        assert await rewinder.preview_files(request, stage.context(), "r1") == expected
        assert await rewinder.restore_files(request, stage.context(), "r1") == expected
        asked = stage.cli.requests("rewind_files")
        assert [one["dry_run"] for one in asked] == [True, True, False]
        assert {one["user_message_id"] for one in asked} == {ONE}

    play(act)


@pytest.mark.parametrize("answer", [UNSUPPORTED, {"response": {"canRewind": False}}])
def test_without_a_checkpoint_no_file_is_touched(play: Play, answer: Json) -> None:
    async def act(stage: Stage) -> None:
        await _talked(stage)
        stage.cli.payloads["rewind_files"] = [answer]
        request = stage.request(provider_session_id=OLD)
        assert await stage.adapter.rewinder.restore_files(request, stage.context(), "r1") == []
        assert len(stage.cli.requests("rewind_files")) == 1

    play(act)


# ---- the record


def test_a_record_is_found_where_the_cli_keeps_it(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "projects" / "x"
    folder.mkdir(parents=True)
    (folder / f"{OLD}.jsonl").write_bytes(
        json.dumps(_said("u-1")).encode()
        + b'\n\xff\xfe\n[1]\n{"type":"user"}\n{"type":"user","uuid":7}\n'
        + json.dumps({"type": "assistant", "uuid": "a-1"}).encode()
        + b'\n{"type":"user","uuid":"torn'
    )
    record = read_record({"CLAUDE_CONFIG_DIR": str(tmp_path / "config")}, OLD)
    assert record is not None
    assert record.uuids == {"u-1", "a-1"}
    assert record.said == ["u-1"]


@pytest.mark.parametrize("session_id", ["../../etc/passwd", "*", "", OLD])
def test_what_is_no_record_is_none(tmp_path: Path, session_id: str) -> None:
    assert read_record({"HOME": str(tmp_path)}, session_id) is None


def test_a_record_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "x"
    folder.mkdir(parents=True)
    outside = tmp_path / "outside.jsonl"
    outside.write_text(json.dumps(_said("u-1")))
    (folder / f"{OLD}.jsonl").symlink_to(outside)
    assert read_record({"HOME": str(tmp_path)}, OLD) is None
