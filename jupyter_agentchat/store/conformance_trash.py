"""The part of the suite about what becomes of a whole chat: marks of persons, trash, copies."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..errors import NotFound
from ..protocol.events import RewindUndone, Rewound, ToolUseEnd
from .base import Store
from .conformance_samples import (
    Factory,
    delta,
    equal,
    final,
    notice,
    opened,
    prompt,
    queued,
    record,
    refused,
    run_of,
    seqs,
    started,
)
from .records import Draft, PersonMarks

EARLY, WHEN, LATER = (f"20{year}-01-01T00:00:00.000Z" for year in (25, 26, 27))


def each_person_has_marks_of_their_own(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        equal(store.marks("a", "owner"), PersonMarks(), "at first")
        mine = PersonMarks(read_seq=7, pinned=True, archived=True)
        store.save_marks("a", "owner", mine)
        store.save_marks("a", "guest", PersonMarks(pinned=True))
        equal(store.marks("a", "owner"), mine, "kept")
        equal(store.marks("b", "owner"), PersonMarks(), "another chat")
        listed = {
            (username, archived): [
                (item.chat.id, item.marks)
                for item in store.list_chats(username=username, archived=archived)[0]
            ]
            for username in ("owner", "guest", "")
            for archived in (False, True)
        }
        equal(listed["owner", True], [("a", mine)], "put away by its owner")
        equal(listed["owner", False], [("b", PersonMarks())], "not put away")
        equal(dict(listed["guest", False])["a"], PersonMarks(pinned=True), "seen by another")
        equal(len(listed["", False]), 2, "seen by nobody")
        store.save_chat(store.chat("a").with_chat(pinned=False, archived=False, title="t"))
        equal(store.marks("a", "owner"), mine, "saving the chat leaves them alone")
        chat = store.chat("a").chat
        equal((chat.pinned, chat.archived), (False, False), "the chat itself has none")
        for call in (
            lambda: store.marks("nowhere", "owner"),
            lambda: store.save_marks("nowhere", "owner", mine),
        ):
            with refused(NotFound):
                call()


def a_chat_comes_back_whole_out_of_the_trash(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        events = store.append("a", [prompt(), notice()])
        store.enqueue(queued("a", "1"))
        store.save_draft("a", "owner", "typed", "[]", 0)
        before = store.chat("a")
        with refused(NotFound):
            store.restore_chat("a")
        with refused(NotFound):
            store.trashed("a")
        store.delete_chat("a", when=WHEN)
        equal(replace(store.trashed("a"), deleted=None), before, "in the trash")
        equal(store.trashed("a").deleted, WHEN, "since when")
        equal(store.queued_chats(), [], "nothing of it runs")
        for call in (
            lambda: store.queue("a"),
            lambda: store.enqueue(queued("a", "2")),
            lambda: store.draft("a", "owner"),
            lambda: store.marks("a", "owner"),
            lambda: store.copy_events("a", record("c"), 9),
        ):
            with refused(NotFound):
                call()
        store.restore_chat("a")
        equal(store.chat("a"), before, "restored")
        equal(list(store.events_after("a", 0).events), events, "its log")
        equal(store.queue("a"), [queued("a", "1")], "its queue")
        equal(store.queue_pause("a"), "by_hand", "which does not run by itself")
        equal(store.draft("a", "owner").text, "typed", "its draft")


def purging_removes_all_of_a_chat_and_nothing_else(make: Factory) -> None:
    with opened(make, "a", "b", "c", "d") as store:
        blob_id = store.put_blob("a", b"x" * 5000, "text/plain")
        for chat_id in ("a", "b"):
            store.start_run(run_of(chat_id, f"r-{chat_id}"), [prompt(client_id="c1"), started()])
            store.append(chat_id, [notice()], run_id=f"r-{chat_id}", outcome="completed")
            store.enqueue(queued(chat_id, "1"))
            store.save_draft(chat_id, "owner", "typed", "[]", 0)
            store.save_marks(chat_id, "owner", PersonMarks(pinned=True))
        store.start_run(run_of("d", "r-d"), [prompt()])
        for chat_id, when in (("a", EARLY), ("c", WHEN), ("d", EARLY)):
            store.delete_chat(chat_id, when=when)
        equal([item.chat.id for item in store.trash()], ["c", "a", "d"], "latest first")
        equal(store.purge_trash(EARLY), [], "none is that old")
        equal(store.purge_trash(WHEN), ["a"], "older than that; d still runs")
        equal(store.purge_trash(WHEN), [], "again")
        with refused(NotFound):
            store.restore_chat("a")
        equal(store.trashed("c").chat.id, "c", "still in the trash")
        equal([item.chat.id for item in store.trash()], ["c", "d"], "what is left in it")
        equal(store.run("r-a"), None, "its run is gone")
        store.create_chat(record("a"))
        equal(store.last_seq("a"), 0, "its log is gone")
        equal(store.queue("a"), [], "its queue is gone")
        equal(store.draft("a", "owner").revision, 0, "its draft is gone")
        equal(store.marks("a", "owner"), PersonMarks(), "its marks are gone")
        equal(store.find_prompt("a", "owner", "client-1"), None, "its prompts are gone")
        with refused(NotFound):
            store.blob("a", blob_id)
        equal(_everything(store, "b"), (3, 1, "typed", True), "another chat is left as it is")


def a_copy_has_what_was_visible_with_numbers_of_its_own(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt("one"), started(), delta("i", "x"), notice("mid"), delta("i")])
        store.append("a", [final("i", "xx", (3, 5)), prompt("cut"), notice("cut")], run_id="r")
        store.append("a", [Draft(Rewound(from_seq=7, to_seq=8, method="native"))])
        store.append("a", [prompt("two"), delta("j", "open"), delta("j", "end")])
        store.append("a", [final("j", "open end", (11, 12))])
        before = store.events_after("a", 0, include_cut=True)
        last = store.copy_events("a", record("copy", title="Copy"), 10)
        equal(store.events_after("a", 0, include_cut=True), before, "the first chat is untouched")
        equal((last, store.last_seq("copy"), store.chat("copy").chat.last_seq), (6, 6, 6), "last")
        copied = store.events_after("copy", 0, include_cut=True).events
        # 3 is where the answer stands: its first piece was there
        equal(seqs(copied), [1, 2, 4, 5, 6], "new numbers, in the same order")
        bodies = [event.body() for event in copied]
        texts = [getattr(body, "text", None) for body in bodies]
        equal(texts, ["one", None, "mid", "xx", "two"], "the same events")
        equal(getattr(bodies[3], "first_seq", None), 3, "the answer stands where it stood")
        equal([event.time for event in copied][:2], [e.time for e in before.events[:2]], "times")
        equal(copied[3].run_id, "r", "runs")
        equal(seqs(store.turns_before("copy", None, turns=1).events), [6], "its turns")
        equal(store.append("copy", [notice()])[0].seq, 7, "it goes on")
        hits = store.search("two", project_paths=None, limit=9)
        equal(sorted((hit.chat_id, hit.seq) for hit in hits), [("a", 10), ("copy", 6)], "found")
        store.append("a", [Draft(RewindUndone(from_seq=7, to_seq=8, method="native"))])
        equal(len(store.events_after("copy", 0).events), 6, "and has its own life")


def a_copy_reads_its_blobs_and_may_be_empty(make: Factory) -> None:
    with opened(make, "a") as store:
        used, unused = (store.put_blob("a", data, "text/plain") for data in (b"used", b"unused"))
        block = {"type": "blob", "blob_id": used, "size": 4}
        store.append(
            "a", [prompt(), Draft(ToolUseEnd.model_validate(_end(block))), delta("i", "x")]
        )
        equal(store.copy_events("a", record("b"), 2), 2, "with its blob")
        store.delete_chat("a", when=EARLY)
        store.purge_trash(WHEN)
        equal(store.blob("b", used), (b"used", "text/plain"), "its blob outlives the first chat")
        with refused(NotFound):
            store.blob("b", unused)
        equal(store.copy_events("b", record("c"), 0), 0, "of nothing")
        equal(store.events_after("c", 0).events, (), "of nothing")
        with refused(ValueError):
            store.copy_events("b", record("c"), 2)
        with refused(NotFound):
            store.copy_events("nowhere", record("d"), 2)
        with refused(NotFound):
            store.chat("d")


def a_copy_of_an_open_item_keeps_its_pieces(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt(), delta("i", "x"), delta("i", "y"), notice(), delta("i", "z")])
        equal(store.copy_events("a", record("b"), 4), 4, "up to the middle")
        copied = store.events_after("b", 0).events
        equal([event.type for event in copied][1:3], ["assistant_text"] * 2, "its pieces")
        store.append("b", [final("i", "xy", (2, 3))])
        equal(seqs(store.events_after("b", 0).events), [1, 4, 5], "which a final replaces")


def _end(block: dict[str, object]) -> dict[str, object]:
    return {"tool_id": "t", "output": [block]}


def _everything(store: Store, chat_id: str) -> tuple[int, int, str, bool]:
    return (
        store.last_seq(chat_id),
        len(store.queue(chat_id)),
        store.draft(chat_id, "owner").text,
        store.marks(chat_id, "owner").pinned,
    )


TRASH: Final = (
    each_person_has_marks_of_their_own,
    a_chat_comes_back_whole_out_of_the_trash,
    purging_removes_all_of_a_chat_and_nothing_else,
    a_copy_has_what_was_visible_with_numbers_of_its_own,
    a_copy_reads_its_blobs_and_may_be_empty,
    a_copy_of_an_open_item_keeps_its_pieces,
)
