"""The queue drains by itself, in order; what must not run waits, and says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.chats.queued import ITEMS_LIMIT
from jupyter_agentchat.errors import (
    BadRequest,
    Busy,
    NotFound,
    ProcessExited,
    RateLimited,
    Stale,
    StorageError,
    TooLarge,
)
from jupyter_agentchat.protocol.resources import Expect, Provider
from jupyter_agentchat.protocol.words import Permission
from jupyter_agentchat.store.base import Lease, RunRecord
from tests.unit.runs.staged import DONE, StagedRun
from tests.waiting import until

from .desk import Desk, at_desk


def test_prompts_sent_during_a_run_run_behind_it_in_order_with_nobody_watching(
    tmp_path: Path,
) -> None:
    async def scenario(desk: Desk) -> None:
        first = desk.next()
        assert (await desk.send("one")).run_id
        for text in ("two", "three", "four"):
            accepted = await desk.send(text)
            assert accepted.run_id is None
            assert accepted.queue_item is not None
            assert accepted.queue_item.author.username == "owner"
        assert desk.waiting == ["two", "three", "four"]
        desk.finish_at_once(3)
        first.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 4)
        assert desk.started() == desk.sent() == ["one", "two", "three", "four"]
        origins = [e["origin"] for e in desk.stage.log() if e["type"] == "user"]
        assert origins == ["typed", "queued", "queued", "queued"]
        assert desk.waiting == []

    at_desk(scenario, tmp_path)


def test_a_prompt_runs_at_once_only_when_nothing_waits_and_now_overtakes(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.queue.pause("c")
        await desk.enqueue("one")
        assert (await desk.send("two")).queue_item
        run = desk.next()
        assert (await desk.send("at once", "now")).run_id
        with pytest.raises(Busy) as refused:
            await desk.send("too late", "now")
        assert refused.value.details["run_id"]
        run.end(DONE)
        await desk.stage.until_idle()
        assert desk.sent() == ["at once"]
        assert desk.waiting == ["one", "two"]

    at_desk(scenario, tmp_path)


def test_a_queued_prompt_of_a_free_chat_runs_at_once(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.finish_at_once(1)
        await desk.enqueue("one")
        await until(lambda: desk.outcomes() == ["completed"])
        assert desk.sent() == ["one"]

    at_desk(scenario, tmp_path)


def test_stop_pauses_what_waits_and_not_what_is_sent_afterwards(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.next()
        await desk.send("one")
        await desk.send("two")
        await desk.run_of("one")
        assert desk.queue.stop("c")
        assert desk.pause == "stopped"
        await desk.stage.until_idle()
        await desk.settle()
        assert desk.waiting == ["two"]
        assert desk.sent() == ["one"]
        assert not desk.queue.stop("c")

        desk.next()
        desk.queue.resume("c")
        await desk.run_of("two")
        assert desk.pause is None
        desk.queue.stop("c")  # nothing waits: nothing to pause
        desk.finish_at_once(1)
        assert (await desk.send("three")).queue_item  # the agent has not stopped yet
        await until(lambda: desk.outcomes() == ["cancelled", "cancelled", "completed"])
        assert desk.sent() == ["one", "two", "three"]

    at_desk(scenario, tmp_path)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [("failed", "failed"), ("interrupted", "interrupted"), ("cancelled", "stopped")],
)
def test_a_run_that_does_not_end_well_pauses_the_queue(
    tmp_path: Path, outcome: str, reason: str
) -> None:
    async def scenario(desk: Desk) -> None:
        run = desk.next()
        await desk.send("one")
        await desk.send("two")
        await desk.run_of("one")
        driver = desk.stage.hub._rooms["c"].driver
        assert driver is not None
        if outcome == "failed":
            run.fail(ProcessExited("It is gone.", exit_code=1))
        else:
            driver.cancel(end_as=outcome)  # type: ignore[arg-type]
        await desk.stage.until_idle()
        await desk.settle()
        assert desk.outcomes() == [outcome]
        assert desk.pause == reason
        assert desk.waiting == ["two"]
        desk.finish_at_once(1)
        desk.queue.resume("c")
        await until(lambda: desk.outcomes() == [outcome, "completed"])
        assert desk.pause is None

    at_desk(scenario, tmp_path)


MISSING = Provider(id="staged", name="Staged", state="missing", reason="It is not installed.")


async def _agent_missing(desk: Desk) -> None:
    desk.agents.known = MISSING


async def _agent_there(desk: Desk) -> None:
    desk.agents.known = MISSING.model_copy(update={"state": "ready", "reason": None})
    desk.queue.wake_held()


async def _undecided(desk: Desk) -> None:
    desk.trust.answer = None


async def _decided(desk: Desk) -> None:
    desk.trust.answer = True
    desk.queue.wake_held()


async def _other_model(desk: Desk) -> None:
    desk.change(model="another")


async def _old_model(desk: Desk) -> None:
    desk.change(model=None)
    desk.queue.wake("c")


async def _no_agent(desk: Desk) -> None:
    desk.change(provider=None)


async def _agent_again(desk: Desk) -> None:
    desk.change(provider="staged")
    desk.queue.wake("c")


@pytest.mark.parametrize(
    ("spoil", "mend", "reason"),
    [
        (_agent_missing, _agent_there, "It is not installed."),
        (_undecided, _decided, "Decide on it first"),
        (_other_model, _old_model, "settings have changed"),
        (_no_agent, _agent_again, "Choose an agent"),
    ],
)
def test_what_cannot_be_sent_stays_first_with_its_reason_and_holds_up_no_other_chat(
    tmp_path: Path, spoil: Any, mend: Any, reason: str
) -> None:
    async def scenario(desk: Desk) -> None:
        first = desk.next()
        await desk.send("one")
        await desk.send("two", expect=Expect(provider="staged", model=None, mode="code"))
        await desk.send("three")
        await desk.run_of("one")
        await spoil(desk)
        first.end(DONE)
        await until(lambda: desk.queue.view("c").queue[0].held_reason)
        view = desk.queue.view("c")
        assert [item.text for item in view.queue] == ["two", "three"]
        assert reason in (view.queue[0].held_reason or "")
        assert view.queue[1].held_reason is None
        assert not view.paused
        assert desk.stage.hub.state("c") == "idle"
        assert desk.outcomes() == ["completed"]

        desk.finish_at_once(2)
        await mend(desk)
        await until(lambda: desk.outcomes() == ["completed"] * 3)
        assert desk.sent() == ["one", "two", "three"]

    at_desk(scenario, tmp_path)


def test_another_chats_queue_goes_on_beside_a_held_one(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.stage.add_chat("d")
        desk.put_in_project("d")
        desk.change(provider=None)
        other = desk.next()
        await desk.send("d one", chat_id="d")
        await desk.send("d two", chat_id="d")
        desk.change(provider="staged")
        await desk.send("c one", "queue")
        desk.change(provider=None)
        await until(lambda: desk.queue.view("c").queue[0].held_reason)
        desk.finish_at_once(1)
        other.end(DONE)
        await until(lambda: desk.outcomes("d") == ["completed"] * 2)
        assert desk.waiting == ["c one"]

    at_desk(scenario, tmp_path)


def test_going_on_with_a_held_prompt_looks_for_the_agent_anew(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.agents.known = MISSING
        await desk.enqueue("one")
        await until(lambda: desk.queue.view("c").queue[0].held_reason)
        assert desk.agents.probes == 0
        desk.queue.resume("c")
        assert desk.agents.probes == 1

    at_desk(scenario, tmp_path)


@pytest.mark.parametrize(
    ("then", "later", "runs_with"),
    [
        ("full", "read_only", "read_only"),
        ("ask", "full", "ask"),
        ("accept_edits", "accept_edits", "accept_edits"),
    ],
)
def test_a_queued_prompt_runs_with_the_stricter_of_the_permissions_then_and_now(
    tmp_path: Path, then: Permission, later: Permission, runs_with: Permission
) -> None:
    async def scenario(desk: Desk) -> None:
        desk.change(permission=then)
        first = desk.next()
        await desk.send("one")
        await desk.send("two", expect=Expect(effective_permission=then))
        desk.change(permission=later)
        desk.finish_at_once(1)
        first.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 2)
        request, _ = desk.stage.adapter.requests[-1]
        assert request.permission == runs_with
        started = [e["permission"] for e in desk.stage.log() if e["type"] == "run_started"]
        assert started == [then, runs_with]

    at_desk(scenario, tmp_path)


def test_whoever_edits_a_held_prompt_has_seen_the_present_settings(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        first = desk.next()
        await desk.send("one")
        accepted = await desk.send("two", expect=Expect(mode="code"))
        assert accepted.queue_item is not None
        desk.change(mode="debug")
        first.end(DONE)
        await until(lambda: desk.queue.view("c").queue[0].held_reason)
        desk.finish_at_once(1)
        desk.queue.edit("c", accepted.queue_item.id, "two, corrected")
        await until(lambda: desk.outcomes() == ["completed"] * 2)
        assert desk.sent() == ["one", "two, corrected"]

    at_desk(scenario, tmp_path)


def test_the_same_prompt_again_gets_the_first_answer_again_at_every_stage(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        first = desk.next()
        ran = await desk.send("one", client_id="1")
        assert await desk.send("one", client_id="1") == ran
        queued = await desk.send("two", client_id="2")
        assert await desk.send("two", client_id="2") == queued
        removed = await desk.send("three", client_id="3")
        assert removed.queue_item is not None
        desk.queue.remove("c", removed.queue_item.id)
        again = await desk.send("three", client_id="3")
        assert again.queue_item is not None
        assert again.queue_item.id == removed.queue_item.id
        assert desk.waiting == ["two"]

        desk.finish_at_once(1)
        first.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 2)
        (run_id,) = [e["run_id"] for e in desk.stage.log() if e.get("text") == "two"]
        assert (await desk.send("two", client_id="2")).run_id == run_id
        await desk.settle()
        assert desk.sent() == ["one", "two"]

    at_desk(scenario, tmp_path)


def test_reordering_and_removing_change_what_runs(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        first = desk.next()
        await desk.send("one")
        two, three, four = await desk.enqueue("two", "three", "four")
        with pytest.raises(Stale):
            desk.queue.order("c", [two, three])
        desk.queue.order("c", [four, two, three])
        assert [item.text for item in desk.queue.remove("c", two).queue] == ["four", "three"]
        with pytest.raises(NotFound):
            desk.queue.remove("c", two)
        with pytest.raises(NotFound):
            desk.queue.edit("c", two, "x")
        with pytest.raises(BadRequest):
            desk.queue.edit("c", three, "  ")
        desk.finish_at_once(2)
        first.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 3)
        assert desk.sent() == ["one", "four", "three"]

    at_desk(scenario, tmp_path)


def test_a_paused_queue_that_is_emptied_is_paused_no_more(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.queue.pause("c")
        (one,) = await desk.enqueue("one")
        desk.queue.remove("c", one)
        assert desk.pause is None
        desk.finish_at_once(1)
        assert (await desk.send("two")).run_id
        await desk.stage.until_idle()

    at_desk(scenario, tmp_path)


def test_a_rewind_takes_the_queue_along_and_its_undo_brings_it_back_in_front(
    tmp_path: Path,
) -> None:
    async def scenario(desk: Desk) -> None:
        desk.queue.pause("c")
        desk.change(permission="read_only")
        ids = await desk.enqueue("one", "two")
        desk.change(permission="full")
        taken = desk.queue.clear("c")
        assert [item.id for item in taken] == ids
        assert desk.waiting == []
        desk.queue.pause("c")
        await desk.enqueue("three")
        desk.queue.restore("c", taken)
        assert desk.waiting == ["one", "two", "three"]
        assert [item.id for item in desk.queue.view("c").queue][:2] == ids
        desk.finish_at_once(3)
        desk.queue.resume("c")
        await until(lambda: desk.outcomes() == ["completed"] * 3)
        permissions = [request.permission for request, _ in desk.stage.adapter.requests]
        assert permissions == ["read_only", "read_only", "full"]

    at_desk(scenario, tmp_path)


def test_a_queue_is_bounded(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.queue.pause("c")
        big = [f"{number}" + "x" * 999_000 for number in range(4)]
        await desk.enqueue(*big)
        with pytest.raises(TooLarge):
            await desk.send("y" * 999_000, "queue")
        desk.queue.clear("c")
        desk.queue.pause("c")
        await desk.enqueue(*(str(number) for number in range(ITEMS_LIMIT)))
        with pytest.raises(RateLimited):
            await desk.send("one too many", "queue")
        assert len(desk.waiting) == ITEMS_LIMIT

    at_desk(scenario, tmp_path)


def test_a_full_disk_sends_nothing_twice_and_loses_nothing(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.queue.pause("c")
        await desk.enqueue("one")
        desk.store.full = True
        with pytest.raises(StorageError):
            await desk.send("two", "now")
        desk.queue.resume("c")
        await desk.settle()
        assert desk.waiting == ["one"]
        assert desk.stage.hub.state("c") == "idle"
        desk.store.full = False
        desk.finish_at_once(1)
        desk.queue.wake("c")
        await until(lambda: desk.outcomes() == ["completed"])
        assert desk.sent() == ["one"]

    at_desk(scenario, tmp_path)


@pytest.mark.parametrize("after_crash", ["wait", "run"])
def test_after_a_crash_the_queue_waits_for_a_person_unless_told_otherwise(
    tmp_path: Path, after_crash: Any
) -> None:
    async def scenario(desk: Desk) -> None:
        earlier = Desk(desk.stage, tmp_path, "wait")  # of the server that is gone
        desk.trust.looking = earlier.trust.looking = desk.settle
        await earlier.enqueue("one", "two")
        await earlier.queue.close()
        assert desk.pause is None
        desk = Desk(desk.stage, tmp_path, after_crash)
        desk.finish_at_once(2)
        desk.queue.begin()
        desk.queue.begin()
        if after_crash == "wait":
            assert desk.pause == "restarted"
            await desk.settle()
            assert desk.started() == []
            desk.queue.resume("c")
        await until(lambda: desk.outcomes() == ["completed"] * 2)
        assert desk.sent() == ["one", "two"]
        await desk.queue.close()

    at_desk(scenario, tmp_path, begin=False)


def test_a_server_that_stops_leaves_the_queue_to_the_next_one_unpaused(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.next()
        await desk.send("one")
        await desk.send("two")
        await desk.run_of("one")
        await desk.queue.close()
        await desk.stage.hub.close()
        assert desk.outcomes() == ["interrupted"]
        assert desk.waiting == ["two"]
        assert desk.pause is None  # `restarted`, says the next one

    at_desk(scenario, tmp_path)


def test_a_chat_that_is_deleted_keeps_its_queue_and_sends_nothing(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.next()
        await desk.send("one")
        await desk.send("two")
        await desk.run_of("one")
        desk.queue.hold("c")
        async with desk.stage.hub.held("c"):
            desk.store.delete_chat("c", when="2026-11-30T12:00:00.000Z")
        await desk.settle()
        assert desk.started() == ["one"]
        desk.store.restore_chat("c")
        desk.queue.wake("c")
        await desk.settle()
        assert desk.waiting == ["two"]
        assert desk.pause is not None
        assert desk.started() == ["one"]

    at_desk(scenario, tmp_path)


def test_the_read_mark_of_who_is_away_stays_where_it_is(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        first: StagedRun = desk.next()
        await desk.send("one")
        await desk.send("two")
        read = desk.store.marks("c", "owner").read_seq
        desk.finish_at_once(1)
        first.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 2)
        assert desk.store.marks("c", "owner").read_seq == read

    at_desk(scenario, tmp_path)


def test_a_chat_that_another_server_runs_takes_nothing_here_and_keeps_its_queue(
    tmp_path: Path,
) -> None:
    async def scenario(desk: Desk) -> None:
        desk.agents.known = MISSING
        await desk.enqueue("one")
        await desk.settle()
        lease = Lease("another-host/boot:1:2:3", 1)
        desk.stage.alive.add(lease.holder)
        run = RunRecord(run_id="theirs", chat_id="c", provider="staged", lease=lease)
        desk.store.start_run(run, [])
        for delivery in ("auto", "queue", "now", "steer"):
            with pytest.raises(Busy) as refused:
                await desk.send(delivery, delivery)  # type: ignore[arg-type]
            assert refused.value.details["holder"] == lease.holder
        assert desk.waiting == ["one"]
        here = Desk(desk.stage, tmp_path, "wait")  # this server starts while theirs works
        here.queue.begin()
        assert here.pause is None
        await here.queue.close()

    at_desk(scenario, tmp_path)


@pytest.mark.parametrize("after_crash", ["wait", "run"])
def test_the_queue_of_a_server_that_dies_beside_this_one_waits_as_after_a_crash(
    tmp_path: Path, after_crash: Any
) -> None:
    async def scenario(desk: Desk) -> None:
        desk = Desk(desk.stage, tmp_path, after_crash)
        desk.queue.begin()
        desk.stage.hub.begin()
        ready, desk.agents.known = desk.agents.known, MISSING
        await desk.enqueue("one")
        await desk.settle()
        lease = Lease("another-host/boot:1:2:3", 1)
        desk.stage.alive.add(lease.holder)
        run = RunRecord(run_id="theirs", chat_id="c", provider="staged", lease=lease)
        desk.store.start_run(run, [])
        desk.agents.known = ready
        desk.finish_at_once(1)
        desk.stage.alive.discard(lease.holder)
        desk.stage.hub.refuse_remote("c")
        if after_crash == "wait":
            assert desk.pause == "restarted"
            desk.queue.resume("c")
        await until(lambda: desk.outcomes() == ["interrupted", "completed"])
        assert desk.sent() == ["one"]
        await desk.queue.close()

    at_desk(scenario, tmp_path, begin=False)


def test_what_is_queued_while_the_chat_is_held_still_runs_afterwards(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.finish_at_once(1)
        with desk.stage.hub.still("c"):
            await desk.enqueue("one")
            await desk.settle()
            assert desk.sent() == []
        await until(lambda: desk.outcomes() == ["completed"])
        assert desk.waiting == []

    at_desk(scenario, tmp_path)
