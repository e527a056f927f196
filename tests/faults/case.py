"""One case of the killer: a chat, its clients, three prompts, and a fault in the middle of each.

Everything is drawn from one integer, the case's number: `make faults CASE=<n>` plays it again. The
machine's own timing is not repeatable, so a failure may need a few tries.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
import time
import urllib.error
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.faults import oracle
from tests.faults.client import Client, wait_for
from tests.faults.servers import FaultServer, WarmServers
from tests.server.conftest import script

Json = dict[str, Any]
VICTIMS = ("server", "agent", "both", "socket", "stopped server", "stopped agent", "clean stop")
WEIGHTS = (40, 14, 14, 12, 7, 6, 7)
KILLS = {"server", "agent", "both", "clean stop"}
ACTS = 3
ORPHAN_DEADLINE_S = 12.0
RUN_DEADLINE_S = 25.0
RECOVERY_S = 2.0


@dataclass
class Result:
    """What one case showed; `faults` is empty when nothing was lost and nothing lied."""

    case: int
    policy: str
    real_server: bool
    faults: list[str] = field(default_factory=list)
    victims: list[str] = field(default_factory=list)
    kills: int = 0
    runs: int = 0
    events: int = 0
    outcomes: list[str] = field(default_factory=list)
    recovery_ms: list[float] = field(default_factory=list)
    catch_up_ms: list[float] = field(default_factory=list)

    def as_json(self) -> Json:
        return asdict(self)


def random_steps(random: Random, number: int) -> list[Any]:
    """Half a second to a second and a half of an agent's work."""
    words = f"act{number} " + " ".join(f"w{random.randrange(10_000)}é" for _ in range(60))
    makers: list[Callable[[], Any]] = [
        lambda: {"say": words, "chunks": random.randint(5, 60), "rate": random.randint(40, 400)},
        lambda: {"think": words, "chunks": random.randint(2, 30), "rate": 300},
        lambda: {
            "tool": {
                "kind": "shell", "title": f"step {random.randrange(1000)}", "output": "done\n",
                "updates": [f"line {n}\n" for n in range(random.randint(0, 6))],
                "sleep": random.choice([0, 0, 0.1, 0.3]), "input": {"command": "make"},
            }
        },
        lambda: {"burst": random.randint(5, 60), "text": random.choice(["x", "ab", "é"])},
        lambda: {"sleep": random.uniform(0.02, 0.2)},
        lambda: {"plan": [{"text": "one", "status": "pending"}]},
        lambda: {"usage": {"input_tokens": random.randint(1, 9_999)}},
        lambda: {"ask": {"title": "May I?"}, "allow": [{"say": words, "chunks": 8, "rate": 200}]},
    ]  # fmt: skip
    weights = [5, 2, 4, 2, 1, 1, 1, 2]
    return [make() for make in random.choices(makers, weights, k=random.randint(3, 6))]


def estimate_s(steps: list[Any]) -> float:
    """About how long an agent works on the steps, so that faults fall into the middle of it."""
    total = 0.1
    for step in steps:
        total += step.get("chunks", 0) / step.get("rate", 1) + step.get("sleep", 0)
        total += step.get("tool", {}).get("sleep", 0) + (0.2 if "ask" in step else 0)
    return total


