"""Images that come with a prompt."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from jupyter_agentchat.protocol.resources import Attachment
from jupyter_agentchat.providers.claude.prompts import content_of, prompt_uuid, user_line
from tests.waiting import until

from .scripted import init, result
from .stage import Play, Stage
from .test_launch import make_request

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def attached(path: Path, **more: Any) -> Attachment:
    given = {"id": path.name, "name": path.name, "path": str(path), "kind": "image", **more}
    return Attachment.model_validate(given)


def picture(folder: Path, name: str = "plot.png") -> Path:
    path = folder / name
    path.write_bytes(PNG)
    return path


def test_an_image_reaches_the_model_and_is_named_by_its_path(tmp_path: Path) -> None:
    path = picture(tmp_path)
    request = make_request(prompt="What is this?", attachments=[attached(path)])
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    text = f"What is this?\n\nAttached image: {path}"
    blocks = [{"type": "text", "text": text}, {"type": "image", "source": source}]
    assert user_line(request)["message"] == {"role": "user", "content": blocks}
    told = request.model_copy(update={"transcript": "Before: x\n"})
    before = {"type": "text", "text": "Before: x\n"}
    assert user_line(told)["message"] == {"role": "user", "content": [before, *blocks]}


def test_what_the_model_cannot_take_is_named_only(tmp_path: Path) -> None:
    large, vector = tmp_path / "large.png", tmp_path / "drawing.svg"
    with large.open("wb") as file:
        file.truncate(6 * 1024 * 1024)
    vector.write_text("<svg/>")
    images = [attached(large), attached(vector), attached(tmp_path / "gone.png")]
    content = content_of("Look", images)
    assert isinstance(content, list)
    (text,) = content
    assert isinstance(text, dict)
    assert all(name in str(text["text"]) for name in ("large.png", "drawing.svg", "gone.png"))


def test_other_attachments_are_not_read(tmp_path: Path) -> None:
    path = picture(tmp_path)
    assert content_of("Look", [attached(path, kind="file")]) == "Look"


def test_an_image_alone_is_a_prompt(play: Play) -> None:
    async def act(stage: Stage) -> None:
        path = picture(stage.project)
        run = await stage.start(prompt="", attachments=[attached(path)])
        (sent,) = [line for line in stage.cli.heard if line["type"] == "user"]
        assert sent["uuid"] == prompt_uuid("r")
        assert [block["type"] for block in sent["message"]["content"]] == ["text", "image"]
        stage.cli.say(init(), result())
        assert (await stage.follow(run))[-1] == "complete"

    play(act)


def test_an_image_can_be_sent_into_a_running_turn(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        life = {"type": "command_lifecycle", "command_uuid": prompt_uuid("r"), "state": "started"}
        stage.cli.say(life, init())
        await until(lambda: run.can_steer)
        assert await run.steer("And this?", [attached(picture(stage.project))])
        content = stage.cli.heard[-1]["message"]["content"]
        assert [block["type"] for block in content] == ["text", "image"]

    play(act)
