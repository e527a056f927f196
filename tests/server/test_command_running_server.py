"""`jupyter agentchat` beside a running server: it is used, and a person answers there."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.command.main import main

from .command import DEADLINE_S, RunningServer, eventually, make_home, script

pytestmark = pytest.mark.timeout(180)  # real servers and a new process for each command


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("running")
    running = RunningServer(make_home(folder), folder / "log")
    yield running
    running.home.close()
    running.stop()


def chat_of(server: RunningServer, title: str) -> dict[str, Any]:
    found = server.call("GET", "chats")["chats"]
    return next(chat for chat in found if chat["title"].startswith(title))


def test_the_running_server_is_used_and_only_the_answer_is_on_stdout(server: RunningServer) -> None:
    done = server.home.run("send", "-", "--agent", "scenario", stdin="hello from a pipe\n")
    assert (done.returncode, done.stdout) == (0, "You said: hello from a pipe\n"), done.stderr
    assert chat_of(server, "hello from a pipe")["project"] == ""


def test_a_chat_goes_on_where_it_stopped(server: RunningServer) -> None:
    server.home.run("send", "first of two", "--agent", "scenario")
    chat = chat_of(server, "first of two")
    done = server.home.run("send", "second", "--chat", chat["id"], "--mode", "review")
    assert done.stdout.startswith("You said: [Act as a reviewer.")
    assert done.stdout.endswith("second\n")
    assert server.call("GET", f"chats/{chat['id']}")["mode"] == "review"


def test_a_folder_below_is_the_chats_project(server: RunningServer) -> None:
    below = server.home.project / "deep" / "er"
    below.mkdir(parents=True)
    done = server.home.run("send", "from below", "--agent", "scenario", "--project", str(below))
    assert done.returncode == 0, done.stderr
    assert chat_of(server, "from below")["project"] == "deep/er"
    listed = server.home.run("chats", "--project", str(below)).stdout.splitlines()
    assert [line.split()[-2:] for line in listed] == [["from", "below"]]


def test_an_ask_waits_for_a_person_in_jupyterlab(server: RunningServer) -> None:
    steps = ({"ask": {"title": "May I?"}, "deny": [{"say": "So be it."}]},)
    running = server.home.start("send", script(*steps), "--agent", "scenario")
    assert running.stderr is not None
    assert running.stderr.readline() == "ask  May I?\n"
    where = running.stderr.readline()
    assert f"JupyterLab: {server.info['url']}lab" in where
    assert server.info["token"] not in where
    chat_id = where.rstrip(")\n").rsplit(" ", 1)[1]
    [ask] = server.call("GET", f"chats/{chat_id}/asks")["asks"]
    server.call("POST", f"chats/{chat_id}/asks/{ask['ask_id']}", {"decision": "deny"})
    out, _ = running.communicate(timeout=DEADLINE_S)
    assert (running.returncode, out) == (0, "So be it.\n")


def test_asks_are_denied_when_told_so(server: RunningServer) -> None:
    steps = ({"ask": {}, "allow": [{"say": "Bad."}], "deny": [{"say": "{answer}"}]},)
    done = server.home.run("send", script(*steps), "--agent", "scenario", "--on-ask", "deny")
    assert done.returncode == 0
    assert "told to deny" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["send", script({"fail": "It broke."}), "--agent", "scenario"], 1, "It broke."),
        (["send", "x", "--agent", "nobody"], 5, "Agents here: "),
        (["send", "x", "--agent", "absent"], 5, "agentchat-no-such-program"),
        (["send", "x", "--agent", "scenario", "--permission", "full"], 4, "JupyterLab"),
        (["send", "x", "--chat", "no-such-chat"], 1, "no such chat"),
        (["send", "x", "--project", "/no/such/folder"], 2, "no such folder"),
        (["send", "  "], 2, "nothing to send"),
        (["send", "x", "--mode", "dance"], 2, "invalid choice"),
        (["send", "x", "--chat", "c", "--project", "."], 2, "not allowed with"),
        (["send", "x", "--queue"], 2, "--chat ID"),
        (["send", "x", "--chat", "c", "--queue", "--steer"], 2, "not allowed with"),
        ([], 2, "required"),
    ],
)
def test_every_end_has_its_code_and_says_why(
    server: RunningServer, arguments: list[str], code: int, words: str
) -> None:
    done = server.home.run(*arguments)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_trust_is_decided_by_a_person_and_refused_by_anyone(server: RunningServer) -> None:
    folder = server.home.project / "with-hooks"
    folder.mkdir()
    (folder / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "touch"}}}')
    prompt = ("send", "x", "--agent", "scenario", "--project", str(folder))
    undecided = server.home.run(*prompt)
    assert undecided.returncode == 4
    assert "claude: mcp .mcp.json" in undecided.stderr
    assert server.home.run(*prompt, "--trust", "yes").returncode == 4
    assert server.home.run(*prompt, "--trust", "no").returncode == 0


def test_ctrl_c_stops_the_run_and_the_chat_is_free(server: RunningServer) -> None:
    prompt = script({"say": "begun\n"}, {"sleep": 600})
    running = server.home.start("send", prompt, "--agent", "scenario", "--json")
    assert running.stdout is not None
    assert any('"delta"' in line or '"final"' in line for line in running.stdout)
    running.send_signal(signal.SIGINT)
    out, said = running.communicate(timeout=DEADLINE_S)
    assert running.returncode == 3, said
    assert '"outcome": "cancelled"' in out
    assert all(chat["state"] == "idle" for chat in server.call("GET", "chats")["chats"])


@pytest.fixture
def busy_chat(server: RunningServer) -> Iterator[str]:
    """A chat whose agent works, until it is told to go on."""
    chat_id = str(server.call("POST", "chats", {"provider": "scenario"})["id"])
    steps = script({"say": "begun"}, {"ask": {}, "allow": []})
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "0", "text": steps})
    eventually(lambda: server.call("GET", f"chats/{chat_id}/asks")["asks"])
    yield chat_id
    server.call("POST", f"chats/{chat_id}/cancel", {})
    eventually(lambda: server.call("GET", f"chats/{chat_id}")["state"] == "idle")


def go_on(server: RunningServer, chat_id: str) -> None:
    for ask in server.call("GET", f"chats/{chat_id}/asks")["asks"]:
        deny = {"decision": "deny"}
        server.call("POST", f"chats/{chat_id}/asks/{ask['ask_id']}", deny)


def test_a_prompt_for_a_busy_chat_waits_for_its_turn_and_is_shown_then(
    server: RunningServer, busy_chat: str
) -> None:
    running = server.home.start("send", "my turn", "--chat", busy_chat, "--on-ask", "deny")
    assert running.stderr is not None
    assert "waits in the chat's queue: 0 before it." in running.stderr.readline()
    # the ask of the run before it is not this command's to answer
    assert server.call("GET", f"chats/{busy_chat}/asks")["asks"]
    go_on(server, busy_chat)
    out, said = running.communicate(timeout=DEADLINE_S)
    assert (running.returncode, out) == (0, "You said: my turn\n"), said


def waiting(server: RunningServer, chat_id: str) -> subprocess.Popen[str]:
    """A command whose prompt waits in the chat's queue."""
    running = server.home.start("send", "never", "--chat", chat_id)
    assert running.stderr is not None
    assert "waits in the chat's queue" in running.stderr.readline()
    return running


