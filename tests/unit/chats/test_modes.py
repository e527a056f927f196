"""The stricter of mode, choice and the admin's maximum wins; prompts get the mode's policy."""

from __future__ import annotations

from typing import get_args

import pytest

from jupyter_agentchat.chats.modes import POLICY, TOP, effective_permission, effective_prompt
from jupyter_agentchat.protocol.words import PERMISSIONS, Mode, Permission


@pytest.mark.parametrize(
    ("chosen", "mode", "maximum", "holds"),
    [
        ("ask", "code", "full", "ask"),
        ("full", "code", "full", "full"),
        ("full", "plan", "full", "read_only"),
        ("full", "review", "full", "ask"),
        ("accept_edits", "chat", "full", "ask"),
        ("read_only", "full_auto", "full", "read_only"),
        ("full", "full_auto", "accept_edits", "accept_edits"),
        ("accept_edits", "debug", "ask", "ask"),
    ],
)
def test_the_stricter_wins(
    chosen: Permission, mode: Mode, maximum: Permission, holds: Permission
) -> None:
    assert effective_permission(chosen, mode, maximum) == holds


def test_no_mode_ever_allows_more_than_was_chosen() -> None:
    for mode in get_args(Mode):
        for chosen in PERMISSIONS:
            held = effective_permission(chosen, mode, "full")
            assert PERMISSIONS.index(held) <= PERMISSIONS.index(chosen)


def test_every_mode_has_a_policy_and_only_code_has_none() -> None:
    assert set(POLICY) == set(TOP) == set(get_args(Mode))
    assert [mode for mode, policy in POLICY.items() if not policy] == ["code"]
    assert effective_prompt("fix it", "code") == "fix it"
    assert effective_prompt("fix it", "plan").endswith("\n\nfix it")
