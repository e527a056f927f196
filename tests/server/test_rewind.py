"""Rewind and undo with the real server: conversation, files and queue, together and never half."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Rest
from tests.unit.workspace.project_tree import Editor, photo


class Chat:
    """A chat in a project of its own, whose agent does what the prompt says."""

    def __init__(self, rest: Rest, chat_id: str, root: Path) -> None:
        self.rest = rest
        self.id = chat_id
        self.root = root
        self._count = 0

    async def send(self, *steps: Any, **fields: Any) -> dict[str, Any]:
        self._count += 1
        text = f"prompt {self._count} scenario: {json.dumps(steps)}"
        body = {"client_id": f"p{self._count}", "text": text, **fields}
        return dict(await self.rest.ok("POST", f"chats/{self.id}/prompts", body))

    async def run(self, *steps: Any) -> int:
        """Send, wait for the end; the prompt's seq."""
        before = len(await self.prompts())
        await self.send(*steps)
        await self.rest.until_idle(self.id)
        return (await self.prompts())[before]["seq"]

    async def prompts(self) -> list[dict[str, Any]]:
        return [e for e in await self.rest.events(self.id) if e["type"] == "user"]

    async def rewind(self, seq: int, files: str = "restore", **fields: Any) -> dict[str, Any]:
        body = {"seq": seq, "files": files, **fields}
        return dict(await self.rest.ok("POST", f"chats/{self.id}/rewind", body))

    async def undo(self) -> dict[str, Any]:
        return dict(await self.rest.ok("POST", f"chats/{self.id}/rewind/undo"))

    async def said(self) -> list[str]:
        return [e["text"] for e in await self.rest.events(self.id) if e["type"] == "assistant_text"]