def test_ctrl_c_takes_a_waiting_prompt_out_of_the_queue_and_stops_nothing(
    server: RunningServer, busy_chat: str
) -> None:
    running = waiting(server, busy_chat)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=DEADLINE_S)
    assert running.returncode == 3, said
    assert server.call("GET", f"chats/{busy_chat}/queue")["queue"] == []
    assert server.call("GET", f"chats/{busy_chat}")["state"] == "waiting"


def test_a_waiting_prompt_that_somebody_removes_ends_the_command(
    server: RunningServer, busy_chat: str
) -> None:
    running = waiting(server, busy_chat)
    [item] = server.call("GET", f"chats/{busy_chat}/queue")["queue"]
    server.call("POST", f"chats/{busy_chat}/queue/pause", {})
    assert running.stderr is not None
    assert "paused" in running.stderr.readline()
    server.call("DELETE", f"chats/{busy_chat}/queue/{item['id']}")
    _, said = running.communicate(timeout=DEADLINE_S)
    assert running.returncode == 1
    assert "removed from the chat's queue" in said


def test_a_prompt_is_left_in_the_queue_or_put_into_the_running_turn(
    server: RunningServer, busy_chat: str
) -> None:
    done = server.home.run("send", "later", "--chat", busy_chat, "--queue")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert f"waits in the queue of chat {busy_chat}" in done.stderr
    done = server.home.run("send", "more salt", "--chat", busy_chat, "--steer")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "in the running turn" in done.stderr
    go_on(server, busy_chat)
    eventually(lambda: server.call("GET", f"chats/{busy_chat}")["state"] == "idle")
    eventually(lambda: not server.call("GET", f"chats/{busy_chat}/queue")["queue"])
    eventually(lambda: server.call("GET", f"chats/{busy_chat}")["state"] == "idle")
    events = server.call("GET", f"chats/{busy_chat}/events")["events"]
    texts = [e["text"] for e in events if e["type"] == "user"]
    assert texts[1:] == ["more salt", "later"]
    done = server.home.run("send", "too late", "--chat", busy_chat, "--steer")
    assert done.returncode == 1
    assert "Nothing runs" in done.stderr


def test_a_reader_that_leaves_stops_the_run(server: RunningServer) -> None:
    prompt = script({"say": "line\n" * 50, "chunks": 50, "rate": 50}, {"sleep": 600})
    running = server.home.start("send", prompt, "--agent", "scenario")
    assert running.stdout is not None and running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    assert running.wait(DEADLINE_S) == 3
    assert "Traceback" not in running.stderr.read()
    running.stderr.close()
    eventually(
        lambda: all(chat["state"] == "idle" for chat in server.call("GET", "chats")["chats"])
    )


def test_after_a_restart_of_the_server_the_end_is_still_told(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    first = RunningServer(home, tmp_path / "first.log")
    steps = ({"say": "begun\n"}, {"ask": {}, "deny": [{"say": "ended\n"}]})
    running = home.start("send", script(*steps), "--agent", "scenario")
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    [chat] = first.call("GET", "chats")["chats"]
    eventually(lambda: first.call("GET", f"chats/{chat['id']}/asks")["asks"])
    first.kill()
    second = RunningServer(home, tmp_path / "second.log")
    try:
        go_on(second, chat["id"])
        out, said = running.communicate(timeout=DEADLINE_S)
    finally:
        second.stop()
        home.close()
    assert (running.returncode, out.strip()) == (0, "ended"), said
    assert "The connection is lost" in said


def test_help_and_version_need_neither_server_nor_tornado() -> None:
    code = (
        "import sys; from jupyter_agentchat.command.main import main\n"
        "try: main(['--version'])\n"
        "except SystemExit: pass\n"
        "print({'tornado', 'jupyter_server', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    version, loaded = done.stdout.splitlines()
    assert version.count(".") == 2
    assert loaded == "set()"


def test_jupyter_finds_the_command_under_its_name() -> None:
    [found] = entry_points(group="console_scripts", name="jupyter-agentchat")
    assert found.load() is main
