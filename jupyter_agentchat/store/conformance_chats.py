"""The part of the suite that is about chats, prompts, decisions and blobs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ..errors import BadRequest, NotFound, StoreClosed
from ..protocol.resources import ChatParent, ChatUsage
from .base import ChatRecord, PersonMarks, Store, TrustRecord
from .conformance_samples import Factory, delta, equal, notice, opened, record, refused, true


def a_chat_comes_back_as_it_was_saved(make: Factory) -> None:
    with opened(make) as store:
        full = replace(
            record(
                "a",
                project_path="/home/owner/ä b",
                project="ä b",
                title="Ä title 👋",
                provider="claude",
                mode="full_auto",
                permission="full",
                skills=["host:x"],
                sessions={"claude": "s"},
                parent=ChatParent(chat_id="p", seq=3),
                usage=ChatUsage(input_tokens=1, cost_usd=0.5),
                attention="failed",
            ),
            auto_title=False,
            permission_before_full_auto="ask",
        )
        store.create_chat(full)
        equal(store.chat("a"), full, "a new chat")
        with refused(ValueError):
            store.create_chat(record("a"))
        changed = full.with_chat(title="Other")
        store.save_chat(changed)
        equal(store.chat("a"), changed, "a changed chat")


def saving_a_chat_does_not_touch_its_log(make: Factory) -> None:
    with opened(make, "a") as store:
        before = store.chat("a")
        event = store.append("a", [notice()])[0]
        store.save_chat(before.with_chat(title="Renamed", last_seq=99, updated=before.chat.updated))
        chat = store.chat("a").chat
        equal((chat.title, chat.last_seq, chat.updated), ("Renamed", 1, event.time))
        equal(store.last_seq("a"), 1)


def the_list_shows_the_newest_activity_first(make: Factory) -> None:
    with opened(make) as store:
        for number, chat_id in enumerate(("a", "b", "c")):
            store.create_chat(record(chat_id, updated=f"2020-01-0{number + 1}T00:00:00.000Z"))
        equal(_listed(store), ["c", "b", "a"], "by time")
        event = store.append("a", [notice()])[0]
        equal(_listed(store), ["a", "c", "b"], "after an event")
        store.append("b", [delta("i")])
        first = store.list_chats()[0][0].chat
        equal((first.id, first.last_seq, first.updated), ("a", 1, event.time), "streaming")


def the_list_is_filtered_by_project_archive_and_title(make: Factory) -> None:
    with opened(make) as store:
        for chat_id, path, title, archived in (
            ("a", "/one", "Straße im Regen", False),
            ("b", "/two", "100% of _it_", False),
            ("c", "/one", "Old rain", True),
            ("d", None, "Loose", False),
        ):
            store.create_chat(record(chat_id, project_path=path, title=title))
            if archived:
                store.save_marks(chat_id, "owner", PersonMarks(archived=True))
        equal(sorted(_listed(store)), ["a", "b", "d"], "not archived")
        equal(_listed(store, project_path="/one"), ["a"], "one project")
        equal(_listed(store, archived=True), ["c"], "archived")
        equal(_listed(store, query="STRASSE"), ["a"], "whatever the case")
        equal(_listed(store, query="%"), ["b"], "signs mean themselves")
        equal(_listed(store, query="it_"), ["b"], "signs mean themselves")
        equal(_listed(store, query="nothing"), [], "no match")
        store.save_chat(store.chat("d").with_chat(title="Tight"))
        store.save_marks("d", "owner", PersonMarks(archived=True, read_seq=3))
        equal(sorted(_listed(store, archived=True)), ["c", "d"], "after a change")
        equal(_listed(store, query="tight", archived=True), ["d"], "after a rename")


def the_list_comes_in_pages_without_gap_or_repeat(make: Factory) -> None:
    with opened(make) as store:
        for number in range(25):
            when = f"2020-01-01T00:00:00.00{number % 3}Z"  # many at one time
            store.create_chat(record(f"chat~{number}", updated=when))
        found: list[str] = []
        cursor: str | None = None
        while True:
            records, cursor = store.list_chats(limit=4, cursor=cursor)
            found += [item.chat.id for item in records]
            if cursor is None:
                break
        equal(found, _listed(store, limit=500), "the pages together")
        equal(len(set(found)), 25, "each chat once")
        equal(len(_listed(store, limit=0)), 1, "at least one")
        with refused(BadRequest):
            store.list_chats(cursor="nonsense")


def a_deleted_chat_is_gone_from_everywhere(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        store.append("a", [notice()])
        store.delete_chat("a", when="2026-01-01T00:00:00.000Z")
        equal(_listed(store), ["b"], "the list")
        for call in (
            lambda: store.chat("a"),
            lambda: store.events_after("a", 0),
            lambda: store.append("a", [notice()]),
            lambda: store.save_chat(record("a")),
            lambda: store.delete_chat("a", when="2026-01-01T00:00:00.000Z"),
        ):
            with refused(NotFound):
                call()


def a_resent_prompt_gets_its_first_answer(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        equal(store.find_prompt("a", "owner", "c1"), None, "never sent")
        store.remember_prompt("a", "owner", "c1", {"run_id": "first"})
        store.remember_prompt("a", "owner", "c1", {"run_id": "second"})
        equal(store.find_prompt("a", "owner", "c1"), {"run_id": "first"}, "resent")
        equal(store.find_prompt("a", "guest", "c1"), None, "another author")
        equal(store.find_prompt("b", "owner", "c1"), None, "another chat")


def trust_is_kept_per_person_and_directory(make: Factory) -> None:
    with opened(make) as store:
        equal(store.trust("owner", "/p"), None, "nobody decided")
        no = TrustRecord("owner", "/p", "digest", False, "2026-01-01T00:00:00.000Z")
        store.save_trust(no)
        equal(store.trust("owner", "/p"), no, "decided")
        yes = replace(no, digest="other", trusted=True)
        store.save_trust(yes)
        equal(store.trust("owner", "/p"), yes, "decided anew")
        equal(store.trust("guest", "/p"), None, "another person")


def projects_are_counted_with_their_chats(make: Factory) -> None:
    with opened(make) as store:
        store.create_chat(record("a", project_path="/one"))
        store.create_chat(record("b", project_path="/one"))
        store.save_marks("b", "owner", PersonMarks(archived=True))
        store.create_chat(record("c", project_path="/two"))
        store.create_chat(record("d"))
        store.add_project("/empty")
        store.add_project("/one")
        store.delete_chat("c", when="2026-01-01T00:00:00.000Z")
        equal(store.projects(), [("/empty", 0), ("/one", 2)])


def the_last_selection_is_kept_per_person(make: Factory) -> None:
    with opened(make) as store:
        equal(store.selection("owner"), {}, "nothing chosen")
        store.save_selection("owner", {"provider": "claude", "model": None})
        store.save_selection("owner", {"provider": "tour"})
        equal(store.selection("owner"), {"provider": "tour"}, "the last one")
        equal(store.selection("guest"), {}, "another person")


def large_output_is_kept_beside_the_log(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        data = bytes(range(256)) * 1000
        blob_id = store.put_blob("a", data, "image/png")
        equal(store.blob("a", blob_id), (data, "image/png"), "the bytes")
        equal(store.put_blob("a", data, "image/png"), blob_id, "stored again")
        true(store.put_blob("a", data, "text/plain") != blob_id, "another type is another blob")
        for chat_id, wanted in (("b", blob_id), ("a", "nothing")):
            with refused(NotFound):
                store.blob(chat_id, wanted)


def a_closed_store_says_so(make: Factory) -> None:
    with opened(make, "a") as store:
        true(store.health.writable and store.health.notice is None, "a new store is healthy")
        true(store.epoch, "it has an epoch")
        store.close()
        store.close()
        for call in (lambda: store.append("a", [notice()]), lambda: store.events_after("a", 0)):
            with refused(StoreClosed):
                call()


def _listed(store: Store, **filters: object) -> list[str]:
    asked: dict[str, Any] = {"username": "owner", **filters}
    records: list[ChatRecord] = store.list_chats(**asked)[0]
    return [item.chat.id for item in records]


CHATS: Final = (
    a_chat_comes_back_as_it_was_saved,
    saving_a_chat_does_not_touch_its_log,
    the_list_shows_the_newest_activity_first,
    the_list_is_filtered_by_project_archive_and_title,
    the_list_comes_in_pages_without_gap_or_repeat,
    a_deleted_chat_is_gone_from_everywhere,
    a_resent_prompt_gets_its_first_answer,
    trust_is_kept_per_person_and_directory,
    projects_are_counted_with_their_chats,
    the_last_selection_is_kept_per_person,
    large_output_is_kept_beside_the_log,
    a_closed_store_says_so,
)
