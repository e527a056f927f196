"""Gets the text that a feed has missed from where the server keeps it."""

from __future__ import annotations

import logging

from .api import KimiApi, KimiRefused
from .feed import Feed
from .fill import StepKey, Texts, finished_texts, running_text, step_of
from .wire import MAIN, Json, int_of

_log = logging.getLogger(__name__)


async def transcript(api: KimiApi, session_id: str) -> Json:
    """The newest turns of the main agent, with what their steps have said."""
    query = {"agent_id": MAIN, "page_size": "20"}
    return await api.on_session(session_id, "GET", "/transcript", query=query)


async def texts_for(api: KimiApi, feed: Feed) -> Texts:
    """What the steps of the session's newest turns have said. Empty where it cannot be had.

    The step that runs stands in the snapshot, by its turn alone: which one it is, the events that
    the feed holds back say.
    """
    try:
        snapshot = await api.on_session(feed.session_id, "GET", "/snapshot")
        texts = finished_texts(await transcript(api, feed.session_id))
    except KimiRefused as refused:
        _log.info("session=%s: its text cannot be had again: %s", feed.session_id, refused)
        return {}
    running = running_text(snapshot)
    if running is not None:
        turn, said = running
        step = _running_step(feed, turn, int_of(snapshot, "as_of_seq") or 0)
        if step is not None:
            texts.setdefault(step, said)
    return texts


def _running_step(feed: Feed, turn: int, upto: int) -> StepKey | None:
    begun = [feed.running_before]
    begun += [step_of(frame) for frame in feed.held if (int_of(frame, "seq") or 0) <= upto]
    steps = [step for step in begun if step is not None and step[0] == turn]
    return steps[-1] if steps else None
