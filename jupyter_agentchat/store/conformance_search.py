"""The part of the suite that is about finding texts again: which, by which words, and where not."""

from __future__ import annotations

from typing import Final

from ..protocol.events import RewindUndone, Rewound, ToolUseStart
from .base import Store
from .conformance_samples import Factory, delta, equal, final, notice, opened, prompt, record, true
from .records import Draft

LATER: Final = "2030-01-01T00:00:00.000Z"


def prompts_answers_tools_and_titles_are_found(make: Factory) -> None:
    with opened(make) as store:
        store.create_chat(record("a", title="Quarterly figures", project_path="/p"))
        store.append(
            "a", [prompt("Where is the needle?"), delta("i", "haystack"), notice("needle")]
        )
        store.append("a", [final("i", "In the haystack", (2, 2)), _tool("Read it", "src/app.py")])
        equal(_found(store, "needle"), [("a", 1)], "a prompt, and no notice")
        equal(_found(store, "haystack"), [("a", 4)], "an answer, and not its pieces")
        equal(_found(store, "src/app.py"), [("a", 5)], "the path of a tool call")
        equal(_found(store, "read it"), [("a", 5)], "its title")
        equal(_found(store, "quarterly"), [("a", 0)], "the chat's title")
        store.save_chat(store.chat("a").with_chat(title="Yearly figures"))
        equal(_found(store, "quarterly"), [], "not the title of before")
        (hit,) = store.search("yearly", project_paths=None, limit=9)
        equal((hit.title, hit.snippet), ("Yearly figures", "\ue000Yearly\ue001 figures"), "title")
        (hit,) = store.search("needle", project_paths=None, limit=9)
        event = store.events_after("a", 0).events[0]
        equal((hit.title, hit.time), ("Yearly figures", event.time), "what a hit says")
        equal(hit.snippet, "Where is the \ue000needle\ue001?", "its line")


def words_are_found_without_case_and_accents_and_by_their_beginning(make: Factory) -> None:
    texts = {
        1: "Die Straße nach Kraków, café de\u0301ja vu",
        2: "日本語の検索を試す 한국어도",
        3: "done 👍🏽 ship it 🚀",
        4: "call my_long_function(x) in /src/main.rs",
        5: "ไทยก็ค้นหาได้ नमस्ते दुनिया",
    }
    with opened(make, "a") as store:
        store.append("a", [prompt(text, str(seq)) for seq, text in texts.items()])
        for query, seq in (
            ("STRASSE", 1),
            ("krakow", 1),
            ("CAFÉ deja", 1),
            ("vu kra", 1),
            ("検索", 2),
            ("本語", 2),
            ("국어", 2),
            ("👍", 3),
            ("🚀", 3),
            ("ship 🚀", 3),
            ("function", 4),
            ("my_long", 4),
            ("main.rs", 4),
            ("ค้นหา", 5),
            ("नमस्ते", 5),
        ):
            equal(_found(store, query), [("a", seq)], query)
        for query in ("trasse", "krako vu", "索検", "🎉", "main_rs_", "mainrs"):
            expected = [("a", 4)] if query == "main_rs_" else []
            equal(_found(store, query), expected, query)


def no_query_is_an_error_or_means_more_than_its_words(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt("alpha beta"), prompt("gamma NOT delta near")])
        for query in (
            '"', "'", "(", "*", "^", "%", "", "  ", "\x00", "-", '" OR "1', "a AND", "words:",
            "NEAR(", "'; DROP TABLE texts; --", "\ud800", "😀" * 500,
            "x " * 5000, "{alpha beta}: 1",
        ):  # fmt: skip
            store.search(query, project_paths=None, limit=5)
        equal(_found(store, 'alpha" OR "gamma'), [], "no operator")
        equal(_found(store, "alpha -beta"), [("a", 1)], "no operator, either")
        equal(_found(store, "NOT delta"), [("a", 2)], "words of the language are words")
        equal(_found(store, "near"), [("a", 2)], "words of the language are words")
        equal(_found(store, "beta alpha"), [("a", 1)], "in any order")
        equal(_found(store, "al be"), [], "only the last word may be a beginning")
        equal(store.last_seq("a"), 2, "nothing was broken")


