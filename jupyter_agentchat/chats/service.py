"""Chats as a person handles them: list, create, change, delete, read. The rows of the chat list."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import replace
from typing import Any, cast

from ..errors import AgentChatError, BadRequest, Busy, Forbidden, Stale, StorageError
from ..protocol.base import now
from ..protocol.events import Ask, AskResolved, Complete, Session, Usage
from ..protocol.frames import ChatFrame
from ..protocol.resources import (
    AskAnswer,
    Chat,
    ChatPatch,
    ChatUsage,
    NewChat,
    ReadMark,
)
from ..protocol.words import Attention, Permission, stricter
from ..providers.registry import ProviderRegistry
from ..runs.hub import Hub
from ..store.base import ChatRecord, QueueSize, Store
from .access import Caller, require_person
from .modes import effective_permission, is_raise
from .policies import Policies
from .projects import Projects
from .switching import cleared_notice, left_behind, without_settings
from .wants import wants_of

log = logging.getLogger(__name__)

PLAIN = frozenset({"title", "archived", "pinned", "model", "effort", "service_tier"})
PROBE_WAIT_S = 5.0
TOUR = "tour"
SELECTION = ("provider", "model", "effort", "service_tier")


class ChatService:
    """See the module. Every method raises NotFound for a chat that is not there."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        policies: Policies,
        projects: Projects,
        providers: ProviderRegistry,
    ) -> None:
        self._store = store
        self._hub = hub
        self._policies = policies
        self.projects = projects
        self._providers = providers

    # ---- reading ----------------------------------------------------------------------------

    def view(self, record: ChatRecord, username: str, waiting: QueueSize | None = None) -> Chat:
        """The record as the wire's Chat for one person; `waiting` spares asking for its queue."""
        chat = record.chat
        if waiting is None:
            waiting = self._store.queue_sizes([chat.id]).get(chat.id, QueueSize())
        marks = record.marks or self._store.marks(chat.id, username)
        state = self._hub.state(chat.id)
        unread = chat.last_seq > marks.read_seq
        # that a run has ended is told until the person has read it
        ended: Attention | None = chat.attention if unread else None
        ask = self._hub.oldest_ask(chat.id) if state == "waiting" else None
        return chat.model_copy(
            update={
                "project": self.projects.name(record.project_path),
                "state": state,
                "attention": "needs_input" if state == "waiting" else ended,
                "wants": None if ask is None else wants_of(ask),
                "queued": waiting.count,
                "queue_paused": waiting.paused,
                "unread": unread,
                "pinned": marks.pinned,
                "archived": marks.archived,
                "effective_permission": self.effective(record),
            }
        )

    def effective(self, record: ChatRecord) -> Permission:
        """The permission that holds for the next run."""
        chat = record.chat
        return effective_permission(chat.permission, chat.mode, self._policies.max_permission)

    def get(self, chat_id: str, caller: Caller) -> Chat:
        return self.view(self._store.chat(chat_id), caller.username)

    def list(
        self,
        caller: Caller,
        *,
        project: str | None,
        state: str | None,
        archived: bool,
        query: str,
        limit: int,
        cursor: str | None,
    ) -> tuple[list[Chat], str | None]:
        """A page of rows, newest activity first; reads no event log."""
        # a folder that is gone keeps its chats
        path = None if project is None else str(self.projects.locate(project))
        rows: list[Chat] = []
        while True:
            records, cursor = self._store.list_chats(
                username=caller.username,
                project_path=path,
                archived=archived,
                query=query,
                limit=limit - len(rows),
                cursor=cursor,
            )
            sizes = self._store.queue_sizes([record.chat.id for record in records])
            for record in records:
                if not self.projects.is_here(record):
                    continue
                waiting = sizes.get(record.chat.id, QueueSize())
                row = self.view(record, caller.username, waiting)
                if state is None or row.state == state:
                    rows.append(row)
            if cursor is None or len(rows) >= limit:
                return rows, cursor

    # ---- making and changing ----------------------------------------------------------------

    async def create(self, caller: Caller, new: NewChat) -> Chat:
        """Raises Forbidden (policy; a token above code + ask), BadRequest, NotFound."""
        if new.loose and new.project is not None:
            raise BadRequest("A chat is loose or in a project, not both.")
        if new.loose and not self._policies.loose_chats:
            raise Forbidden("Chats without a project are off on this server.")
        selection = cast(dict[str, Any], self._store.selection(caller.username))
        given = new.model_dump(exclude_none=True)
        mode = new.mode or self._policies.first_mode
        permission = new.permission or stricter(
            "full" if mode == "full_auto" else "ask", self._policies.max_permission
        )
        if is_raise("ask", effective_permission(permission, mode, "full")):
            require_person(
                caller,
                allow_tokens=self._policies.allow_token_approvals,
                what="A chat above code + ask",
            )
        provider = given.get("provider") or selection.get("provider")
        if provider is None or not self._known(provider):
            if "provider" in given:
                raise BadRequest("There is no such agent here.", provider=provider)
            provider = await self._default_provider()
        # what was chosen last serves the same agent, as far as the admin still allows it
        last = selection if provider == selection.get("provider") else {}
        if last.get("model") and not self._policies.allows_model(last["model"]):
            last = {}
        settings = {key: given.get(key) or last.get(key) for key in SELECTION[1:]}
        self._policies.check(
            provider=provider, model=settings["model"], mode=mode, permission=permission
        )
        path = None if new.loose else str(self.projects.resolve(new.project or ""))
        stamp = now()
        record = ChatRecord(
            chat=Chat(
                id=secrets.token_hex(8),
                title=new.title or "",
                provider=provider,
                mode=mode,
                permission=permission,
                skills=new.skills or [],
                owner=caller.username,
                created=stamp,
                updated=stamp,
                **settings,
            ),
            project_path=path,
            loose=new.loose,
            auto_title=not new.title,
            permission_before_full_auto="ask" if mode == "full_auto" else None,
        )
        self._store.create_chat(record)
        if "provider" in given:
            self._remember(caller, record.chat)
        self.announce(record.chat.id)
        return self.view(record, caller.username)

    def _known(self, provider: str) -> bool:
        return provider in self._providers.ids

    async def _default_provider(self) -> str | None:
        """The admin's default, else the first ready agent, else the tour."""
        wanted = self._policies.default_provider
        if wanted and self._known(wanted):
            return wanted
        flight = self._providers.probe_all()
        if flight is not None:
            await asyncio.wait({flight}, timeout=PROBE_WAIT_S)
        providers = self._providers.list()
        ready = [p.id for p in providers if p.available and p.id != TOUR]
        known = [p.id for p in providers]
        return ready[0] if ready else (TOUR if TOUR in known else next(iter(known), None))

    async def patch(self, chat_id: str, caller: Caller, patch: ChatPatch) -> Chat:
        """Change settings. A raise needs a person; a lower permission holds at once or is refused.

        Raises Forbidden, BadRequest, Busy.
        """
        record = self._store.chat(chat_id)
        if patch.model_fields_set - {"archived", "pinned"}:  # these are a person's own
            self._hub.refuse_remote(chat_id)
        changes = {name: getattr(patch, name) for name in patch.model_fields_set}
        left: list[str] = []
        for name in ("archived", "pinned", "mode", "permission", "provider", "title"):
            if name in changes and changes[name] is None:
                raise BadRequest(f"{name} cannot be cleared.", field=name)
        if "skills" in changes:
            changes["skills"] = changes["skills"] or []
        self._policies.check(
            provider=changes.get("provider"),
            model=changes.get("model"),
            mode=changes.get("mode"),
            permission=changes.get("permission"),
        )
        if "provider" in changes and changes["provider"] != record.chat.provider:
            if not self._known(changes["provider"]):
                raise BadRequest("There is no such agent here.", provider=changes["provider"])
            if self._hub.state(chat_id) != "idle":
                raise Busy("The agent can be changed when the run has ended.")
            left = left_behind(record.chat, changes)
            changes = without_settings(changes)
        before = self.effective(record)
        after_record = self._with_mode(record, changes)
        after = self.effective(after_record)
        if is_raise(before, after):
            require_person(
                caller,
                allow_tokens=self._policies.allow_token_approvals,
                what="A higher permission",
            )
        elif after != before:
            if not await self._hub.lower_permission(chat_id, after):
                raise Busy("The running agent cannot take a lower permission now. Stop it first.")
            if self.effective(self._store.chat(chat_id)) != before:
                # or it could have become a raise meanwhile, that nobody has confirmed
                raise Stale("The chat's permission was changed meanwhile: look again.")
        record = self._with_mode(self._store.chat(chat_id), changes)
        if "title" in changes:
            record = replace(record, auto_title=False)
        self._store.save_chat(record)
        if left and record.chat.last_seq:
            told = cleared_notice(self._providers.name_of(record.chat.provider or ""), left)
            try:
                self._hub.record(chat_id, [told])
            except AgentChatError as error:
                # the agent is changed: to refuse now would be a lie
                log.warning("chat=%s: what was cleared is not told: %s", chat_id, error)
        own = {name: changes[name] for name in ("archived", "pinned") if name in changes}
        if own:
            marks = self._store.marks(chat_id, caller.username)
            self._store.save_marks(chat_id, caller.username, replace(marks, **own))
        if not PLAIN.isdisjoint(changes) or "provider" in changes:
            self._remember(caller, record.chat)
        self.announce(chat_id)
        return self.view(record, caller.username)

    def _with_mode(self, record: ChatRecord, changes: dict[str, Any]) -> ChatRecord:
        """Full Auto raises the permission when chosen; leaving it restores the earlier one."""
        old, new = record.chat.mode, changes.get("mode", record.chat.mode)
        kept = record.permission_before_full_auto
        if new == "full_auto" and old != "full_auto":
            kept = record.chat.permission
            changes = {"permission": self._policies.max_permission, **changes}
        elif old == "full_auto" and new != "full_auto":
            changes = {"permission": kept or "ask", **changes}
            kept = None
        return replace(record.with_chat(**changes), permission_before_full_auto=kept)

    def _remember(self, caller: Caller, chat: Chat) -> None:
        if chat.provider == TOUR:
            return  # who takes the tour has not chosen it for their next chat
        selection = {name: getattr(chat, name) for name in SELECTION}
        self._store.save_selection(caller.username, selection)

    def mark_read(self, chat_id: str, caller: Caller, mark: ReadMark) -> Chat:
        """Per person: who has read everything is not told any more that a run has ended."""
        record = self._store.chat(chat_id)
        marks = self._store.marks(chat_id, caller.username)
        last = record.chat.last_seq
        to = max(last - 1, 0) if mark.unread else max(marks.read_seq, min(mark.seq or 0, last))
        if to != marks.read_seq:
            self._store.save_marks(chat_id, caller.username, replace(marks, read_seq=to))
            self.announce(chat_id)
        return self.view(record, caller.username)

    # ---- asks -------------------------------------------------------------------------------

    async def answer(
        self, chat_id: str, ask_id: str, answer: AskAnswer, caller: Caller
    ) -> AskResolved:
        """Answer an ask; approving a plan sets mode code and the permission that it leads to.

        Raises Forbidden (an approval by token; a plan where the admin does not allow mode code),
        NotFound, AlreadyResolved, BadRequest, Busy.
        """
        self._store.chat(chat_id)
        if answer.decision != "deny":
            require_person(
                caller, allow_tokens=self._policies.allow_token_approvals, what="An approval"
            )
        ask = self._hub.open_ask(chat_id, ask_id)
        if ask is not None and ask.kind == "plan" and answer.decision == "allow":
            self._policies.check(mode="code")
        resolved = await self._hub.answer(
            chat_id,
            ask_id,
            answer,
            caller.author,
            lambda ask, resolved: self._after_answer(chat_id, ask, resolved),
        )
        if self._hub.oldest_ask(chat_id) is not None:
            self._hub.show_row(chat_id)  # the chat still waits, for another answer
        return resolved

    def _after_answer(self, chat_id: str, ask: Ask, resolved: AskResolved) -> None:
        if ask.kind != "plan" or resolved.decision != "allow":
            return
        option = next((o for o in ask.options if o.id == resolved.option_id), None)
        changes: dict[str, Any] = {"mode": "code"}
        if option is not None and option.leads_to is not None:
            changes["permission"] = option.leads_to
        record = self._store.chat(chat_id)
        try:
            self._store.save_chat(self._with_mode(record, changes))
        except StorageError as error:
            # the answer itself is stored: the agent must hear it
            log.warning("chat=%s: the mode stays as it was: %s", chat_id, error)
        self.announce(chat_id)

    # ---- what the hub tells -----------------------------------------------------------------

    def on_session(self, chat_id: str, session: Session) -> None:
        """Keep the provider's own id for the conversation."""
        record = self._store.chat(chat_id)
        sessions = {**record.chat.sessions, session.provider: session.provider_session_id}
        pending = [name for name in record.chat.fork_pending if name != session.provider]
        self._store.save_chat(record.with_chat(sessions=sessions, fork_pending=pending))

    def on_finished(self, chat_id: str, complete: Complete) -> None:
        """Totals and the list's mark. Cancelled by a person needs no mark."""
        record = self._store.chat(chat_id)
        marks: dict[str, Attention | None] = {"completed": "finished", "cancelled": None}
        self._store.save_chat(
            record.with_chat(
                usage=_add_usage(record.chat.usage, complete.usage, complete.cost_usd),
                attention=marks.get(complete.outcome, "failed"),
            )
        )

    def announce(self, chat_id: str) -> None:
        """Send the chat's row to every client that may see it."""
        record = self._store.chat(chat_id)
        if self.projects.is_here(record):
            waiting = self._store.queue_sizes([chat_id]).get(chat_id, QueueSize())
            self._hub.broadcast(
                lambda username: ChatFrame(
                    chat=self.view(record, username, waiting)
                ).model_dump_json()
            )


def _add_usage(total: ChatUsage, usage: Usage | None, cost_usd: float | None) -> ChatUsage:
    if usage is None:
        return total
    cost = cost_usd if cost_usd is not None else usage.cost_usd
    return ChatUsage(
        input_tokens=total.input_tokens + (usage.input_tokens or 0),
        output_tokens=total.output_tokens + (usage.output_tokens or 0),
        cache_read_tokens=total.cache_read_tokens + (usage.cache_read_tokens or 0),
        cost_usd=total.cost_usd if cost is None else (total.cost_usd or 0.0) + cost,
    )
