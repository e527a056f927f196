"""Sending a prompt: from what a person typed to a RunPlan that the hub can start."""

from __future__ import annotations

import logging
import secrets
import uuid
from dataclasses import replace
from pathlib import Path

from ..errors import (
    BadRequest,
    Busy,
    NotTrusted,
    Stale,
    SteerUnsupported,
    StorageError,
    Unsupported,
)
from ..protocol.events import Complete, EventBody, RunStarted, User
from ..protocol.resources import Expect, Prompt, RunRequest
from ..protocol.words import Continuation
from ..providers.base import RunContext
from ..runs.hub import Hub
from ..runs.plan import RunPlan
from ..store.base import ChatRecord, Store
from .access import Caller
from .modes import effective_prompt
from .policies import Policies
from .service import ChatService
from .transcript import build_transcript, visible_messages
from .trust import TrustKeeper

log = logging.getLogger(__name__)

TITLE_LENGTH = 60
HISTORY_PAGES = 20


class Prompts:
    """Starts runs for people. Refusals change nothing and are not remembered."""

    def __init__(
        self, store: Store, hub: Hub, chats: ChatService, policies: Policies, trust: TrustKeeper
    ) -> None:
        self._store = store
        self._hub = hub
        self._chats = chats
        self._policies = policies
        self._trust = trust

    async def send(self, chat_id: str, caller: Caller, prompt: Prompt) -> dict[str, object]:
        """Start a run; `{run_id}`. The same `client_id` again gives the first answer again.

        Raises NotFound, BadRequest, Unsupported, Stale, NotTrusted, Busy, Forbidden, StorageError.
        """
        record = self._store.chat(chat_id)
        earlier = self._store.find_prompt(chat_id, caller.username, prompt.client_id)
        if earlier is not None:
            return earlier
        if not self._store.health.writable:
            raise StorageError(self._store.health.notice or "The store is read-only.")
        self._check(record, prompt)
        trusted = await self._trusted(caller, record)
        # decided and looked up; from here on nothing awaits until the prompt is stored
        record = self._store.chat(chat_id)
        self._check(record, prompt)
        self._check_expect(record, prompt.expect)
        directory = self._chats.projects.directory(record)
        plan = self._plan(record, caller, prompt, directory, trusted)
        try:
            self._hub.start(plan)
        except Busy:
            raced = self._store.find_prompt(chat_id, caller.username, prompt.client_id)
            if raced is not None:
                return raced
            raise
        self._after_start(record, caller, prompt)
        return {"run_id": plan.request.run_id}

    def _check(self, record: ChatRecord, prompt: Prompt) -> None:
        if not prompt.text.strip():
            raise BadRequest("There is nothing to send.")
        if prompt.delivery in ("queue", "steer"):
            refusal = SteerUnsupported if prompt.delivery == "steer" else Unsupported
            raise refusal(f"{prompt.delivery} is not available yet.", delivery=prompt.delivery)
        if prompt.attachments:
            raise Unsupported("Attachments are not available yet. Name the file in the text.")
        if record.chat.provider is None:
            raise BadRequest("Choose an agent first.")
        self._policies.check(
            provider=record.chat.provider, model=record.chat.model, mode=record.chat.mode
        )

    def _check_expect(self, record: ChatRecord, expect: Expect | None) -> None:
        if expect is None:
            return
        present = {
            "provider": record.chat.provider,
            "model": record.chat.model,
            "mode": record.chat.mode,
            "effective_permission": self._chats.effective(record),
        }
        for name in expect.model_fields_set:
            if getattr(expect, name) != present[name]:
                raise Stale("The chat's settings have changed: look again, then send.", **present)

    async def _trusted(self, caller: Caller, record: ChatRecord) -> bool:
        directory = self._chats.projects.directory(record)
        trust = await self._trust.look(caller.username, directory)
        if trust.trusted is None and record.project_path is None:
            return False  # a scratch folder holds only what an agent has left there
        if trust.trusted is None:
            raise NotTrusted(
                "This project holds configuration that agents would load. Decide on it first.",
                path=self._chats.projects.name(str(directory)) or "",
                loads=[load.model_dump() for load in trust.loads],
                digest=trust.digest,
            )
        return trust.trusted

    def _plan(
        self, record: ChatRecord, caller: Caller, prompt: Prompt, directory: Path, trusted: bool
    ) -> RunPlan:
        chat = record.chat
        provider = chat.provider or ""  # `_check` has refused a chat without one
        session_id = chat.sessions.get(provider)
        transcript = None if session_id else self._transcript(chat.id, None)
        continuation: Continuation = (
            "resume" if session_id else ("transcript" if transcript else "fresh")
        )
        permission = self._chats.effective(record)
        first_seq = self._store.last_seq(chat.id) + 1
        request = RunRequest(
            chat_id=chat.id,
            run_id=secrets.token_hex(8),
            prompt=effective_prompt(prompt.text, chat.mode),
            cwd=str(directory),
            project=self._chats.projects.name(record.project_path),
            model=chat.model,
            effort=chat.effort,
            service_tier=chat.service_tier,
            mode=chat.mode,
            permission=permission,
            provider_session_id=session_id,
            transcript=transcript,
            skills=chat.skills,
        )
        started = RunStarted(
            provider=provider,
            model=chat.model,
            effort=chat.effort,
            service_tier=chat.service_tier,
            mode=chat.mode,
            permission=permission,
            continuation=continuation,
            cwd=str(directory),
        )
        user = User(
            text=prompt.text, author=caller.author, client_id=prompt.client_id, origin="typed"
        )
        context = RunContext(
            trusted=trusted,
            first_session_id=str(uuid.uuid4()),
            never_completed=session_id is not None and self._never_completed(chat.id, provider),
        )
        return RunPlan(
            request,
            context,
            user,
            started,
            lambda: self._transcript(chat.id, first_seq),
            self._policies.max_permission,
        )

    def _never_completed(self, chat_id: str, provider: str) -> bool:
        """Whether no run of this agent here has ended well: it may not know its own session."""
        page = self._store.events_before(chat_id, None, limit=500)
        if page.has_more:
            return False
        own: set[str | None] = set()
        for event in page.events:
            body = event.body() if event.type in ("run_started", "complete") else None
            if isinstance(body, RunStarted) and body.provider == provider:
                own.add(event.run_id)
            elif isinstance(body, Complete) and body.outcome == "completed" and event.run_id in own:
                return False
        return True

    def _transcript(self, chat_id: str, before: int | None) -> str | None:
        """What was said before `before`; reads backwards only as far as the limit needs."""
        bodies: list[EventBody] = []
        limit = self._policies.transcript_limit
        for _ in range(HISTORY_PAGES):
            page = self._store.events_before(chat_id, before, limit=500)
            # the others are not looked into: a long chat is mostly tools
            said = [event for event in page.events if event.type in ("user", "assistant_text")]
            bodies[:0] = [body for event in said if (body := event.body()) is not None]
            messages = visible_messages(bodies)
            size = sum(len(text.encode()) for _, text in messages)
            if not page.has_more or size > 2 * limit:
                return build_transcript(messages, limit)
            before = page.first_seq
        return build_transcript(visible_messages(bodies), limit)

    def _after_start(self, record: ChatRecord, caller: Caller, prompt: Prompt) -> None:
        record = self._store.chat(record.chat.id)
        if record.auto_title and not record.chat.title:
            record = record.with_chat(title=make_title(prompt.text))
        record = record.with_chat(attention=None)
        read = {**record.read_seq, caller.username: record.chat.last_seq}
        try:
            self._store.save_chat(replace(record, read_seq=read))
        except StorageError as error:
            # the run has begun: to refuse now would be a lie
            log.warning("chat=%s: title and read mark are lost: %s", record.chat.id, error)
        self._chats.announce(record.chat.id)


def make_title(text: str) -> str:
    """The first line of a prompt, at most 60 characters, cut at a word; whole code points."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[:TITLE_LENGTH]
    head, _, _ = cut.rpartition(" ")
    return (head if len(head) > TITLE_LENGTH // 2 else cut).rstrip(" ,.;:") + "…"
