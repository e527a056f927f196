"""Lines in an order that recordings do not have: late ends, messages put in, what was missed."""

from __future__ import annotations

from typing import Any

from jupyter_agentchat.protocol.events import (
    AskResolved,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Session,
    System,
)
from jupyter_agentchat.providers.opencode.translate import Translator, Turn
from jupyter_agentchat.providers.opencode.wire import Json, suffix_of

OWN = "msg_000000000001" + suffix_of("r")
PUT_IN = "msg_000000000005" + suffix_of("r", 1)


def event(kind: str, **properties: Any) -> Json:
    return {"directory": "/w", "payload": {"type": kind, "properties": properties}}


def user(message: str = OWN, session: str = "ses_1") -> Json:
    info = {"id": message, "role": "user", "sessionID": session}
    return event("message.updated", sessionID=session, info=info)


def answer(message: str, *, done: bool = False, session: str = "ses_1", **more: Any) -> Json:
    info: Json = {"id": message, "role": "assistant", "sessionID": session, "time": {}, **more}
    if done:
        info |= {"time": {"completed": 1}, "finish": more.get("finish", "stop")}
    return event("message.updated", sessionID=session, info=info)


def text(part: str, message: str, words: str, *, done: bool = True) -> Json:
    time = {"start": 1, "end": 2} if done else {"start": 1}
    whole = {"id": part, "messageID": message, "type": "text", "text": words, "time": time}
    return event("message.part.updated", sessionID="ses_1", part={**whole, "sessionID": "ses_1"})


def status(kind: str) -> Json:
    return event("session.status", sessionID="ses_1", status={"type": kind})


def failed(name: str, words: str = "") -> Json:
    error = {"name": name, "data": {"message": words}}
    return event("session.error", sessionID="ses_1", error=error)


def read(translator: Translator, *lines: Json) -> list[EventBody]:
    bodies: list[EventBody] = []
    for line in lines:
        bodies += translator.read(line)
    return bodies


def begun(*lines: Json) -> Translator:
    translator = Translator(Turn("r", "/w", session="ses_1"))
    read(translator, user(), *lines)
    return translator


def test_what_is_left_of_the_turn_before_ends_nothing() -> None:
    translator = Translator(Turn("r", "/w", session="ses_1"))
    old = [status("busy"), answer("msg_0", done=True), status("idle")]
    aborted = failed("MessageAbortedError")
    assert read(translator, *old, failed("UnknownError", "old"), aborted) == []
    assert not translator.over
    (session,) = read(translator, user())
    assert isinstance(session, Session)
    # the second idle of an abort comes late
    read(translator, status("idle"))
    assert not translator.over
    read(translator, status("busy"), answer("msg_2", done=True), status("idle"))
    assert translator.over
    (complete,) = translator.end()
    assert isinstance(complete, Complete)
    assert complete.outcome == "completed"


def test_after_an_abort_the_ends_of_the_parts_are_waited_for() -> None:
    translator = begun(status("busy"), answer("msg_2"), text("p", "msg_2", "", done=False))
    read(translator, failed("MessageAbortedError"), status("idle"))
    assert not translator.over
    assert translator.in_doubt
    bodies = read(translator, text("p", "msg_2", "what was said"))
    assert [body.text for body in bodies if isinstance(body, AssistantText)] == ["what was said"]
    read(translator, answer("msg_2", done=True))
    assert translator.over
    assert translator.end()[-1].outcome == "cancelled"  # type: ignore[union-attr]


def test_a_turn_that_tells_no_end_is_asked_for() -> None:
    translator = begun(status("busy"), status("idle"))
    assert translator.in_doubt
    busy = {"got": "r:status", "status": 200, "body": {"ses_1": {"type": "busy"}}}
    read(translator, busy)
    assert not translator.in_doubt
    read(translator, status("idle"), {"got": "r:status", "status": 200, "body": {}})
    assert translator.over


def test_a_message_put_in_holds_the_run_until_it_was_answered() -> None:
    translator = begun(status("busy"), answer("msg_2"))
    translator.expect(suffix_of("r", 1))
    read(translator, answer("msg_2", done=True), status("idle"))
    assert translator.waits_in_vain
    read(translator, user(PUT_IN))
    assert not translator.over
    read(translator, status("busy"), answer("msg_6"), status("idle"))
    assert not translator.over
    read(translator, answer("msg_6", done=True))
    assert translator.over


def test_an_overflow_that_it_mends_itself_is_no_failure() -> None:
    translator = begun(status("busy"), answer("msg_2", error={"name": "ContextOverflowError"}))
    bodies = read(
        translator,
        failed("ContextOverflowError", "too long"),
        event("session.compacted", sessionID="ses_1"),
        answer("msg_4", done=True),
        status("idle"),
    )
    assert [body.subtype for body in bodies if isinstance(body, System)] == ["compaction"]
    assert translator.over
    assert translator.end()[-1].outcome == "completed"  # type: ignore[union-attr]


def test_an_overflow_that_stays_is_one() -> None:
    translator = begun(status("busy"), answer("msg_2"))
    read(translator, failed("ContextOverflowError", "too long"), status("idle"))
    read(translator, {"got": "r:status", "status": 200, "body": {}})
    assert translator.over
    told = translator.end()[0]
    assert isinstance(told, Error)
    assert told.code == "context_overflow"


def test_a_summary_is_not_an_answer() -> None:
    translator = begun(status("busy"), answer("msg_2", summary=True))
    assert read(translator, text("p", "msg_2", "what happened so far")) == []


def test_what_was_missed_is_told_once_and_older_turns_are_left_out() -> None:
    translator = begun(status("busy"), answer("msg_2"), text("p", "msg_2", "", done=False))
    read(translator, {"feed": "down"}, {"feed": "up", "times": 2})
    history = [
        line["payload"]["properties"]  # type: ignore[index,call-overload]
        for line in (user("msg_000000000000" + "0" * 14), user(), answer("msg_2", done=True))
    ]
    whole = {"id": "p", "type": "text", "messageID": "msg_2", "text": "whole", "time": {"end": 2}}
    body = [{"info": one["info"], "parts": []} for one in history]
    body[-1]["parts"] = [whole]
    got: Json = {"got": "r:messages:ses_1", "status": 200, "body": body}  # type: ignore[dict-item]
    told = read(translator, got, got)
    assert [one.text for one in told if isinstance(one, AssistantText)] == ["whole"]
    assert translator.ending.messages == {"msg_2": True}


def test_an_ask_that_is_gone_after_a_cut_is_withdrawn() -> None:
    translator = begun(status("busy"), answer("msg_2"))
    asked = {"id": "per_1", "sessionID": "ses_1", "permission": "bash", "metadata": {}}
    read(translator, event("permission.asked", **asked))
    other = {"got": "r:question:/w", "status": 200, "body": []}
    assert read(translator, other) == []
    told = read(translator, {"got": "r:permission:/w", "status": 200, "body": []})
    assert [one.decision for one in told if isinstance(one, AskResolved)] == ["withdrawn"]


def test_a_new_conversation_is_known_by_its_run_before_the_prompt_arrives() -> None:
    translator = Translator(Turn("r", "/w"))
    info = {"id": "ses_1", "metadata": {"agentchat_run": "r"}}
    read(translator, event("session.created", sessionID="ses_1", info=info))
    assert translator.session == "ses_1"
    read(translator, failed("UnknownError", "ImageDecodeError: no image\n    at x"))
    assert translator.in_doubt
    read(translator, {"got": "r:status", "status": 200, "body": {}})
    assert translator.over
    error = translator.end()[0]
    assert isinstance(error, Error)
    assert error.message == "no image"
