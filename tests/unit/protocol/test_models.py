"""Strict at our edges: what does not belong is refused; what agents leave out is filled in."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from jupyter_agentchat.protocol.events import EVENT_BODY, ToolUseStart
from jupyter_agentchat.protocol.frames import CLIENT_FRAME
from jupyter_agentchat.protocol.resources import ChatPatch
from jupyter_agentchat.protocol.tools import OtherInput, ShellInput
from jupyter_agentchat.protocol.words import PERMISSIONS, stricter
from jupyter_agentchat.store.base import StoredEvent


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "notice", "code": "c", "text": "a\\u0000b"}',
        '{"type": "notice", "code": "c", "text": "\\ud800"}',
        '{"type": "notice", "code": "c", "text": "t", "extra": 1}',
        '{"type": "nothing"}',
        '{"type": "assistant_text", "delta": "no item"}',
        '{"type": "assistant_text", "item_id": "", "delta": "x"}',
    ],
)
def test_a_body_that_does_not_belong_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        EVENT_BODY.validate_json(text)


def test_an_agent_need_not_repeat_the_kind_inside_the_input() -> None:
    body = EVENT_BODY.validate_json(
        '{"type":"tool_use_start","tool_id":"t","name":"Bash","kind":"shell","title":"ls",'
        '"input":{"command":"ls"}}'
    )
    assert isinstance(body, ToolUseStart)
    assert body.input == ShellInput(command="ls")
    bare = EVENT_BODY.validate_json('{"type":"tool_use_start","tool_id":"t","name":"X","input":{}}')
    assert isinstance(bare, ToolUseStart)
    assert bare.input == OtherInput()


def test_frames_name_no_user() -> None:
    with pytest.raises(ValidationError):
        CLIENT_FRAME.validate_json(
            '{"type":"prompt","chat_id":"c","client_id":"1","text":"t","author":"root"}'
        )


def test_a_patch_knows_what_was_left_out() -> None:
    patch = ChatPatch.model_validate_json('{"model": null, "pinned": true}')
    assert patch.model_fields_set == {"model", "pinned"}


def test_the_stricter_permission_is_the_same_from_both_sides() -> None:
    for first in PERMISSIONS:
        for second in PERMISSIONS:
            assert stricter(first, second) == stricter(second, first)
    assert stricter("full", "read_only") == "read_only"


def test_a_stored_event_of_an_unknown_type_is_passed_on_as_it_is() -> None:
    event = StoredEvent("c", 7, "2026-01-01T00:00:00.000Z", None, "new", '{"type":"new","x":1}')
    assert event.body() is None
    assert event.wire_json() == (
        '{"seq":7,"time":"2026-01-01T00:00:00.000Z","run_id":null,"type":"new","x":1}'
    )
