"""Runs get their places in the order of coming, and none is lost."""

from __future__ import annotations

import asyncio

from jupyter_agentchat.runs.places import Places


def test_places_are_given_in_the_order_of_coming_and_a_cancel_loses_none() -> None:
    async def scenario() -> None:
        places = Places(1)
        await places.acquire()
        assert places.full
        order: list[str] = []

        async def run(name: str) -> None:
            await places.acquire()
            order.append(name)

        first, second, third = (asyncio.ensure_future(run(name)) for name in "abc")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        places.release()
        await asyncio.wait({first})
        assert order == ["a"]
        # the place is given, and at the same moment its taker is cancelled: the next one gets it
        places.release()
        third.cancel()
        await asyncio.wait({third})
        assert not places.full
        await asyncio.wait_for(places.acquire(), 1)
        assert places.full

    asyncio.run(scenario())


def test_runs_that_were_taken_over_may_be_more_than_the_limit() -> None:
    async def scenario() -> None:
        places = Places(1)
        places.take()
        places.take()
        waiting = asyncio.ensure_future(places.acquire())
        await asyncio.sleep(0)
        places.release()
        await asyncio.sleep(0)
        assert not waiting.done()  # one is still at work, and the limit is one
        places.release()
        await asyncio.wait_for(waiting, 1)

    asyncio.run(scenario())
