"""News of changed files arrives, one by one or together, however fast it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_agentchat.process import tail
from jupyter_agentchat.process.tail import DirectoryWatch

Run = Callable[..., Any]
WRITES = 400


def test_a_flood_of_changes_does_not_wake_us_for_each_and_the_last_is_told(
    run: Run, tmp_path: Path, monkeypatch: Any
) -> None:
    # any change counts as being right behind the one before
    monkeypatch.setattr(tail, "_BEHIND_S", 3600)
    monkeypatch.setattr(tail, "_REST_S", 0.05)
    told: list[int] = []

    async def scenario() -> None:
        watch = DirectoryWatch()
        news = asyncio.Event()

        def on_change(name: str) -> None:
            assert name == "out"
            told.append((tmp_path / "out").stat().st_size)
            news.set()

        (tmp_path / "out").touch()
        watch.add(tmp_path, on_change)
        with (tmp_path / "out").open("ab", buffering=0) as file:
            for _ in range(WRITES):
                file.write(b"x")
                for _ in range(3):  # as often as the loop would look
                    await asyncio.sleep(0)
        while not told or told[-1] < WRITES:
            news.clear()
            await news.wait()
        watch.close()

    run(scenario())
    assert len(told) < WRITES / 2
    assert told == sorted(told)


def test_changes_with_quiet_between_them_are_told_one_by_one(
    run: Run, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(tail, "_BEHIND_S", 0)
    monkeypatch.setattr(tail, "_REST_S", 3600)

    async def scenario() -> None:
        watch = DirectoryWatch()
        news = asyncio.Event()
        (tmp_path / "out").touch()
        watch.add(tmp_path, lambda _name: news.set())
        with (tmp_path / "out").open("ab", buffering=0) as file:
            for _ in range(50):
                file.write(b"x")
                await news.wait()
                news.clear()
        watch.close()

    run(scenario())


def test_a_watch_closed_in_a_flood_tells_no_more(
    run: Run, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(tail, "_BEHIND_S", 3600)
    monkeypatch.setattr(tail, "_REST_S", 0)

    async def scenario() -> None:
        watch = DirectoryWatch()
        (tmp_path / "out").touch()
        news = asyncio.Event()
        watch.add(tmp_path, lambda _name: news.set())
        with (tmp_path / "out").open("ab", buffering=0) as file:
            for _ in range(20):
                file.write(b"x")
                await news.wait()
                news.clear()
            file.write(b"x")
            watch.close()
        for _ in range(5):
            await asyncio.sleep(0)
        assert not news.is_set()

    run(scenario())
