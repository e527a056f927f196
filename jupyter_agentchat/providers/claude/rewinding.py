"""Cuts runs from a conversation, and puts files back, with the CLI's own requests.

Both work in a warm process and in one that is started for it (recordings c20, c22, c30 of the
design, and tests/agents/test_claude_rewind.py). A cut is in the CLI's record at once: it outlives
a KILL. The CLI's other way, to be started with `--resume-session-at`, is not used: it is forgotten
when the process ends before another prompt (tried), and the chat would show what the agent does
not know. Where the request is refused, the hub goes on with a transcript.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from ...errors import Unsupported
from ...protocol.resources import RunRequest
from ..base import RunContext
from .control import ControlRefused
from .processes import Processes
from .prompts import prompt_uuid
from .record import Record, read_record
from .session import ClaudeSession
from .translate.places import Places
from .wire import Json, text_of, texts_of, true_at

_NEWEST_TRIED: Final = 8
_log = logging.getLogger(__name__)


class ClaudeRewinder:
    """Implements `base.Rewinder`."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    async def rewind(
        self, request: RunRequest, context: RunContext, cut_run_ids: list[str]
    ) -> bool:
        """See `base.Rewinder.rewind`. A run whose prompt never reached the CLI needs no cut."""
        wanted = self._processes.wanted(request, context)
        if wanted.opening.kind != "resume" or not cut_run_ids:
            return False
        async with self._processes.lock(request.chat_id):
            if self._processes.busy(request.chat_id):
                return False
            session = await self._processes.ready(request.chat_id, wanted)
            try:
                return await self._cut(session, [prompt_uuid(run_id) for run_id in cut_run_ids])
            except (ControlRefused, Unsupported) as error:
                _log.info("chat=%s: %s", request.chat_id, error)
                return False
            finally:
                self._processes.rest(request.chat_id, session)

    async def preview_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """See `base.Rewinder.preview_files`. What shell commands changed, it does not know."""
        return await self._files(request, context, first_cut_run_id, restore=False)

    async def restore_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """See `base.Rewinder.restore_files`. To be called before `rewind`."""
        return await self._files(request, context, first_cut_run_id, restore=True)

    async def _cut(self, session: ClaudeSession, prompts: list[str]) -> bool:
        record = await asyncio.to_thread(
            read_record, self._processes.environment, session.session_id
        )
        for prompt in prompts:
            match await self._cut_at(session, prompt, _newest(session, prompts, record)):
                case "":
                    return True
                case "target_not_found" if record is not None and prompt not in record.uuids:
                    continue
                case reason:
                    _log.info("child=%s: no cut: %s", session.handle.child_id, reason)
                    return False
        return True

    async def _cut_at(self, session: ClaudeSession, target: str, newest: list[str]) -> str:
        """Cut at `target`, "" when it is done, else the CLI's reason against it.

        The CLI wants to hear which message of a person's is the newest, lest one is cut that
        nobody has seen; it does not say which it is.
        """
        reason = "no_candidate"
        for last_seen in newest:
            answer = await session.control.request(
                "rewind_conversation",
                target_message_uuid=target,
                last_seen_user_message_uuid=last_seen,
            )
            if true_at(answer, "rewound"):
                session.forget(target)
                return ""
            reason = text_of(answer, "reason") or "no_reason"
            if reason not in ("unseen_later_turn", "stale_target"):
                break
        return reason

    async def _files(
        self, request: RunRequest, context: RunContext, run_id: str, *, restore: bool
    ) -> list[str]:
        wanted = self._processes.wanted(request, context)
        if wanted.opening.kind != "resume":
            return []
        async with self._processes.lock(request.chat_id):
            if self._processes.busy(request.chat_id):
                return []
            session = await self._processes.ready(request.chat_id, wanted)
            try:
                found = await _rewind_files(session, run_id, dry_run=True)
                if restore and true_at(found, "canRewind"):
                    await _rewind_files(session, run_id, dry_run=False)
            except (ControlRefused, Unsupported):
                return []  # no checkpoint of that run
            finally:
                self._processes.rest(request.chat_id, session)
        if not true_at(found, "canRewind"):
            return []
        places = Places(request.cwd)
        return sorted(places.short(path) for path in texts_of(found, "filesChanged"))


async def _rewind_files(session: ClaudeSession, run_id: str, *, dry_run: bool) -> Json:
    return await session.control.request(
        "rewind_files", user_message_id=prompt_uuid(run_id), dry_run=dry_run
    )


def _newest(session: ClaudeSession, prompts: list[str], record: Record | None) -> list[str]:
    """What may be the newest message of a person's, the likeliest first."""
    recorded = record.said[: -_NEWEST_TRIED - 1 : -1] if record else []
    sent = session.said[: -_NEWEST_TRIED - 1 : -1]
    return list(dict.fromkeys([*sent, *recorded, *reversed(prompts[-_NEWEST_TRIED:])]))
