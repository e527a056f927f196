"""Two programs that ask each other over lines, one of which is not to be trusted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited, ProtocolError, ProviderTimeout
from jupyter_agentchat.process.framing import Frame, Line, Oversize, Torn
from jupyter_agentchat.process.jsonrpc import Answered, Incoming, JsonRpcPeer, RpcError
from tests.waiting import until

Run = Callable[..., Any]


class Wire:
    """An agent in memory: `say` is what it sends, `heard` what it was sent."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.gone = False
        self._let_go = False

    def say(self, message: Any) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self._frames.put_nowait(Line(text, 7))

    def send(self, frame: Frame) -> None:
        self._frames.put_nowait(frame)

    def die(self) -> None:
        self.gone = True
        self._frames.put_nowait(None)

    def let_go(self) -> None:
        self._let_go = True
        self._frames.put_nowait(None)

    async def heard(self) -> dict[str, Any]:
        return await self._heard.get()

    async def lines(self) -> AsyncGenerator[Frame, None]:
        while (frame := await self._frames.get()) is not None:
            yield frame
        if self._let_go:
            raise ChildGone("The server lets go of it.")

    async def write(self, line: str, *, timeout_s: float = 30) -> None:
        if self.gone:
            raise await self.failure()
        self._heard.put_nowait(json.loads(line))

    async def failure(self) -> ProcessExited:
        return ProcessExited("The agent's process ended (exit code 3).", exit_code=3)


class Told:
    """What the peer told its owner."""

    def __init__(self) -> None:
        self.notified: list[tuple[str, Any]] = []
        self.malformed: list[str] = []

    async def notification(self, incoming: Incoming) -> None:
        self.notified.append((incoming.method, incoming.params))

    def bad(self, frame: Frame, reason: str) -> None:
        self.malformed.append(reason)


@contextlib.asynccontextmanager
async def connected(**options: Any) -> AsyncIterator[tuple[JsonRpcPeer, Wire, Told]]:
    wire, told = Wire(), Told()
    complete: dict[str, Any] = {
        "requests": {},
        "on_notification": told.notification,
        "on_malformed": told.bad,
    } | options
    peer = JsonRpcPeer(wire, **complete)
    peer.start()
    try:
        yield peer, wire, told
    finally:
        await peer.close()


def test_answers_find_their_questions_in_any_order(run: Run) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, _):
            asked = [
                asyncio.create_task(peer.request("add", {"n": n}, timeout_s=5)) for n in range(20)
            ]
            heard = [await wire.heard() for _ in asked]
            assert heard[3] == {"jsonrpc": "2.0", "id": 4, "method": "add", "params": {"n": 3}}
            heard = heard[7:] + heard[:7][::-1]
            for message in heard:
                wire.say({"id": message["id"], "result": message["params"]["n"] * 2})
            assert await asyncio.gather(*asked) == [n * 2 for n in range(20)]

    run(scenario())


def test_an_error_answer_carries_code_and_data(run: Run) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, _):
            for error, expected in (
                ({"code": -32600, "message": "no", "data": {"a": 1}}, (-32600, "no", {"a": 1})),
                (
                    {"code": "x", "message": 5},
                    (-32603, "The agent refused without a reason.", None),
                ),
                ("broken", (-32603, "broken", None)),
            ):
                asked = asyncio.create_task(peer.request("try", timeout_s=5))
                message = await wire.heard()
                assert "params" not in message
                wire.say({"id": message["id"], "error": error})
                with pytest.raises(RpcError) as caught:
                    await asked
                assert (caught.value.rpc_code, caught.value.message, caught.value.data) == expected

    run(scenario())


def test_a_request_without_an_answer_ends_with_its_deadline_and_a_late_one_is_dropped(
    run: Run,
) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, told):
            with pytest.raises(ProviderTimeout) as caught:
                await peer.request("slow", timeout_s=0.01)
            assert caught.value.details == {"method": "slow", "timeout_s": 0.01}
            late = await wire.heard()
            wire.say({"id": late["id"], "result": "late"})
            asked = asyncio.create_task(peer.request("next", timeout_s=5))
            wire.say({"id": (await wire.heard())["id"], "result": "right"})
            assert await asked == "right"
            assert told.malformed == []

    run(scenario())


def test_a_cancelled_request_leaves_nothing_behind(run: Run) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, _):
            asked = asyncio.create_task(peer.request("slow", timeout_s=None))
            await wire.heard()
            asked.cancel()
            await asyncio.wait({asked})
            assert asked.cancelled()
            assert peer._pending == {}

    run(scenario())


def test_a_slow_request_of_the_agent_does_not_hold_up_the_others(run: Run) -> None:
    async def scenario() -> None:
        answer = asyncio.Event()

        async def ask(incoming: Incoming) -> Any:
            await answer.wait()
            return {"decision": incoming.params}

        async def ping(incoming: Incoming) -> Any:
            return incoming.end

        async with connected(requests={"ask": ask, "ping": ping}) as (_, wire, told):
            wire.say({"id": 0, "method": "ask", "params": "allow"})
            wire.say({"id": "p", "method": "ping"})
            wire.say({"method": "note", "params": [1]})
            assert await wire.heard() == {"jsonrpc": "2.0", "id": "p", "result": 7}
            assert told.notified == [("note", [1])]
            answer.set()
            assert await wire.heard() == {
                "jsonrpc": "2.0",
                "id": 0,
                "result": {"decision": "allow"},
            }

    run(scenario())


