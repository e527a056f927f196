"""A queued prompt is neither lost nor run twice, whoever is killed, whoever else takes it."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

from jupyter_agentchat.store.conformance_samples import record
from jupyter_agentchat.store.sqlite import open_store
from tests.unit.store.writers import writers_of

KILLS = 30
WRITER = "queue_writer"


def _run_and_waiting(data_dir: Path) -> tuple[Counter[str], list[str]]:
    """How often each prompt has run, and those that still wait."""
    with closing(open_store(data_dir)) as store:
        events = store.events_after("chat", 0, limit=100_000).events
        assert store.health.notice is None
        ran = Counter(json.loads(e.body_json)["text"] for e in events if e.type == "user")
        return ran, [item.id for item in store.queue("chat")]


def test_thirty_killed_servers_lose_no_queued_prompt_and_run_none_twice(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with closing(open_store(data_dir)) as store:
        store.create_chat(record("chat"))
    random = Random(3)
    accepted: set[str] = set()
    begun: set[str] = set()
    with writers_of(WRITER, data_dir) as writers:
        for kill in range(KILLS):
            writers.start("chat", kill)
            pid = writers.line()["pid"]
            for _ in range(random.randint(0, 30)):
                line = writers.line()
                accepted |= {line["queued"]} if "queued" in line else set()
                begun |= {line["ran"]} if "ran" in line else set()
            os.kill(pid, signal.SIGKILL)
            writers.start("chat", 1_000 + kill, 1)  # its lines end what the killed one had said
            while "done" not in (line := writers.line()):
                accepted |= {line["queued"]} if "queued" in line else set()
                begun |= {line["ran"]} if "ran" in line else set()
            ran, waiting = _run_and_waiting(data_dir)
            assert not [text for text, times in ran.items() if times > 1], f"twice, kill {kill}"
            assert len(set(waiting)) == len(waiting), f"kill {kill}"
            assert not set(ran) & set(waiting), f"has run and waits, kill {kill}"
            assert accepted <= set(ran) | set(waiting), f"lost, kill {kill}"
            assert begun <= set(ran), f"a run that was said is gone, kill {kill}"
    assert begun, "nothing ran at all"


def test_of_two_servers_that_take_one_prompt_exactly_one_wins(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with closing(open_store(data_dir)) as store:
        store.create_chat(record("chat"))
    accepted: list[str] = []
    begun: list[str] = []
    ended = 0
    with writers_of(WRITER, data_dir) as writers:
        for seed in (1, 2):
            writers.start("chat", seed, 150)
        while ended < 2:
            line = writers.line()
            ended += "done" in line
            accepted += [line["queued"]] if "queued" in line else []
            begun += [line["ran"]] if "ran" in line else []
    ran, waiting = _run_and_waiting(data_dir)
    assert sorted(begun) == sorted(ran)
    assert set(ran.values()) == {1}
    assert sorted(accepted) == sorted([*ran, *waiting])
