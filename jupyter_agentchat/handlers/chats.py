"""Chats over REST: the list, one chat, its log, its blobs."""

from __future__ import annotations

import json

from jupyter_server.auth.decorator import authorized
from tornado import web

from ..errors import BadRequest
from ..protocol.resources import ChatPatch, Empty, NewChat, ReadMark
from ..store.base import EventPage
from .base import RESOURCE, AgentChatHandler

STATES = ("idle", "running", "waiting", "cancelling")


class ChatsHandler(AgentChatHandler):
    """GET, POST api/chats"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self) -> None:
        state = self.get_query_argument("state", None)
        if state is not None and state not in STATES:
            raise BadRequest("There is no such state.", field="state", states=list(STATES))
        chats, cursor = self.services.chats.list(
            self.caller,
            project=self.get_query_argument("project", None),
            state=state,
            archived=self.flag("archived"),
            query=self.get_query_argument("q", ""),
            limit=self.number("limit", 100, 500) or 100,
            cursor=self.get_query_argument("cursor", None),
        )
        self.reply(
            {
                "chats": [chat.model_dump(mode="json") for chat in chats],
                "next_cursor": cursor,
                "elsewhere": self.services.chats.projects.elsewhere(),
            }
        )

    @web.authenticated
    @authorized(action="write", resource=RESOURCE)
    async def post(self) -> None:
        new = self.body(NewChat)
        self.reply(await self.services.chats.create(await self.person(), new), 201)


class ChatHandler(AgentChatHandler):
    """GET, PATCH, DELETE api/chats/{id}"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self, chat_id: str) -> None:
        self.reply(self.services.chats.get(chat_id, self.caller))

    @web.authenticated
    @authorized(action="write", resource=RESOURCE)
    async def patch(self, chat_id: str) -> None:
        patch = self.body(ChatPatch)
        chat = await self.services.chats.patch(chat_id, await self.person(), patch)
        self.services.queue.wake(chat_id)  # what its queue waits for may be there now
        self.reply(chat)

    @web.authenticated
    @authorized(action="write", resource=RESOURCE)
    async def delete(self, chat_id: str) -> None:
        self.services.queue.hold(chat_id)
        await self.services.trash.delete(chat_id)
        self.reply({}, 202)


class TrashHandler(AgentChatHandler):
    """GET api/trash"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self) -> None:
        self.reply(self.services.trash.list())


class RestoreHandler(AgentChatHandler):
    """POST api/chats/{id}/restore: out of the trash"""

    @web.authenticated
    @authorized(action="write", resource=RESOURCE)
    def post(self, chat_id: str) -> None:
        self.body(Empty)
        self.reply(self.services.trash.restore(chat_id, self.caller))


class EventsHandler(AgentChatHandler):
    """GET api/chats/{id}/events?after=&before=&limit=&turns=&include=cut"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self, chat_id: str) -> None:
        store = self.services.store
        store.last_seq(chat_id)
        after, before = self.number("after"), self.number("before")
        limit = self.number("limit", 500, 2000) or 500
        cut = self.get_query_argument("include", "") == "cut"
        turns = self.number("turns", None, 200)
        if after is not None and before is not None:
            raise BadRequest("after and before exclude each other.")
        if turns:
            page = store.turns_before(chat_id, before, turns=turns, limit=2000, include_cut=cut)
        elif before is not None:
            page = store.events_before(chat_id, before, limit=limit, include_cut=cut)
        else:
            page = store.events_after(chat_id, after or 0, limit=limit, include_cut=cut)
        self._reply_page(page)

    def _reply_page(self, page: EventPage) -> None:
        """Stored bytes go out as they are; nothing is parsed."""
        events = ",".join(event.wire_json(with_chat=True) for event in page.events)
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.set_header("Cache-Control", "no-store")
        facts = {
            "first_seq": page.first_seq,
            "last_seq": page.last_seq,
            "epoch": self.services.store.epoch,
            "has_more": page.has_more,
        }
        self.finish(f'{{"events":[{events}],{json.dumps(facts)[1:]}')


class ReadHandler(AgentChatHandler):
    """POST api/chats/{id}/read"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def post(self, chat_id: str) -> None:
        mark = self.body(ReadMark)
        if mark.seq is None and not mark.unread:
            raise BadRequest("Say seq or unread.")
        self.reply(self.services.chats.mark_read(chat_id, self.caller, mark))


class BlobHandler(AgentChatHandler):
    """GET api/chats/{id}/blobs/{blob_id}: always a download, never rendered in our origin."""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self, chat_id: str, blob_id: str) -> None:
        self.check_xsrf_cookie()  # a GET with content: not from another site (A8)
        self.services.store.chat(chat_id)
        data, mime = self.services.store.blob(chat_id, blob_id)
        kind = mime.split(";")[0]
        safe = kind if kind in ("application/json", "text/plain") else "application/octet-stream"
        self.set_header("Content-Disposition", f'attachment; filename="{blob_id}.txt"')
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Content-Security-Policy", "sandbox; default-src 'none'")
        self.finish(data, set_content_type=f"{safe}; charset=utf-8")
