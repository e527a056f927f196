"""From a prompt and its chat to a RunPlan that the hub can start: every check, every look-up.

Prompts that are sent now and those that waited in the queue take this one way.
"""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadRequest, NotTrusted, Stale, Unsupported
from ..protocol.events import Complete, EventBody, RunStarted, User
from ..protocol.resources import Expect, RunRequest
from ..protocol.words import Continuation, Permission, stricter
from ..providers.base import Begin, RunContext
from ..runs.plan import RunPlan
from ..store.base import ChatRecord, Store
from .catching_up import missed_messages
from .lineage import still_ends_at
from .modes import effective_prompt
from .policies import Policies
from .projects import Projects
from .service import ChatService
from .transcript import build_transcript, visible_messages
from .trust import TrustKeeper

HISTORY_PAGES = 20


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a run may do. `queued` names the queue's item that it sends; None: it is sent now.

    `permission` is that of the moment when the prompt was queued: the stricter of it and the
    present one holds.
    """

    trusted: bool
    permission: Permission = "full"
    queued: str | None = None


def run_request(
    projects: Projects,
    record: ChatRecord,
    directory: Path,
    *,
    permission: Permission,
    session_id: str | None,
    prompt: str = "",
    fork: bool = False,
    transcript: str | None = None,
) -> RunRequest:
    """What an adapter is told of a chat, under a new run id. Without a prompt: not to be run."""
    chat = record.chat
    return RunRequest(
        chat_id=chat.id,
        run_id=secrets.token_hex(8),
        prompt=prompt,
        cwd=str(directory),
        project=projects.name(record.project_path),
        model=chat.model,
        effort=chat.effort,
        service_tier=chat.service_tier,
        mode=chat.mode,
        permission=permission,
        provider_session_id=session_id,
        fork=fork,
        transcript=transcript,
        skills=chat.skills,
    )


class Planner:
    """Checks prompts and plans their runs. Changes nothing."""

    def __init__(
        self, store: Store, chats: ChatService, policies: Policies, trust: TrustKeeper
    ) -> None:
        self._store = store
        self._chats = chats
        self._policies = policies
        self._trust = trust

    # ---- checks -----------------------------------------------------------------------------

    def check(self, record: ChatRecord) -> None:
        """Whether the chat may run at all. Raises BadRequest, Forbidden."""
        if record.chat.provider is None:
            raise BadRequest("Choose an agent first.")
        self._policies.check(
            provider=record.chat.provider, model=record.chat.model, mode=record.chat.mode
        )

    def check_expect(self, record: ChatRecord, expect: Expect | None) -> None:
        """Whether the chat's settings are those that the person saw. Raises Stale."""
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

    async def trusted(self, username: str, record: ChatRecord) -> bool:
        """Whether `username` trusts the project. Raises NotTrusted where nobody has decided."""
        directory = self._chats.projects.directory(record)
        trust = await self._trust.look(username, directory)
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

    # ---- the plan ---------------------------------------------------------------------------

    def plan(self, record: ChatRecord, user: User, allowance: Allowance) -> RunPlan:
        """The run of the prompt `user`. Raises what finding its directory raises.

        The chat was checked; from here to the start nothing may be awaited.
        """
        chat = record.chat
        provider = chat.provider or ""  # `check` has refused a chat without one
        directory: Path = self._chats.projects.directory(record)
        session_id, fork = self._session(record, provider)
        if session_id:
            transcript = None if fork else self._missed(chat.id, provider)
        else:
            transcript = self.transcript(chat.id, None)
        continuation: Continuation = "transcript" if transcript else "fresh"
        if session_id:  # also with a transcript of what it has missed
            continuation = "fork" if fork else "resume"
        permission = stricter(allowance.permission, self._chats.effective(record))
        first_seq = self._store.last_seq(chat.id) + 1
        request = run_request(
            self._chats.projects,
            record,
            directory,
            prompt=effective_prompt(user.text, chat.mode),
            permission=permission,
            session_id=session_id,
            fork=fork,
            transcript=transcript,
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
        context = RunContext(
            trusted=allowance.trusted,
            first_session_id=str(uuid.uuid4()),
            never_completed=(
                session_id is not None and not fork and self._never_completed(chat.id, provider)
            ),
        )
        return RunPlan(
            request,
            context,
            user,
            started,
            lambda: self.transcript(chat.id, first_seq),
            self._policies.max_permission,
            queued=allowance.queued,
        )

    def unasked(self, record: ChatRecord, provider: str, begin: Begin, trusted: bool) -> RunPlan:
        """The run of a turn that the agent has begun by itself. Raises what finding its directory
        raises."""
        chat = record.chat
        directory = self._chats.projects.directory(record)
        permission = self._chats.effective(record)
        request = run_request(
            self._chats.projects,
            record,
            directory,
            permission=permission,
            session_id=chat.sessions.get(provider),
        )
        started = RunStarted(
            provider=provider,
            model=chat.model,
            effort=chat.effort,
            service_tier=chat.service_tier,
            mode=chat.mode,
            permission=permission,
            continuation="resume",
            cwd=str(directory),
            origin="provider",
        )
        context = RunContext(trusted=trusted, first_session_id=str(uuid.uuid4()))
        limit = self._policies.max_permission
        return RunPlan(request, context, None, started, lambda: None, limit, begin=begin)

    def _session(self, record: ChatRecord, provider: str) -> tuple[str | None, bool]:
        """(the agent's conversation to go on with, whether a copy of it is made first).

        A fork's agent may copy its parent's conversation only as long as that ends where the fork
        was made.
        """
        chat = record.chat
        session_id = chat.sessions.get(provider)
        if session_id is None or provider not in chat.fork_pending:
            return session_id, False
        if chat.parent is None or not still_ends_at(
            self._store, chat.parent.chat_id, chat.parent.seq, provider, session_id
        ):
            return None, False
        return session_id, True

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

    def _missed(self, chat_id: str, provider: str) -> str | None:
        """For an agent that comes back to its conversation: what others did here meanwhile."""
        limit = self._policies.transcript_limit
        messages = missed_messages(self._store, chat_id, provider, limit)
        return build_transcript(messages, limit, since="since your last turn, with another agent")

    def transcript(self, chat_id: str, before: int | None) -> str | None:
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


def check_text(text: str, attachments: object) -> None:
    """Whether there is something that can be sent. Raises BadRequest, Unsupported."""
    if not text.strip():
        raise BadRequest("There is nothing to send.")
    if attachments:
        raise Unsupported("Attachments are not available yet. Name the file in the text.")