@pytest.fixture
def chat(rest: Rest, jp_root_dir: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Chat:
    root = jp_root_dir / "project"
    root.mkdir()
    chat_id = jp_asyncio_loop.run_until_complete(rest.new_chat(project="project"))
    return Chat(rest, chat_id, root)


def write(path: str, text: str) -> dict[str, Any]:
    return {"write_file": {"path": path, "text": text}}


async def test_a_rewind_brings_back_conversation_files_and_prompt_and_the_undo_all_of_it(
    chat: Chat,
) -> None:
    (chat.root / "notebook.ipynb").write_text('{"cells": []}')
    (chat.root / "old.txt").write_text("old")
    await chat.run({"say": "first"})
    start = photo(chat.root)
    log = await chat.rest.events(chat.id)
    seq = await chat.run(
        write("notebook.ipynb", '{"cells": [1]}'),
        write("new/file.txt", "new"),
        {"delete_file": "old.txt"},
        {"say": "second"},
    )
    after, whole = photo(chat.root), await chat.rest.events(chat.id)

    looked = await chat.rewind(seq, dry_run=True)
    assert looked["files"] == [
        {"path": "new/file.txt", "change": "delete", "added": 0, "removed": 1},
        {"path": "notebook.ipynb", "change": "restore", "added": None, "removed": None},
        {"path": "old.txt", "change": "create", "added": 1, "removed": 0},
    ]
    assert (looked["kept"], looked["undo"]) == ([], False)
    assert photo(chat.root) == after
    assert await chat.rest.events(chat.id) == whole

    done = await chat.rewind(seq)
    assert [(file["path"], file["change"]) for file in done["files"]] == [
        (file["path"], file["change"]) for file in looked["files"]
    ]
    assert done["prompt"]["text"].startswith("prompt 2 scenario:")
    assert (done["method"], done["undo"]) == ("transcript", True)
    assert photo(chat.root) == start
    *left, rewound = await chat.rest.events(chat.id)
    assert left == log
    assert rewound["type"] == "rewound"
    assert (rewound["from_seq"], rewound["to_seq"]) == (seq, whole[-1]["seq"])
    assert sorted(rewound["files_restored"]) == ["new/file.txt", "notebook.ipynb", "old.txt"]
    state = await chat.rest.ok("GET", f"chats/{chat.id}")
    assert state["sessions"] == {}
    assert state["unread"] is False

    undone = await chat.undo()
    assert (undone["method"], undone["kept"]) == ("native", [])
    assert photo(chat.root) == after
    events = await chat.rest.events(chat.id)
    assert events[: len(whole)] == whole
    assert [e["type"] for e in events[len(whole) :]] == ["rewound", "rewind_undone"]
    state = await chat.rest.ok("GET", f"chats/{chat.id}")
    assert state["sessions"] == {"scenario": f"scenario-{chat.id}"}


async def test_after_a_rewind_the_agent_knows_only_what_is_left(chat: Chat) -> None:
    await chat.run({"say": "kept words"})
    seq = await chat.run({"say": "cut words"})
    await chat.rewind(seq)
    await chat.run({"say": "session {session}, transcript {transcript}"})
    text = (await chat.said())[-1]
    assert "kept words" in text
    assert "cut words" not in text
    events = await chat.rest.events(chat.id)
    assert events[-1]["seq"] > seq
    assert [e["continuation"] for e in events if e["type"] == "run_started"][-1] == "transcript"
    status, answer = await chat.rest.call("POST", f"chats/{chat.id}/rewind/undo")
    assert (status, answer["error"]["code"]) == (409, "stale")
    page = await chat.rest.ok("GET", f"chats/{chat.id}/events", include="cut", limit="2000")
    assert any(e.get("text") == "cut words" for e in page["events"]), "the branch stays in the log"


async def test_a_persons_own_change_is_listed_kept_and_overwritten_only_when_allowed(
    chat: Chat,
) -> None:
    mine = chat.root / "mine.txt"
    mine.write_text("before")
    seq = await chat.run(write("mine.txt", "agent"), write("other.txt", "agent"))
    await asyncio.sleep(0.05)  # clocks of files tick slowly
    mine.write_text("my own")
    looked = await chat.rewind(seq, dry_run=True)
    assert [(k["path"], k["overwritable"]) for k in looked["kept"]] == [("mine.txt", True)]
    done = await chat.rewind(seq)
    assert [f["path"] for f in done["files"]] == ["other.txt"]
    assert mine.read_text() == "my own"
    await chat.undo()
    done = await chat.rewind(seq, overwrite=["mine.txt"])
    assert done["kept"] == []
    assert mine.read_text() == "before"
    await chat.undo()
    assert mine.read_text() == "my own"


async def test_files_are_left_alone_when_a_person_says_so(chat: Chat) -> None:
    seq = await chat.run(write("a.txt", "agent"))
    done = await chat.rewind(seq, files="keep")
    assert (done["files"], done["kept"]) == ([], [])
    assert (chat.root / "a.txt").read_text() == "agent"


async def test_nested_rewinds_are_undone_one_after_the_other(chat: Chat) -> None:
    seqs = [await chat.run(write("a.txt", str(n)), {"say": f"n{n}"}) for n in range(4)]
    whole = await chat.said()
    await chat.rewind(seqs[3])
    await chat.rewind(seqs[2], files="keep")
    await chat.rewind(seqs[1])
    assert (chat.root / "a.txt").read_text() == "0"
    assert await chat.said() == whole[:1]
    undone = await chat.undo()
    assert undone["undo"] is True
    assert (chat.root / "a.txt").read_text() == "2"
    assert await chat.said() == whole[:2]
    await chat.undo()
    assert await chat.said() == whole[:3]
    undone = await chat.undo()
    assert undone["undo"] is False
    assert (chat.root / "a.txt").read_text() == "3"
    assert await chat.said() == whole
    status, _ = await chat.rest.call("POST", f"chats/{chat.id}/rewind/undo")
    assert status == 409
    await chat.rewind(seqs[0])
    assert await chat.said() == []
    assert not (chat.root / "a.txt").exists()


async def test_the_queue_is_cleared_and_the_undo_puts_it_back(chat: Chat) -> None:
    seq = await chat.run({"say": "one"})
    await chat.rest.ok("POST", f"chats/{chat.id}/queue/pause")
    for _ in range(2):
        await chat.send({"say": "queued"}, delivery="queue")
    await chat.rest.ok("POST", f"chats/{chat.id}/queue/pause")
    queued = (await chat.rest.ok("GET", f"chats/{chat.id}/queue"))["queue"]
    assert len(queued) == 2
    done = await chat.rewind(seq)
    assert [item["id"] for item in done["queue"]] == [item["id"] for item in queued]
    assert (await chat.rest.ok("GET", f"chats/{chat.id}/queue"))["queue"] == []
    undone = await chat.undo()
    assert [item["text"] for item in undone["queue"]] == [item["text"] for item in queued]
    again = await chat.rest.ok("GET", f"chats/{chat.id}/queue")
    assert [item["text"] for item in again["queue"]] == [item["text"] for item in queued]
    assert again["paused"] is True


@pytest.mark.parametrize("seq", [0, 2, 10_000])
async def test_only_a_prompt_that_is_there_can_be_rewound_to(chat: Chat, seq: int) -> None:
    await chat.run({"say": "one"})
    status, answer = await chat.rest.call(
        "POST", f"chats/{chat.id}/rewind", {"seq": seq, "files": "keep"}
    )
    assert (status, answer["error"]["code"]) == (400, "bad_request")


async def test_what_was_cut_cannot_be_rewound_to(chat: Chat) -> None:
    await chat.run({"say": "one"})
    seq = await chat.run({"say": "two"})
    await chat.rewind(seq)
    status, _ = await chat.rest.call("POST", f"chats/{chat.id}/rewind", {"seq": seq})
    assert status == 400


async def test_a_running_chat_is_not_rewound(chat: Chat) -> None:
    seq = await chat.run({"say": "one"})
    await chat.send({"sleep": 30})
    status, answer = await chat.rest.call("POST", f"chats/{chat.id}/rewind", {"seq": seq})
    assert (status, answer["error"]["code"]) == (409, "busy")
    status, answer = await chat.rest.call("POST", f"chats/{chat.id}/rewind/undo")
    assert (status, answer["error"]["code"]) == (409, "busy")
    await chat.rest.ok("POST", f"chats/{chat.id}/cancel")
    await chat.rest.until_idle(chat.id)


async def test_a_message_into_a_running_turn_takes_its_whole_turn(chat: Chat) -> None:
    await chat.run({"say": "one"})
    await chat.send({"say": "working"}, {"sleep": 30})
    for _ in range(500):
        if "working" in await chat.said():
            break
        await asyncio.sleep(0.02)
    body = {"client_id": "s", "text": "look here", "delivery": "steer"}
    await chat.rest.ok("POST", f"chats/{chat.id}/prompts", body)
    await chat.rest.ok("POST", f"chats/{chat.id}/cancel")
    await chat.rest.until_idle(chat.id)
    prompts = await chat.prompts()
    steered = prompts[-1]
    assert steered["origin"] == "steered"
    done = await chat.rewind(steered["seq"])
    assert done["prompt"]["text"].startswith("prompt 2")
    assert done["prompt"]["text"].endswith("\n\nlook here")
    assert [e["seq"] for e in await chat.prompts()] == [prompts[0]["seq"]]


async def test_followers_are_told(chat: Chat, open_socket: Any) -> None:
    seq = await chat.run({"say": "one"})
    socket = await open_socket()
    await socket.subscribe(chat.id)
    await chat.rewind(seq)
    frame = await socket.until(
        lambda f: f["type"] == "events" and f["events"][-1]["type"] == "rewound"
    )
    assert frame["events"][-1]["from_seq"] == seq


@pytest.mark.parametrize("seed", range(3))
async def test_random_work_is_undone_byte_for_byte(chat: Chat, seed: int) -> None:
    chance = random.Random(seed)
    editor = Editor(chat.root, chance)
    editor.edit(20)
    seqs = []
    for _ in range(3):
        files = [
            write(f"{chance.choice('abc')}/{chance.randrange(3)}.x", str(chance.random()))
            for _ in range(4)
        ]
        folder_ok = all(
            not (chat.root / name).exists() or (chat.root / name).is_dir() for name in "abc"
        )
        assert folder_ok
        seqs.append(await chat.run(*files))
        await asyncio.sleep(0.05)
        if chance.random() < 0.5:
            editor.edit(3)
    present, log = photo(chat.root), await chat.rest.events(chat.id)
    await chat.rewind(chance.choice(seqs))
    undone = await chat.undo()
    assert undone["kept"] == []
    assert photo(chat.root) == present
    assert (await chat.rest.events(chat.id))[: len(log)] == log


async def test_the_status_says_that_it_can_be_done(rest: Rest) -> None:
    features = (await rest.ok("GET", "status"))["features"]
    assert features["rewind"] is True
    assert features["fork"] is True
