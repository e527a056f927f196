"""Whatever happens at the same moment: a prompt is sent once or removed, never both, and as it was
edited last."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from pathlib import Path

import pytest

from jupyter_agentchat.chats.access import Caller
from jupyter_agentchat.errors import AgentChatError, Busy, NotFound, Stale
from tests.unit.runs.staged import DONE
from tests.waiting import until

from .desk import Desk, at_desk


class Person:
    """Removes, edits and reorders at random, and remembers what the server said."""

    def __init__(self, desk: Desk, ids: dict[str, str], dice: random.Random) -> None:
        self.desk = desk
        self.ids = ids
        self.dice = dice
        self.removed: set[str] = set()
        self.texts = dict(ids)

    async def play(self, moves: int) -> None:
        for _ in range(moves):
            for _ in range(self.dice.randrange(6)):
                await asyncio.sleep(0)
            item_id = self.dice.choice(list(self.ids))
            move = self.dice.choice([self.remove, self.edit, self.shuffle])
            with suppress(NotFound, Stale):  # it was sent, or removed, a moment ago
                move(item_id)

    def remove(self, item_id: str) -> None:
        self.desk.queue.remove("c", item_id)
        assert item_id not in self.removed
        self.removed.add(item_id)

    def edit(self, item_id: str) -> None:
        text = f"{self.ids[item_id]} edited {self.dice.random()}"
        self.desk.queue.edit("c", item_id, text)
        self.texts[item_id] = text

    def shuffle(self, _item_id: str) -> None:
        order = [item.id for item in self.desk.queue.view("c").queue]
        self.dice.shuffle(order)
        self.desk.queue.order("c", order)


class Look:
    """A look at the project's trust that takes until the test says `go`."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self) -> None:
        self.begun.set()
        await self.go.wait()


@pytest.mark.parametrize("seed", range(40))
def test_removing_and_editing_race_safely_with_sending(tmp_path: Path, seed: int) -> None:
    async def scenario(desk: Desk) -> None:
        dice = random.Random(seed)

        async def looking() -> None:
            for _ in range(dice.randrange(8)):
                await asyncio.sleep(0)

        desk.trust.looking = looking
        first = desk.next()
        await desk.send("first")
        names = [f"prompt {number}" for number in range(8)]
        ids = dict(zip(await desk.enqueue(*names), names, strict=True))
        desk.finish_at_once(len(names))
        people = [Person(desk, ids, dice), Person(desk, ids, dice)]
        # the two share what they know: the last word of either counts
        people[1].removed, people[1].texts = people[0].removed, people[0].texts
        first.end(DONE)
        await asyncio.gather(*(person.play(12) for person in people))
        await until(lambda: not desk.waiting and desk.stage.hub.state("c") == "idle")
        await desk.settle()
        removed, texts = people[0].removed, people[0].texts
        expected = sorted(texts[item_id] for item_id in ids if item_id not in removed)
        assert sorted(desk.sent()[1:]) == expected
        assert set(desk.outcomes()) == {"completed"}

    at_desk(scenario, tmp_path)


