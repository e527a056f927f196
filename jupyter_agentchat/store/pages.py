"""Which events (or chats) a page holds: cuts, limits and turns, apart from where they are kept.

Both stores give `fetch(first, last, count)`: at most `count` items with first <= seq <= last, in
the direction of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from ..errors import BadRequest
from .base import ChatRecord, EventPage, StoredEvent
from .rows import Range

T = TypeVar("T")
Fetch = Callable[[int, int, int], Sequence[T]]

MAX_SEQ: Final = 2**62
"""Above every seq; larger numbers from a client mean the same."""

MAX_LIST: Final = 500


def visible_ranges(cuts: Iterable[Range], first: int, last: int) -> list[Range]:
    """What is left of first..last outside every cut, in rising order."""
    ranges: list[Range] = []
    at = first
    for cut_first, cut_last in sorted(cuts):
        if cut_last < at:
            continue
        if cut_first > last:
            break
        if cut_first > at:
            ranges.append((at, cut_first - 1))
        at = cut_last + 1
    if at <= last:
        ranges.append((at, last))
    return ranges


def page_after(
    rising: Fetch[StoredEvent], cuts: Sequence[Range], seq: int, limit: int
) -> EventPage:
    """The first `limit` visible events above `seq`."""
    limit = max(limit, 1)
    events = _collect(rising, visible_ranges(cuts, max(seq, 0) + 1, MAX_SEQ), limit + 1)
    return EventPage(tuple(events[:limit]), has_more=len(events) > limit)


def page_before(
    falling: Fetch[StoredEvent], cuts: Sequence[Range], seq: int | None, limit: int
) -> EventPage:
    """The last `limit` visible events below `seq`, in rising order."""
    limit = max(limit, 1)
    events = _collect(falling, _backwards(cuts, 1, _last_below(seq)), limit + 1)
    return EventPage(tuple(reversed(events[:limit])), has_more=len(events) > limit)


def page_of_turns(
    falling: Fetch[StoredEvent],
    starts_falling: Fetch[int],
    cuts: Sequence[Range],
    seq: int | None,
    turns: int,
    limit: int,
) -> EventPage:
    """Whole turns below `seq`; the rule is at EventStore.turns_before."""
    turns, limit, last = max(turns, 1), max(limit, 1), _last_below(seq)
    starts = _collect(starts_falling, _backwards(cuts, 1, last), turns)
    first = starts[-1] if len(starts) == turns else 1
    events = _collect(falling, _backwards(cuts, first, last), limit + 1)
    if len(events) > limit:
        whole = [start for start in starts if start >= events[limit - 1].seq]
        # no start within the limit: one long turn, shown from its end
        events = [event for event in events[:limit] if not whole or event.seq >= whole[-1]]
        has_more = True
    else:
        has_more = first > 1 and bool(_collect(falling, _backwards(cuts, 1, first - 1), 1))
    return EventPage(tuple(reversed(events)), has_more)


def list_limit(limit: int) -> int:
    """A number of chats asked for, within 1 and MAX_LIST."""
    return min(max(limit, 1), MAX_LIST)


def next_cursor(records: list[ChatRecord], limit: int) -> str | None:
    """Where the page after the first `limit` of `records` begins; None when there is none."""
    if len(records) <= limit:
        return None
    last = records[limit - 1].chat
    return f"{last.updated}~{last.id}"


def read_cursor(cursor: str | None) -> tuple[str | None, str | None]:
    """(updated, chat id) of the last chat seen. Raises BadRequest."""
    if cursor is None:
        return None, None
    updated, mark, chat_id = cursor.partition("~")
    if not mark:
        raise BadRequest("The cursor is not one of this list: begin without it.")
    return updated, chat_id


def _last_below(seq: int | None) -> int:
    return MAX_SEQ if seq is None else min(seq - 1, MAX_SEQ)


def _backwards(cuts: Sequence[Range], first: int, last: int) -> list[Range]:
    return visible_ranges(cuts, first, last)[::-1]


def _collect(fetch: Fetch[T], ranges: Iterable[Range], count: int) -> list[T]:
    items: list[T] = []
    for first, last in ranges:
        items.extend(fetch(first, last, count - len(items)))
        if len(items) >= count:
            break
    return items
