"""A server that dies: it begins a run in each of two chats of one Codex and tells where they stand.

    python -m tests.agents.codex_doomed PROGRAM HOME PROJECT PROMPT

Each run is a line of JSON: its request, its mark, and the offset that was reached.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.events import AssistantText, EventBody, Session, ToolUseStart
from jupyter_agentchat.providers.base import AdapterContext
from jupyter_agentchat.providers.codex.adapter import CodexAdapter
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.agents.codex_agent import Chat, Place, environment_of
from tests.fakes.fake_openai import FakeOpenAI


def _is_work(body: EventBody) -> bool:
    return isinstance(body, AssistantText | ToolUseStart)


async def _doomed(program: str, home: str, project: str, prompt: str) -> None:
    launcher = SpoolLauncher(Path(home) / "spool")
    context = AdapterContext(
        launcher=launcher,
        environment=environment_of(Path(home)),
        settings=ProviderSettings(command=(program,)),
        scratch=Path(home),
    )
    adapter = CodexAdapter(context)
    with FakeOpenAI() as unused:
        place = Place(Path(program), unused, Path(home), Path(project))
    chats = [Chat(adapter, launcher, place, id=name) for name in ("chat-1", "chat-2")]
    await asyncio.gather(*(_begin(chat, prompt) for chat in chats))


async def _begin(chat: Chat, prompt: str) -> None:
    run = await chat.start(prompt, permission="accept_edits")
    told = False
    async for step in run.steps():
        for body in step.bodies:
            if isinstance(body, Session):
                chat.session_id = body.provider_session_id
        if not told and any(map(_is_work, step.bodies)):
            told = True
            assert chat.mark is not None
            assert chat.last is not None
            place = [chat.mark.child_id, chat.mark.first, step.offset]
            print(json.dumps([chat.last.model_dump(), place, chat.session_id]), flush=True)


if __name__ == "__main__":
    asyncio.run(_doomed(*sys.argv[1:]))
