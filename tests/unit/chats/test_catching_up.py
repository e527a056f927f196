"""An agent that comes back is told what others did meanwhile; who was not away costs one event."""

from __future__ import annotations

from typing import Any

from jupyter_agentchat.chats.catching_up import missed_messages
from jupyter_agentchat.protocol.base import now
from jupyter_agentchat.protocol.events import AssistantText, Complete, RunStarted, User
from jupyter_agentchat.protocol.resources import Author, Chat
from jupyter_agentchat.store.base import ChatRecord, Draft, RunRecord
from jupyter_agentchat.store.memory import MemoryStore

LIMIT = 10_000


class Counting(MemoryStore):
    """Counts the events that were read backwards."""

    read = 0

    def events_before(self, chat_id: str, before: int | None, **options: Any) -> Any:
        page = super().events_before(chat_id, before, **options)
        self.read += len(page.events)
        return page


def chat_of(*runs: tuple[str, str], answers: int = 1) -> Counting:
    """A chat in which each (agent, prompt) was answered, `answers` times."""
    store = Counting()
    store.create_chat(ChatRecord(chat=Chat(id="c", created=now(), updated=now())))
    for number, (provider, prompt) in enumerate(runs):
        run_id = f"r{number}"
        author = Author(username="owner", name="You")
        user = User(text=prompt, author=author, client_id=run_id)
        run = RunRecord(run_id=run_id, chat_id="c", provider=provider)
        store.start_run(run, [Draft(user), Draft(RunStarted(provider=provider))])
        said = [
            AssistantText(item_id=f"{run_id}.{item}", text=f"{provider} on {prompt}", final=True)
            for item in range(answers)
        ]
        ends = [*map(Draft, said), Draft(Complete(outcome="completed"))]
        store.append("c", ends, run_id=run_id, outcome="completed")
    return store


def test_what_the_others_were_asked_and_said_is_told_in_order() -> None:
    store = chat_of(("a", "one"), ("b", "two"), ("c", "three"))
    assert missed_messages(store, "c", "a", LIMIT) == [
        ("Person", "two"),
        ("Agent", "b on two"),
        ("Person", "three"),
        ("Agent", "c on three"),
    ]
    assert missed_messages(store, "c", "b", LIMIT) == [("Person", "three"), ("Agent", "c on three")]


def test_who_ran_last_has_missed_nothing_however_long_its_run_was() -> None:
    store = chat_of(("b", "one"), ("a", "two"), answers=2_000)
    assert missed_messages(store, "c", "a", LIMIT) == []
    assert store.read == 1


def test_a_long_absence_is_read_as_far_as_the_limit_needs() -> None:
    store = chat_of(("a", "one"), ("b", "two"), answers=2_000)
    assert missed_messages(store, "c", "a", LIMIT)[-1] == ("Agent", "b on two")
    assert store.read <= 500