class Case:
    """Plays one case against a server of its own."""

    def __init__(self, number: int, warm: WarmServers, *, real: bool, policies: list[str]) -> None:
        self.random, self.person = Random(number), Random(-number)
        self.home = Path(tempfile.mkdtemp(prefix=f"agentchat-fault{number}-"))
        policy = self.random.choice(policies)
        traits: Json = {"idle_process_timeout": self.random.choice([0.3, 600.0])}
        if policy:
            traits["restart_policy"] = policy
        self.policy = policy
        self.server = FaultServer(self.home, None if real else warm, traits=traits)
        self.result = Result(number, policy or "none", real)
        self.clients: list[Client] = []

    async def play(self) -> Result:
        """The whole case; never raises for a fault of the product."""
        try:
            await self._play()
        except Exception as error:  # noqa: BLE001 - a case that breaks down is a finding too
            self.result.faults.append(f"{type(error).__name__}: {error}"[:2000])
        finally:
            for client in self.clients:
                await client.close()
            self.server.end_everything()
            if not self.result.faults:
                shutil.rmtree(self.home, ignore_errors=True)
        return self.result

    async def _play(self) -> None:
        await asyncio.to_thread(self.server.start)
        self.chat_id = await self._call(lambda: self.server.new_chat())
        self._join()
        for number in range(ACTS):
            await self._act(number)
            if self.result.faults:
                return
        await self._end()

    def _join(self) -> None:
        client = Client(self.server, self.chat_id)
        client.start()
        self.clients.append(client)

    async def _call(self, work: Callable[[], Any]) -> Any:
        """A request, again and again while the server is away."""
        deadline = time.monotonic() + RUN_DEADLINE_S
        while True:
            try:
                return await asyncio.to_thread(work)
            except urllib.error.HTTPError:
                raise
            except OSError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.02)

    # ---- one act ---------------------------------------------------------------------------------

    async def _act(self, number: int) -> None:
        random, result = self.random, self.result
        victim = random.choices(VICTIMS, WEIGHTS)[0]
        steps = random_steps(random, number)
        text, work_s = script(*steps), estimate_s(steps)
        after = random.uniform(0.0, work_s)
        if random.random() < 0.08:
            after = work_s + 0.8  # while nothing runs
        result.victims.append(victim)
        if random.random() < 0.4 and len(self.clients) < 3:
            self._join()
        sending = asyncio.create_task(self._send(f"c{number}", text))
        answering = asyncio.create_task(self._answer())
        try:
            await asyncio.sleep(after)
            await self._strike(victim)
            run_id = await asyncio.wait_for(sending, RUN_DEADLINE_S)
            result.runs += 1
            first = self.clients[0]
            if not await wait_for(lambda: first.ended(run_id), RUN_DEADLINE_S):
                result.faults.append(f"act {number} ({victim}): run {run_id} is stuck")
                return
        finally:
            answering.cancel()
            sending.cancel()
        await self._check(number, victim, run_id)

    async def _send(self, client_id: str, text: str) -> str:
        """Send until it was accepted; the same client_id, as every client of ours does."""
        deadline = time.monotonic() + RUN_DEADLINE_S
        while True:
            try:
                answer = await self._call(lambda: self.server.prompt(self.chat_id, client_id, text))
                return str(answer["run_id"])
            except urllib.error.HTTPError as error:
                # busy: the run before, whose complete was seen, is just being put away
                if error.code not in (409, 503) or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.02)

    async def _answer(self) -> None:
        """A person who allows what is asked, a little later."""
        while True:
            await asyncio.sleep(0.02)
            for ask_id in self.clients[0].open_asks:
                await asyncio.sleep(self.person.uniform(0, 0.2))
                with suppress(OSError):
                    await asyncio.to_thread(self.clients[0].answer_ask, ask_id)

    async def _strike(self, victim: str) -> None:
        result, server = self.result, self.server
        result.kills += victim in KILLS
        if victim in ("agent", "both"):
            for pid in server.agents():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if victim in ("server", "both"):
            server.kill()
            await self._restart()
        elif victim == "clean stop":
            await asyncio.to_thread(server.stop)
            await self._restart()
        elif victim == "socket":
            for _ in range(self.random.randint(1, 6)):
                for client in self.clients:
                    client.cut()
                await asyncio.sleep(self.random.uniform(0, 0.15))
        elif victim == "stopped server":
            server.signal(signal.SIGSTOP)
            await asyncio.sleep(self.random.uniform(0.1, 0.8))
            server.signal(signal.SIGCONT)
        elif victim == "stopped agent":
            for pid in server.agents():
                await self._pause(pid)

    async def _pause(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(self.random.uniform(0.1, 0.5))
            os.kill(pid, signal.SIGCONT)

    async def _restart(self) -> None:
        await asyncio.sleep(self.random.choice([0, 0, 0.1, 0.5]))
        if self.random.random() < 0.15:
            self.server.launch()  # and killed while it starts
            await asyncio.sleep(self.random.uniform(0.0, 0.5))
            self.server.kill()
            self.result.kills += 1
        ready = await asyncio.to_thread(self.server.start)
        client = self.clients[0]
        if not await wait_for(lambda: client.sync_at > self.server.launched_at, RECOVERY_S):
            self.result.faults.append("no state of the chat 2 s after the start")
            return
        state = client.sync
        self.result.recovery_ms.append(max(0.0, client.sync_at - ready) * 1000)
        if state.get("remote"):
            self.result.faults.append("the next server believes that another one runs the chat")

    # ---- what must hold --------------------------------------------------------------------------

    async def _check(self, number: int, victim: str, run_id: str) -> None:
        events = await self._call(lambda: self.server.all_events(self.chat_id))
        where = f"act {number} ({victim}, {self.policy}): "
        faults = oracle.log_faults(events)
        last = events[-1]["seq"]
        for client in self.clients:
            if not await client.until_seen(last):
                faults.append(f"a client stays at {client.upto} of {last}")
                continue
            faults += client.faults
            faults += oracle.client_faults(client.seen, events)
            faults += oracle.rendering_faults(client.rendering, events)
        faults += self._against_journal(victim, run_id, events)
        self.result.faults += [where + fault for fault in faults]

    def _against_journal(self, victim: str, run_id: str, events: list[Json]) -> list[str]:
        journal, processes = oracle.journal_of(self.server.journals, run_id)
        (outcome,) = [e["outcome"] for e in events
                      if e["type"] == "complete" and e["run_id"] == run_id]  # fmt: skip
        self.result.outcomes.append(f"{victim}: {outcome}")
        said = [body["outcome"] for body in journal if body["type"] == "complete"]
        faults = [f"the run ran in {processes} processes"] if processes > 1 else []
        agent_died = victim in ("agent", "both", "clean stop")
        survives = self.policy in ("crash", "reattach") or victim not in KILLS
        whole = outcome == "completed"
        for client in self.clients:
            faults += oracle.streamed_faults(client.rendering, journal)
        faults += oracle.journal_faults(
            journal, events, run_id, whole=whole, tail_may_miss=agent_died and survives
        )
        if whole and said != ["completed"]:
            faults.append(f"said to be completed, the agent said {said}")
        if not whole and not agent_died and survives and journal:
            faults.append(f"the agent lived and the run is {outcome}")
        return faults

    async def _end(self) -> None:
        events = await self._call(lambda: self.server.all_events(self.chat_id))
        self.result.events = len(events)
        for client in self.clients:
            self.result.catch_up_ms += client.catch_up_ms[1:]
        await asyncio.to_thread(self.server.stop)
        left = await asyncio.to_thread(self.server.wait_family_gone, ORPHAN_DEADLINE_S)
        if left and self.policy != "reattach":
            names = [_command(pid) for pid in left]
            self.result.faults.append(f"processes left after the server's end: {names}")
        spools = [path.name for path in (self.server.data_dir / "spool").glob("*")]
        if spools and self.policy != "reattach":
            self.result.faults.append(f"spools left after the server's end: {spools}")
        self.result.faults += oracle.store_faults(self.server.data_dir / "chats.sqlite3")


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:200]
    except OSError:
        return f"pid {pid}"
