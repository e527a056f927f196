"""Nothing of an agent exists before somebody asks for it: no process, port, task or import."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.assembly import Assembly
from jupyter_agentchat.store.sqlite import open_store

from .conftest import SCENARIO_AGENT, Rest, Socket
from .jupyter_process import processes_with


def children() -> set[int]:
    """Direct and indirect child processes of this one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found - {os.getpid()}
        found |= more


def agents() -> list[int]:
    return processes_with(f"{sys.executable}\0{SCENARIO_AGENT}", begins=True)


def listening() -> set[str]:
    """Inodes of the listening TCP sockets of this process."""
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                ports.add(f"socket:[{fields[9]}]")
    own = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            own.add(str(entry.readlink()))
        except OSError:
            continue
    return ports & own


def our_tasks() -> list[str]:
    names = (task.get_name() for task in asyncio.all_tasks())
    return [name for name in names if name.split("/")[0] in ("runs", "providers", "native tour")]


async def test_opening_chats_starts_no_process_no_port_and_no_task(
    rest: Rest, open_socket: Callable[[], Awaitable[Socket]]
) -> None:
    processes, ports = children(), listening()
    chat_id = await rest.new_chat()
    socket = await open_socket()
    await socket.subscribe(chat_id)
    for route in ("status", "projects", "chats", f"chats/{chat_id}", f"chats/{chat_id}/events"):
        await rest.ok("GET", route)
    await rest.ok("PATCH", f"chats/{chat_id}", {"title": "x", "mode": "plan"})
    assert (children(), listening()) == (processes, ports)
    assert our_tasks() == []

    await socket.ask(type="prompt", chat_id=chat_id, client_id="1", text="hello")
    await socket.until_sync(running=False)
    # kept warm for the next prompt; what keeps it over a crash stands beside it
    assert len(set(agents()) & (children() - processes)) == 1
    assert listening() == ports
    await rest.ok("DELETE", f"chats/{chat_id}")
    assert children() == processes


NOTHING_BEHIND = {"pydantic", "jupyter_agentchat.assembly", "jupyter_agentchat.runs.hub"}


def start(tmp_path: Path, look: str, *options: str) -> tuple[list[str], str]:
    """What `look` prints in a fresh server that has loaded the extension (`extension`), by line,
    and what the server logged."""
    program = f"""
import sys, threading
from jupyter_server.serverapp import ServerApp
app = ServerApp()
app.initialize(argv=["--no-browser", "--port=0", "--allow-root",
                     "--ServerApp.jpserver_extensions={{'jupyter_agentchat': True}}",
                     *{list(options)!r}],
               find_extensions=False, new_httpserver=False)
(extension,) = app.extension_manager.extension_apps["jupyter_agentchat"]
{look}
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines(), done.stderr


def loaded_modules(tmp_path: Path, *options: str) -> tuple[set[str], str]:
    """Modules in a fresh server that has loaded the extension, and what it logged."""
    lines, log = start(tmp_path, "print(*sys.modules)", *options)
    return set(lines[-1].split()), log


def test_the_first_request_imports_no_adapter_and_starts_nothing(tmp_path: Path) -> None:
    look = """
extension.assemble()
print([name for name in sys.modules if name.startswith("jupyter_agentchat.providers.")
       and not name.endswith((".base", ".registry", ".settings"))])
print([thread.name for thread in threading.enumerate() if "agentchat" in thread.name])
print("jupyter_agentchat.runs.hub" in sys.modules)
"""
    lines, _ = start(tmp_path, look)
    assert lines[-3:] == ["[]", "[]", "True"]


def test_a_server_that_nobody_chats_on_pays_for_nothing(tmp_path: Path) -> None:
    served = tmp_path / "served"
    served.mkdir()
    options = f"--AgentChatApp.data_dir={tmp_path / 'data'}", f"--ServerApp.root_dir={served}"
    first, _ = loaded_modules(tmp_path, *options)
    assert first & NOTHING_BEHIND == set()
    assert not (tmp_path / "data").exists()

    open_store(tmp_path / "data").close()  # chats are there, but nothing waits
    second, _ = loaded_modules(tmp_path, *options)
    assert second & NOTHING_BEHIND == set()


def test_a_store_in_plain_view_is_said_in_the_log_of_the_start(tmp_path: Path) -> None:
    modules, log = loaded_modules(tmp_path, f"--AgentChatApp.data_dir={tmp_path / 'chats'}",
                                  f"--ServerApp.root_dir={tmp_path}")  # fmt: skip
    assert "jupyter_agentchat.assembly" in modules
    assert "which this server shows as files" in log


async def test_a_start_that_fails_is_told_to_whoever_asks(
    rest: Rest, extension: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(Assembly, "__init__", fail)
    status, body = await rest.call("GET", "status")
    assert status == 503
    assert "could not start" in str(body)
    monkeypatch.undo()
    await rest.ok("GET", "status")  # the next request tries again