def test_every_request_of_the_agent_gets_an_answer_whatever_happens(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse(_: Incoming) -> Any:
        raise RpcError(-32602, "bad params", {"field": "x"})

    async def crash(_: Incoming) -> Any:
        raise LookupError("a bug of ours")

    async def scenario() -> None:
        async with connected(requests={"refuse": refuse, "crash": crash}) as (_, wire, _):
            wire.say({"id": 1, "method": "refuse"})
            assert (await wire.heard())["error"] == {
                "code": -32602,
                "message": "bad params",
                "data": {"field": "x"},
            }
            wire.say({"id": 2, "method": "crash"})
            assert (await wire.heard())["error"]["code"] == -32603
            wire.say({"id": 3, "method": "unknown" + "x" * 5000})
            unknown = (await wire.heard())["error"]
            assert unknown["code"] == -32601
            assert len(unknown["message"]) < 300

    run(scenario())
    assert "a bug of ours" in caplog.text


def test_a_withdrawn_request_is_cancelled_and_not_answered(run: Run) -> None:
    async def scenario() -> None:
        cancelled = asyncio.Event()

        async def ask(_: Incoming) -> Any:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        async with connected(requests={"ask": ask}) as (peer, wire, _):
            wire.say({"id": 5, "method": "ask"})
            wire.say({"id": 5, "method": "ask"})
            assert (await wire.heard())["error"]["message"] == "This id is in use."
            assert peer.cancel_incoming(5)
            await cancelled.wait()
            wire.say({"id": 6, "method": "nope"})
            assert (await wire.heard())["id"] == 6  # nothing was said about 5
            assert not peer.cancel_incoming(5)

    run(scenario())


def test_a_flood_of_requests_is_refused_above_a_limit(run: Run) -> None:
    async def scenario() -> None:
        release = asyncio.Event()

        async def ask(_: Incoming) -> Any:
            await release.wait()
            return "ok"

        async with connected(requests={"ask": ask}, max_incoming=3) as (_, wire, _):
            for number in range(10):
                wire.say({"id": number, "method": "ask"})
            refused = [await wire.heard() for _ in range(7)]
            assert {message["error"]["code"] for message in refused} == {-32001}
            release.set()
            assert sorted([(await wire.heard())["id"] for _ in range(3)]) == [0, 1, 2]

    run(scenario())


def test_pending_requests_fail_with_the_reason_when_the_agent_dies(run: Run) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, _):
            asked = [asyncio.create_task(peer.request("x", timeout_s=None)) for _ in range(3)]
            await wire.heard()
            wire.die()
            for task in asked:
                with pytest.raises(ProcessExited) as caught:
                    await task
                assert caught.value.exit_code == 3
            assert (await peer.wait_end()).event_code == "process_exit"
            with pytest.raises(ProcessExited):
                await peer.request("later", timeout_s=5)
            with pytest.raises(ProcessExited):
                await peer.notify("later")

    run(scenario())


def test_closing_fails_what_is_pending(run: Run) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, _):
            asked = asyncio.create_task(peer.request("x", timeout_s=None))
            await wire.heard()
            await peer.close()
            with pytest.raises(ProtocolError, match="was closed"):
                await asked
            assert "was closed" in (await peer.wait_end()).message

    run(scenario())


def test_an_owner_that_fails_on_a_notification_ends_the_peer_and_hears_of_it(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: Incoming) -> None:
        raise LookupError("cannot translate")

    async def scenario() -> None:
        async with connected(on_notification=broken) as (peer, wire, _):
            asked = asyncio.create_task(peer.request("x", timeout_s=None))
            await wire.heard()
            wire.say({"method": "note"})
            with pytest.raises(ProtocolError):
                await asked
            with pytest.raises(LookupError):
                await peer.wait_end()

    with caplog.at_level(logging.CRITICAL):
        run(scenario())


def test_the_dialect_without_version_member_and_with_prefixed_ids(run: Run) -> None:
    async def scenario() -> None:
        async with connected(version_member=False, id_prefix="7:") as (peer, wire, _):
            asked = asyncio.create_task(peer.request("x", {}, timeout_s=5))
            assert await wire.heard() == {"id": "7:1", "method": "x", "params": {}}
            wire.say({"id": "7:1", "result": None})
            assert await asked is None
            await peer.notify("initialized")
            assert await wire.heard() == {"method": "initialized"}

    run(scenario())


