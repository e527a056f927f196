"""A chat as a download. Never rendered in our origin: what an agent wrote is not ours to run."""

from __future__ import annotations

from typing import cast, get_args

from jupyter_server.auth.decorator import authorized
from tornado import web

from ..chats.export import MIME, Format, export_jsonl, export_markdown, file_name
from ..errors import BadRequest
from .base import RESOURCE, AgentChatHandler


class ExportHandler(AgentChatHandler):
    """GET api/chats/{id}/export?format=jsonl or md, include=cut"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    async def get(self, chat_id: str) -> None:
        self.check_xsrf_cookie()  # a GET with content: not from another site (A8)
        wanted = self.get_query_argument("format", "jsonl")
        if wanted not in get_args(Format):
            raise BadRequest("There is no such format.", formats=list(get_args(Format)))
        form = cast("Format", wanted)
        chat = self.services.chats.get(chat_id, self.caller)
        cut = self.get_query_argument("include", "") == "cut"
        self.set_header("Content-Type", f"{MIME[form]}; charset=UTF-8")
        self.set_header("Content-Disposition", f'attachment; filename="{file_name(chat, form)}"')
        self.set_header("Cache-Control", "no-store")
        store = self.services.store
        if form == "jsonl":
            pieces = export_jsonl(store, chat, include_cut=cut)
        else:
            names = {agent.id: agent.name for agent in self.services.providers.list()}
            pieces = export_markdown(
                store, chat, include_cut=cut, name_of=lambda agent: names.get(agent, agent)
            )
        for piece in pieces:
            if piece:
                self.write(piece)
                await self.flush()  # waits for a slow client; others go on
        await self.finish()
