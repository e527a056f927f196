"""What the hub tells the layer above, and the guard around it.

What is raised there is logged: a full disk or a fault up there must not end a run, nor keep one
from ending.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import AgentChatError
from ..protocol.events import Complete, Session

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HubHooks:
    """What the layer above wants to know.

    `chat_changed(chat_id)`: a row of the chat list has changed. `session`: the provider's
    conversation id. `finished`: a run's `complete` was stored. `progress`: something happened.
    `freed(chat_id)`: its run is over and gone, the next may start. `taken_over(chat_id)`: its
    run's server has died beside this one; told before anything else is of that run.
    """

    chat_changed: Callable[[str], None]
    session: Callable[[str, Session], None]
    finished: Callable[[str, Complete], None]
    progress: Callable[[], None]
    freed: Callable[[str], None] = lambda _chat_id: None
    taken_over: Callable[[str], None] = lambda _chat_id: None


def guarded(hooks: HubHooks) -> HubHooks:
    """The same hooks, which never raise."""
    return HubHooks(
        chat_changed=lambda chat_id: _tell(lambda: hooks.chat_changed(chat_id), chat_id),
        session=lambda chat_id, session: _tell(lambda: hooks.session(chat_id, session), chat_id),
        finished=lambda chat_id, end: _tell(lambda: hooks.finished(chat_id, end), chat_id),
        progress=lambda: _tell(hooks.progress, ""),
        freed=lambda chat_id: _tell(lambda: hooks.freed(chat_id), chat_id),
        taken_over=lambda chat_id: _tell(lambda: hooks.taken_over(chat_id), chat_id),
    )


def _tell(hook: Callable[[], None], chat_id: str) -> None:
    try:
        hook()
    except AgentChatError as error:
        log.warning("chat=%s: %s", chat_id, error)
    except Exception:
        log.exception("chat=%s: a hook failed", chat_id)


NOBODY = HubHooks(
    chat_changed=lambda _chat_id: None,
    session=lambda _chat_id, _session: None,
    finished=lambda _chat_id, _complete: None,
    progress=lambda: None,
)