def test_of_two_tabs_that_send_now_exactly_one_runs(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.next()
        answers = await asyncio.gather(
            *(desk.send(f"tab {number}", "now") for number in range(5)), return_exceptions=True
        )
        ran = [answer for answer in answers if not isinstance(answer, BaseException)]
        refused = [answer for answer in answers if isinstance(answer, Busy)]
        assert (len(ran), len(refused)) == (1, 4)
        assert len(desk.sent()) == 1

    at_desk(scenario, tmp_path)


def test_a_prompt_that_is_sent_twice_at_once_is_taken_once(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        run = desk.next()
        same = await asyncio.gather(*(desk.send("one", client_id="1") for _ in range(4)))
        assert len({answer.run_id for answer in same}) == 1
        queued = await asyncio.gather(*(desk.send("two", client_id="2") for _ in range(4)))
        assert len({answer.queue_item.id for answer in queued if answer.queue_item}) == 1
        assert desk.waiting == ["two"]
        desk.finish_at_once(1)
        run.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 2)

    at_desk(scenario, tmp_path)


def test_prompts_of_many_tabs_during_a_run_are_all_kept_and_all_run_once(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        first = desk.next()
        await desk.send("first")
        texts = [f"tab {number}" for number in range(10)]
        desk.finish_at_once(len(texts))
        sending = asyncio.gather(*(desk.send(text) for text in texts))
        first.end(DONE)
        answers = await sending
        assert all(answer.run_id or answer.queue_item for answer in answers)
        await until(lambda: len(desk.stage.log()) and not desk.waiting)
        await until(lambda: desk.outcomes() == ["completed"] * 11)
        assert sorted(desk.sent()[1:]) == sorted(texts)

    at_desk(scenario, tmp_path)


def test_the_item_that_runs_next_is_the_one_that_is_first_by_then(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        look = Look()
        first = desk.next()
        await desk.send("first")
        one, two = await desk.enqueue("one", "two")
        desk.trust.looking = look
        desk.finish_at_once(2)
        first.end(DONE)
        await look.begun.wait()  # on behalf of `one`
        desk.queue.order("c", [two, one])
        desk.queue.edit("c", one, "one, corrected")
        look.go.set()
        await until(lambda: desk.outcomes() == ["completed"] * 3)
        assert desk.sent() == ["first", "two", "one, corrected"]

    at_desk(scenario, tmp_path)


def test_stop_between_two_queued_prompts_holds_back_the_next(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        look = Look()
        first = desk.next()
        await desk.send("first")
        await desk.enqueue("one")
        desk.trust.looking = look
        first.end(DONE)
        await look.begun.wait()
        assert not desk.queue.stop("c")  # nothing runs at this moment
        look.go.set()
        await desk.settle()
        assert desk.sent() == ["first"]
        assert desk.pause == "stopped"

    at_desk(scenario, tmp_path)


def test_two_servers_send_a_queued_prompt_once(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.queue.pause("c")
        await desk.enqueue("one")
        other = Desk(desk.stage, tmp_path, "wait")  # a second look at the same store
        other.queue.begin()
        desk.finish_at_once(1)
        desk.queue.resume("c")
        other.queue.wake("c")
        await until(lambda: desk.outcomes() == ["completed"])
        await desk.settle()
        assert desk.sent() == ["one"]
        await other.queue.close()

    at_desk(scenario, tmp_path)


def test_prompts_of_two_people_keep_their_names_apart(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        first = desk.next()
        await desk.send("one")
        ada = Caller("ada", "Ada")
        await desk.send("same id", client_id="1")
        await desk.send("same id", client_id="1", caller=ada)
        assert [item.author.username for item in desk.queue.view("c").queue] == ["owner", "ada"]
        desk.finish_at_once(2)
        first.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 3)
        authors = [e["author"]["name"] for e in desk.stage.log() if e["type"] == "user"]
        assert authors == ["You", "You", "Ada"]

    at_desk(scenario, tmp_path)


def test_a_refused_prompt_can_be_sent_again(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.trust.answer = None
        with pytest.raises(AgentChatError):
            await desk.send("one", client_id="1")
        desk.trust.answer = True
        desk.finish_at_once(1)
        assert (await desk.send("one", client_id="1")).run_id
        await desk.stage.until_idle()

    at_desk(scenario, tmp_path)


def test_each_prompt_runs_with_the_trust_of_who_sent_it(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.trust.of = {"owner": True, "ada": False}
        look = Look()
        first = desk.next()
        await desk.send("first")
        (mine,) = await desk.enqueue("mine")
        hers = await desk.send("hers", caller=Caller("ada", "Ada"))
        assert hers.queue_item is not None
        desk.trust.looking = look
        desk.finish_at_once(2)
        first.end(DONE)
        await look.begun.wait()  # on behalf of the owner
        desk.queue.order("c", [hers.queue_item.id, mine])
        look.go.set()
        await until(lambda: desk.outcomes() == ["completed"] * 3)
        trusted = [(req.prompt, context.trusted) for req, context in desk.stage.adapter.requests]
        assert trusted == [("first", True), ("hers", False), ("mine", True)]

    at_desk(scenario, tmp_path)


def test_an_agent_that_comes_while_it_is_looked_for_is_not_missed(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        ready = desk.agents.known
        desk.agents.known = ready.model_copy(update={"state": "missing"})
        desk.finish_at_once(1)
        await desk.enqueue("one")
        await asyncio.sleep(0)  # the look has found it missing, and has not said so yet
        desk.agents.known = ready
        desk.queue.wake("c")
        await until(lambda: desk.outcomes() == ["completed"])

    at_desk(scenario, tmp_path)


def test_a_prompt_that_another_server_took_away_holds_up_nobody(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        desk.trust.of = {"ada": True}
        first = desk.next()
        await desk.send("first")
        (mine,) = await desk.enqueue("mine")
        await desk.send("hers", caller=Caller("ada", "Ada"))
        look = Look()
        desk.trust.looking, desk.trust.answer = look, None
        desk.finish_at_once(1)
        first.end(DONE)
        await look.begun.wait()  # on behalf of the owner, who has not decided
        desk.store.unqueue("c", mine)
        look.go.set()
        await until(lambda: desk.outcomes() == ["completed"] * 2)
        assert desk.sent() == ["first", "hers"]

    at_desk(scenario, tmp_path)
