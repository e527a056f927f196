"""Where a chat's log ends for its agent: what a fork copies, and whether it may copy natively."""

from __future__ import annotations

from ..errors import AgentChatError
from ..store.base import Store

QUIET = frozenset(
    {"complete", "usage", "plan_usage", "notice", "system", "rewound", "rewind_undone", "forked"}
)
"""Events that add nothing to what the agent knows."""
LOOK = 200


def finished_upto(store: Store, chat_id: str) -> int:
    """The last seq before a run that has not ended (of this or another server); else the last."""
    last = store.last_seq(chat_id)
    starts = [run.first_seq for run in store.open_runs() if run.chat_id == chat_id]
    return min([last, *(first - 1 for first in starts)])


def ends_at(store: Store, chat_id: str, seq: int) -> bool:
    """Whether nothing that the agent would know comes after `seq`, of what is visible."""
    page = store.events_after(chat_id, seq, limit=LOOK)
    return not page.has_more and all(event.type in QUIET for event in page.events)


def still_ends_at(store: Store, chat_id: str, seq: int, provider: str, session_id: str) -> bool:
    """Whether a chat has stood still since a fork was made at `seq`: its conversation with
    `provider` is the same, and no run and no rewind came after. A chat that is gone has not."""
    try:
        record = store.chat(chat_id)
        page = store.events_after(chat_id, seq, limit=LOOK, include_cut=True)
    except AgentChatError:
        return False
    if record.chat.sessions.get(provider) != session_id or page.has_more:
        return False
    return all(event.type in ("notice", "system") for event in page.events)
