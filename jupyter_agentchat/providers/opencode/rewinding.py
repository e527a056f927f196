"""Cuts runs from a conversation, and puts files back, by opencode's own means.

The cut deletes messages: it is in opencode's database at once and leaves files alone. opencode's
`revert` does both at once and is taken back by the next prompt's word only, so it is used for files
alone, and its own note of a cut is cleared by the deletion that follows. It keeps snapshots only in
git work trees, and writes back a whole tree: therefore only where the directory is the top of one.
Where no snapshots are, files stay, and nothing is offered.
"""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from ...errors import ProviderError
from ...protocol.resources import RunRequest
from ..base import RunContext
from ..shared_child import SharedChildren
from .launch import TRUSTED, UNTRUSTED
from .link import OpencodeLink
from .prompts import session_of
from .sessions import busy_sessions
from .translate.places import Places
from .wire import Json, object_of, objects_in, suffix_of, text_of

RESTORE_S: Final = 14.0

_log = logging.getLogger(__name__)


class OpencodeRewinder:
    """Implements `base.Rewinder`."""

    def __init__(self, children: SharedChildren[OpencodeLink]) -> None:
        self._children = children

    async def rewind(
        self, request: RunRequest, context: RunContext, cut_run_ids: list[str]
    ) -> bool:
        """See `base.Rewinder.rewind`. A run whose prompt never arrived needs no cut."""
        session = session_of(request)
        if session is None or not cut_run_ids:
            return False
        async with self._held(context) as link:
            if session in await busy_sessions(link, request.cwd):
                return False
            messages = await _messages(link, request.cwd, session)
            first = _first_of(messages, cut_run_ids)
            if first is None:
                return True
            # the newest first: what is left is a conversation at every moment
            for info in reversed(messages[first:]):
                path = f"/session/{session}/message/{text_of(info, 'id')}"
                await link.call("DELETE", path, directory=request.cwd)
        return True

    async def preview_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """See `base.Rewinder.preview_files`: what opencode noted as changed by each prompt."""
        session = session_of(request)
        if session is None or not _is_work_tree(Path(request.cwd)):
            return []
        async with self._held(context) as link:
            messages = await _messages(link, request.cwd, session)
            return await _changed(link, request.cwd, session, messages, first_cut_run_id)

    async def restore_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """See `base.Rewinder.restore_files`. To be called before `rewind`.

        Nothing is done while anything goes on in the directory: whole trees are written.
        """
        session = session_of(request)
        if session is None or not _is_work_tree(Path(request.cwd)):
            return []
        async with self._held(context) as link:
            if await busy_sessions(link, request.cwd):
                return []
            messages = await _messages(link, request.cwd, session)
            first = _first_of(messages, [first_cut_run_id])
            files = await _changed(link, request.cwd, session, messages, first_cut_run_id)
            if first is None or not files:
                return []
            await link.call(
                "POST",
                f"/session/{session}/revert",
                directory=request.cwd,
                body={"messageID": text_of(messages[first], "id")},
                timeout_s=RESTORE_S,
            )
            return files

    @asynccontextmanager
    async def _held(self, context: RunContext) -> AsyncIterator[OpencodeLink]:
        holder = f"rewind-{uuid.uuid4().hex}"
        link = await self._children.hold(TRUSTED if context.trusted else UNTRUSTED, holder)
        try:
            yield link
        finally:
            self._children.release(holder)


async def _messages(link: OpencodeLink, directory: str, session: str) -> list[Json]:
    answer = await link.call("GET", f"/session/{session}/message", directory=directory)
    return [object_of(one, "info") for one in objects_in(answer)]


def _first_of(messages: list[Json], run_ids: list[str]) -> int | None:
    """Where the first of these runs begins that opencode knows; None when it knows none."""
    for run_id in run_ids:
        for index, info in enumerate(messages):
            if text_of(info, "id").endswith(suffix_of(run_id)):
                return index
    return None


async def _changed(
    link: OpencodeLink, directory: str, session: str, messages: list[Json], run_id: str
) -> list[str]:
    first = _first_of(messages, [run_id])
    if first is None:
        return []
    places = Places(directory)
    prompts = [info for info in messages[first:] if text_of(info, "role") == "user"]
    answers = await asyncio.gather(
        *(
            link.call(
                "GET",
                f"/session/{session}/diff",
                directory=directory,
                query={"messageID": text_of(info, "id")},
            )
            for info in prompts
        ),
        return_exceptions=True,
    )
    files: set[str] = set()
    for answer in answers:
        if isinstance(answer, ProviderError):
            _log.info("session=%s: no list of changes: %s", session, answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            files |= {places.short(text_of(one, "file")) for one in objects_in(answer)}
    return sorted(files - {""})


def _is_work_tree(directory: Path) -> bool:
    """Whether it is the top of a git work tree, which opencode keeps snapshots of."""
    return os.path.lexists(directory / ".git")
