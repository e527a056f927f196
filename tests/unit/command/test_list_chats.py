"""The list of chats in a terminal."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_agentchat.command.list_chats import describe_age, describe_chat

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("updated", "age"),
    [
        ("2026-11-30T11:59:30.000Z", "now"),
        ("2026-11-30T11:15:00.000Z", "45 min"),
        ("2026-11-29T12:00:00.000Z", "24 h"),
        ("2026-11-20T12:00:00.000Z", "10 d"),
        ("yesterday", ""),
    ],
)
def test_ages_are_said_in_the_unit_that_fits(updated: str, age: str) -> None:
    assert describe_age(updated, NOW) == age


def test_a_row_says_who_where_and_what_needs_attention() -> None:
    chat = {
        "id": "0123456789abcdef",
        "state": "waiting",
        "attention": "needs_input",
        "provider": "claude",
        "project": "work/app",
        "title": "Fix\x1b[31m it",
        "updated": "2026-11-30T11:59:30.000Z",
    }
    row = describe_chat(chat, NOW)
    words = "0123456789abcdef needs_input now claude work/app Fix␛[31m it"
    assert " ".join(row.split()) == words
    idle = {**chat, "attention": None, "state": "idle", "unread": True, "project": ""}
    assert "unread" in describe_chat(idle, NOW)
    assert "(loose)" in describe_chat({**chat, "project": None}, NOW)
