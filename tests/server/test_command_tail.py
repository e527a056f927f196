"""`jupyter agentchat tail` and `export`: a chat read, followed and written from a terminal."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest

from .command import DEADLINE_S, RunningServer, make_home, script

pytestmark = pytest.mark.timeout(180)  # a real server and a new process for each command


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("tail")
    running = RunningServer(make_home(folder), folder / "log")
    yield running
    running.home.close()
    running.stop()


@pytest.fixture(scope="module")
def chat_id(server: RunningServer) -> str:
    """A chat of two turns."""
    server.home.run("send", "first of the tail", "--agent", "scenario")
    chats = server.call("GET", "chats")["chats"]
    found = str(next(chat["id"] for chat in chats if chat["title"] == "first of the tail"))
    server.home.run("send", "second", "--chat", found)
    return found


def test_the_last_turns_are_shown_with_their_prompts(server: RunningServer, chat_id: str) -> None:
    done = server.home.run("tail", chat_id, "-n", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "You said: second\n"
    assert "You: second" in done.stderr
    assert "first" not in done.stdout + done.stderr
    both = server.home.run("tail", chat_id)
    assert both.stdout.index("You said: first of the tail") < both.stdout.index("You said: second")


def test_a_followed_chat_shows_what_comes_until_ctrl_c(server: RunningServer, chat_id: str) -> None:
    watcher = server.home.start("tail", chat_id, "--follow", "--json")
    assert watcher.stdout is not None
    seen = [json.loads(watcher.stdout.readline())]
    text = script({"say": "while you look"})
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "t1", "text": text})
    while not (seen[-1]["type"] == "complete" and any(e.get("text") == text for e in seen)):
        seen.append(json.loads(watcher.stdout.readline()))
    seqs = [event["seq"] for event in seen]
    assert seqs == sorted(set(seqs))
    watcher.send_signal(signal.SIGINT)
    watcher.communicate(timeout=DEADLINE_S)
    assert watcher.returncode == 0


def test_a_chat_is_written_whole_to_a_file_or_to_stdout(
    server: RunningServer, chat_id: str
) -> None:
    target = server.home.project / "chat.jsonl"
    done = server.home.run("export", chat_id, "-o", str(target))
    assert done.returncode == 0, done.stderr
    head, *events = [json.loads(line) for line in target.read_text().splitlines()]
    assert head["id"] == chat_id
    page = server.call("GET", f"chats/{chat_id}/events?limit=2000")
    assert events == page["events"]
    assert [path.name for path in target.parent.glob(".*part")] == []
    markdown = server.home.run("export", chat_id, "--format", "md")
    assert markdown.stdout.startswith("# first of the tail\n")
    assert "You said: second" in markdown.stdout


def test_a_chat_that_is_not_there_is_said_and_no_file_is_left(server: RunningServer) -> None:
    target = server.home.project / "nothing.jsonl"
    done = server.home.run("export", "nothing", "-o", str(target))
    assert done.returncode == 1
    assert "no such chat" in done.stderr.lower() or "there is no" in done.stderr.lower()
    assert not target.exists()
    assert server.home.run("tail", "nothing").returncode == 1


def test_a_file_that_cannot_be_written_is_said(server: RunningServer, chat_id: str) -> None:
    done = server.home.run("export", chat_id, "-o", "/nowhere/at/all/chat.jsonl")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


def test_a_deleted_chat_is_listed_and_brought_back(server: RunningServer) -> None:
    server.home.run("send", "to be deleted", "--agent", "scenario")
    chats = server.call("GET", "chats")["chats"]
    chat_id = next(chat["id"] for chat in chats if chat["title"] == "to be deleted")
    server.call("DELETE", f"chats/{chat_id}")
    listed = server.home.run("chats", "--deleted").stdout
    assert [line.split()[0] for line in listed.splitlines()] == [chat_id]
    done = server.home.run("restore", chat_id)
    assert (done.returncode, "to be deleted" in done.stderr) == (0, True)
    assert server.home.run("chats", "--deleted").stdout == ""
    assert server.call("GET", f"chats/{chat_id}")["title"] == "to be deleted"
