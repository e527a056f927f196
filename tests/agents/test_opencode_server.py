"""The real opencode's process: who can talk to it, what it shows of itself, and when it is gone."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
from pathlib import Path

import pytest

from jupyter_agentchat.errors import ProcessExited
from jupyter_agentchat.process.loopback import HttpRefused, LoopbackServer
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.events import AssistantText
from jupyter_agentchat.providers.opencode.adapter import OpencodeAdapter
from tests.agents.opencode_agent import SECRET_KEY, Chat, Place, open_chat, open_servers, watch
from tests.waiting import until

pytestmark = pytest.mark.timeout(180)

LISTEN = "0A"


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for one in found:
        tasks = Path(f"/proc/{one}/task/{one}/children")
        found += [int(child) for child in tasks.read_text().split()]
    return found


def lives(pid: int) -> bool:
    """Whether there is such a process."""
    return Path(f"/proc/{pid}").exists()


def command_line(pid: int) -> str:
    """What everybody on this host can see of a process; nothing once it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except FileNotFoundError:
        return ""


def listening(pids: list[int]) -> list[tuple[str, int]]:
    """(address, port) of everything that these processes listen on."""
    inodes = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = str(link.readlink())
            except OSError:
                continue
            if found := re.fullmatch(r"socket:\[(\d+)\]", target):
                inodes.add(found[1])
    found_at = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pids[0]}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and fields[9] in inodes:
                address, port = fields[1].split(":")
                packed = bytes.fromhex(address)[::-1]
                text = socket.inet_ntoa(packed) if table == "tcp" else address
                found_at.append((text, int(port, 16)))
    return found_at


def test_only_we_can_talk_to_it_and_it_shows_neither_prompt_nor_secret(
    opencode_place: Place,
) -> None:
    async def scenario() -> None:
        async with open_chat(opencode_place) as chat:
            await chat.say("echo a very special prompt")
            pids = family(chat.pid())
            places = listening(pids)
            assert {address for address, _ in places} == {"127.0.0.1"}
            for _, port in places:
                for headers in ({}, {"Authorization": "Basic b3BlbmNvZGU6"}):
                    with pytest.raises(HttpRefused) as refused:
                        await LoopbackServer(f"http://127.0.0.1:{port}", headers).request(
                            "GET", "/global/health"
                        )
                    assert refused.value.http_status == 401
            secret = opencode_place.context(chat.launcher).secret_of(
                chat.launcher.children[0].child_id
            )
            for shown in map(command_line, pids):
                assert "special" not in shown
                assert secret not in shown
                assert SECRET_KEY not in shown
            told = await chat.say("run cmd: env", permission="full")
            assert secret not in "".join(body.model_dump_json() for body in told.bodies)
        await until(lambda: not any(map(lives, pids)))

    asyncio.run(scenario())


def test_chats_of_two_directories_share_it_and_trust_parts_them(opencode_place: Place) -> None:
    async def scenario() -> None:
        other = opencode_place.another_project("other")
        async with open_chat(opencode_place) as chat:
            second = Chat(chat.adapter, chat.launcher, opencode_place, id="chat-2", cwd=other)
            one, two = await asyncio.gather(
                chat.say("run cmd: cat README.md", permission="full"),
                second.say("run cmd: cat README.md", permission="full"),
            )
            assert one.ends[0].output[0].text == "A project.\n"
            assert two.ends[0].output[0].text == "other\n"
            assert len(chat.launcher.children) == 1
            third = Chat(chat.adapter, chat.launcher, opencode_place, id="chat-3", trusted=True)
            told = await asyncio.gather(third.say("mirror three"), chat.say("mirror one"))
            assert [one.text for one in told] == ["mirror three", "mirror one"]
            assert len(chat.launcher.children) == 2
            # the conversation is the same in both
            third.session_id = chat.session_id
            assert "mirror one" in (await third.say("recall")).text

    asyncio.run(scenario())


def test_after_a_crash_of_the_server_the_run_goes_on_or_all_of_it_can_be_ended(
    opencode_place: Place,
) -> None:
    async def scenario() -> None:
        async with open_servers(opencode_place) as servers:
            run = await servers.chat.start("steady")
            told, offset = await watch(run, lambda body: isinstance(body, AssistantText))
            (child,) = servers.launcher.children
            pids = family(child.identity.pid)
            chat = await servers.replaced()
            assert all(map(lives, pids))
            again = await chat.follow(await chat.attach(stored=offset))
            assert again.text == "".join(f"part {number} " for number in range(40))
            assert again.complete.outcome == "completed"
            assert again.notices == []
            assert again.bodies[: len(told.bodies)] == told.bodies
            assert (await chat.say("mirror on")).text == "mirror on"
            assert family(child.identity.pid) == pids
            await servers.launcher.leave()
            # the next server finds nothing to go on with
            servers.launcher = SpoolLauncher(opencode_place.home / "spool")
            servers.chat.adapter = OpencodeAdapter(opencode_place.context(servers.launcher))
            assert servers.launcher.stale() == [child.child_id]
            assert await servers.launcher.discard(child.child_id) == frozenset()
            assert not any(map(lives, pids))

    asyncio.run(scenario())


def test_opencode_killed_beside_its_listener_is_told_and_replaced(opencode_place: Place) -> None:
    async def scenario() -> None:
        async with open_chat(opencode_place) as chat:
            run = await chat.start("steady")
            killed = False
            with pytest.raises(ProcessExited) as ended:
                async for step in run.steps():
                    if not killed and any(isinstance(b, AssistantText) for b in step.bodies):
                        killed = True
                        os.kill(family(chat.pid())[1], signal.SIGKILL)
            assert ended.value.signal == signal.SIGKILL
            assert (await chat.say("mirror again")).text == "mirror again"

    asyncio.run(scenario())