BAD_LINES = [
    "{",
    "nonsense",
    "[1, 2]",
    "42",
    "null",
    '"text"',
    "{}",
    '{"id": 1}',
    '{"id": true, "method": "x"}',
    '{"id": [1], "method": "x"}',
    '{"id": 1.5, "result": 1}',
    '{"method": 5}',
    '{"result": 1}',
    "[" * 100_000,
    '{"a":' * 100_000,
    "1" * 5_000,
    '{"id": 1, "result"',
]


def test_malformed_lines_are_reported_and_the_conversation_goes_on(run: Run) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, told):
            for line in BAD_LINES:
                wire.say(line)
            for frame in (Oversize(100, 99, "{"), Torn('{"id"', 105)):
                wire.send(frame)
            for harmless in ("", "  ", "\r", {"id": 99, "result": 1}):
                wire.say(harmless)
            asked = asyncio.create_task(peer.request("x", timeout_s=5))
            wire.say({"id": (await wire.heard())["id"], "result": "fine\ud800"})
            assert await asked == "fine\ud800"
            assert len(told.malformed) == len(BAD_LINES) + 2

    run(scenario())


def test_random_damage_never_ends_the_conversation(run: Run) -> None:
    state = random.Random(20)
    good = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"a": [1, "é", None]}})
    swaps = '{}[]",:0é\\\0 tfn-'

    def damaged() -> str:
        text = list(good)
        for _ in range(state.randint(1, 6)):
            at = state.randrange(len(text))
            kind = state.randrange(3)
            text[at : at + state.randrange(4)] = state.choice(swaps) * kind
        return "".join(text)

    async def ask(_: Incoming) -> Any:
        return 1

    async def scenario() -> None:
        async with connected(requests={"ask": ask}) as (peer, wire, told):
            for _ in range(2000):
                wire.say(damaged())
            done = asyncio.create_task(peer.request("done", timeout_s=10))
            while (message := await wire.heard()).get("method") != "done":
                pass
            wire.say({"id": message["id"], "result": "alive"})
            assert await done == "alive"
            assert len(told.malformed) > 1000

    run(scenario())


ECHO_AGENT = """
    import json, sys
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "exit":
            sys.stderr.write("leaving\\n")
            sys.exit(4)
        print(json.dumps({"method": "seen", "params": message["id"]}))
        print(json.dumps({"id": message["id"], "result": message["params"]}))
"""


def test_a_real_child_answers_and_its_death_is_told(children: Any, run: Run) -> None:
    told = Told()

    async def scenario() -> None:
        async with children() as c:
            child = await c.python(ECHO_AGENT)
            peer = JsonRpcPeer(
                child, requests={}, on_notification=told.notification, on_malformed=told.bad
            )
            peer.start()
            text = "日本" * 100_000
            assert await peer.request("echo", text, timeout_s=10) == text
            with pytest.raises(ProcessExited) as caught:
                await peer.request("exit", timeout_s=10)
            assert (caught.value.exit_code, caught.value.stderr_tail) == (4, "leaving\n")
            await peer.close()

    run(scenario())
    assert told.notified == [("seen", 1)]


def test_every_message_is_seen_in_the_order_of_the_stream_before_it_is_dealt_with(
    run: Run,
) -> None:
    """A request's task runs later than the notification behind it is handed over."""

    async def scenario() -> None:
        seen: list[tuple[str, object]] = []
        handled: list[str] = []

        async def handler(incoming: Incoming) -> None:
            handled.append(incoming.method)

        def observe(message: Incoming | Answered) -> None:
            what = message.method if isinstance(message, Incoming) else message.result
            seen.append((type(message).__name__, what))
            assert handled == []

        async with connected(requests={"ask": handler}, observe=observe) as (_, wire, told):
            for message in (
                {"id": 1, "method": "ask"},
                {"method": "note"},
                {"id": "of an earlier server", "result": "late"},
            ):
                wire.say(message)
            await until(lambda: len(seen) == 3)
            assert seen == [("Incoming", "ask"), ("Incoming", "note"), ("Answered", "late")]
            assert (await wire.heard())["id"] == 1
            assert told.malformed == []

    run(scenario())


def test_a_request_can_have_an_id_of_its_callers_own(run: Run) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, _):
            asked = asyncio.create_task(peer.request("open", timeout_s=5, request_id="run#open"))
            assert (await wire.heard())["id"] == "run#open"
            with pytest.raises(RuntimeError, match="in use"):
                await peer.request("open", timeout_s=5, request_id="run#open")
            wire.say({"id": "run#open", "result": 1})
            assert await asked == 1
            # and again, once it was answered
            asked = asyncio.create_task(peer.request("open", timeout_s=5, request_id="run#open"))
            wire.say({"id": (await wire.heard())["id"], "result": 2})
            assert await asked == 2

    run(scenario())


def test_a_stream_that_we_let_go_of_is_no_fault_of_the_other_side(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with connected() as (peer, wire, _):
            asked = asyncio.create_task(peer.request("slow", timeout_s=5))
            await wire.heard()
            wire.let_go()
            with pytest.raises(ChildGone):
                await asked
            assert isinstance(await peer.wait_end(), ChildGone)

    run(scenario())
    assert "failed" not in caplog.text