def what_was_cut_or_deleted_is_not_found(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        store.append("a", [prompt("secret one"), prompt("secret two"), prompt("secret three")])
        store.append("b", [prompt("secret elsewhere")])
        store.append("a", [Draft(Rewound(from_seq=2, to_seq=3, method="native"))])
        equal(sorted(_found(store, "secret")), [("a", 1), ("b", 1)], "what is left")
        store.append("a", [Draft(RewindUndone(from_seq=2, to_seq=3, method="native"))])
        equal(sorted(_found(store, "secret")), [("a", 1), ("a", 2), ("a", 3), ("b", 1)], "undone")
        store.delete_chat("a", when="2026-01-01T00:00:00.000Z")
        equal(_found(store, "secret"), [("b", 1)], "the trash is not searched")
        store.restore_chat("a")
        equal(len(_found(store, "secret")), 4, "restored")
        store.delete_chat("a", when="2026-01-01T00:00:00.000Z")
        equal(store.purge_trash(LATER), ["a"], "purged")
        equal(_found(store, "secret"), [("b", 1)], "purged")
        store.create_chat(record("a"))
        equal(_found(store, "secret"), [("b", 1)], "nothing comes back with the id")


def a_search_keeps_to_its_projects_and_its_limit(make: Factory) -> None:
    with opened(make) as store:
        for chat_id, path in (("a", "/one"), ("b", "/two"), ("c", None)):
            store.create_chat(record(chat_id, project_path=path))
            store.append(chat_id, [prompt(f"word {number}") for number in range(5)])
        equal(len(store.search("word", project_paths=None, limit=50)), 15, "everywhere")
        for paths, chats in (
            (["/one"], {"a"}),
            (["/one", "/two", "/none"], {"a", "b"}),
            ([None], {"c"}),
            (["/two", None], {"b", "c"}),
            ([], set()),
        ):
            hits = store.search("word", project_paths=paths, limit=50)
            equal({hit.chat_id for hit in hits}, chats, str(paths))
        equal(len(store.search("word", project_paths=None, limit=4)), 4, "no more than asked for")
        store.save_chat(store.chat("a").with_chat(title="A word"))
        store.append("b", [prompt("the last word")])
        first, second, *_ = store.search("word", project_paths=None, limit=50)
        equal((first.chat_id, first.seq), ("a", 0), "titles come first")
        equal((second.chat_id, second.seq), ("b", 6), "then what is newest")
        equal(len(store.search("word", project_paths=None, limit=0)), 1, "at least one")


def a_long_text_shows_the_place_that_matched(make: Factory) -> None:
    with opened(make, "a") as store:
        around = "lorem ipsum " * 400
        store.append("a", [prompt(f"{around}the \ue000needle\ue001 lies here\n\n{around}")])
        (hit,) = store.search("needle lies", project_paths=None, limit=1)
        true("\ue000needle\ue001 \ue000lies\ue001 here" in hit.snippet, hit.snippet)
        equal(hit.snippet.count("\ue000"), 2, "marks of ours only")
        true(len(hit.snippet) < 300, "a line")


def _tool(title: str, path: str) -> Draft:
    body = {"tool_id": "t", "name": "Read", "kind": "read", "title": title, "input": {"path": path}}
    return Draft(ToolUseStart.model_validate(body))


def _found(store: Store, query: str) -> list[tuple[str, int]]:
    return [(hit.chat_id, hit.seq) for hit in store.search(query, project_paths=None, limit=50)]


SEARCH: Final = (
    prompts_answers_tools_and_titles_are_found,
    words_are_found_without_case_and_accents_and_by_their_beginning,
    no_query_is_an_error_or_means_more_than_its_words,
    what_was_cut_or_deleted_is_not_found,
    a_search_keeps_to_its_projects_and_its_limit,
    a_long_text_shows_the_place_that_matched,
)
