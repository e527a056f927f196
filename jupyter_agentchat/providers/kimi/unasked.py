"""Turns that Kimi Code begins by itself, when a task in the background has ended."""

from __future__ import annotations

import logging

from ...errors import ProviderError
from ...protocol.resources import RunRequest
from ..base import ChildMark, RunContext
from .feed import Feed
from .link import KimiLink
from .servers import Servers
from .stopping import Place
from .translate import POSITION_SHIFT

_log = logging.getLogger(__name__)


async def take_kept(
    servers: Servers, link: KimiLink, feed: Feed, request: RunRequest, context: RunContext
) -> Place:
    """Where the turn begins whose events the feed has kept; the run reads them from now on.

    Raises ProviderError when it is gone, and what `on_child` raises; nothing is held then.
    """
    held = await servers.hold(request.run_id)
    try:
        place = _place_of_kept(link, feed, still=held is link)
        feed.begin(request.run_id)
        await context.on_child(ChildMark(link.handle.child_id, place.first))
    except BaseException:
        feed.end(request.run_id)
        servers.release(request.run_id)
        raise
    return place


async def stop_kept(link: KimiLink, feed: Feed, turn: int) -> None:
    """Stop the turn: it has no chat to be shown in."""
    feed.drop()
    _log.info("session=%s: turn %d has no chat to be shown in: stopped", feed.session_id, turn)
    try:
        await link.api.on_session(feed.session_id, "POST", ":abort", {})
    except ProviderError as error:
        _log.info("session=%s: %s", feed.session_id, error)


def _place_of_kept(link: KimiLink, feed: Feed, *, still: bool) -> Place:
    if not still or not feed.kept:
        raise ProviderError("The turn that Kimi Code began by itself is over.")
    return Place(link, feed, (feed.kept_from - 1) << POSITION_SHIFT)
