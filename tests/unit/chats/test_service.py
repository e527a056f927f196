"""Changing chats: nothing gets lost between two changes, and nobody gets more than was allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.chats.access import OWNER, Caller
from jupyter_agentchat.chats.policies import Policies
from jupyter_agentchat.chats.projects import Projects
from jupyter_agentchat.chats.service import ChatService
from jupyter_agentchat.errors import Busy, Forbidden, Stale
from jupyter_agentchat.protocol.events import Ask, Session
from jupyter_agentchat.protocol.resources import AskAnswer, ChatPatch, NewChat, ReadMark
from jupyter_agentchat.protocol.tools import AskOption
from jupyter_agentchat.protocol.words import Mode, Permission
from jupyter_agentchat.runs.hooks import HubHooks
from tests.unit.runs.staged import DONE, Stage, on_stage, say
from tests.waiting import until

TOKEN = Caller("owner", "You", by_token=True)
PLAN = Ask(
    ask_id="q",
    kind="plan",
    title="The plan",
    plan="do it",
    options=[
        AskOption(id="yes", label="Go", decision="allow", leads_to="accept_edits"),
        AskOption(id="no", label="No", decision="deny"),
    ],
)


class Registry:
    """The providers that ChatService asks for."""

    ids: Sequence[str] = ("other", "staged")

    def probe_all(self) -> None:
        return None

    def list(self) -> list[Any]:
        return []


def service(stage: Stage, root: Path, **limits: Any) -> ChatService:
    policies = Policies(server_root=root, loose_root=root.with_name("loose"), **limits)
    projects = Projects(stage.store, policies)
    chats = ChatService(stage.store, stage.hub, policies, projects, Registry())  # type: ignore[arg-type]
    stage.hub.connect(
        HubHooks(chats.announce, chats.on_session, chats.on_finished, progress=lambda: None)
    )
    record = stage.store.chat("c")
    stage.store.save_chat(replace(record, project_path=str(root)))
    return chats


def set_to(stage: Stage, mode: Mode, permission: Permission) -> None:
    record = stage.store.chat("c")
    stage.store.save_chat(record.with_chat(mode=mode, permission=permission))


def test_a_change_that_waits_for_the_agent_keeps_what_happens_meanwhile(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        chats = service(stage, tmp_path)
        set_to(stage, "code", "ask")
        run = stage.start()
        await until(lambda: stage.adapter.requests)
        go = asyncio.Event()
        lower = run.set_permission

        async def slow(permission: Permission) -> bool:
            await go.wait()
            return await lower(permission)

        run.set_permission = slow  # type: ignore[method-assign]
        patch = ChatPatch(permission="read_only", title="renamed")
        changing = asyncio.get_running_loop().create_task(chats.patch("c", TOKEN, patch))
        await asyncio.sleep(0)
        run.emit(Session(provider="staged", provider_session_id="s9"), say("x"))
        await until(lambda: stage.store.chat("c").chat.sessions)
        chats.mark_read("c", OWNER, ReadMark(seq=2))
        await chats.patch("c", OWNER, ChatPatch(pinned=True))
        go.set()
        await changing
        record = stage.store.chat("c")
        assert record.chat.sessions == {"staged": "s9"}
        marks = stage.store.marks("c", "owner")
        assert (marks.read_seq, marks.pinned) == (2, True)
        assert record.chat.title == "renamed"
        assert record.chat.permission == "read_only"
        run.end(DONE)
        await until(lambda: stage.hub.state("c") == "idle")

    on_stage(scenario)


def test_a_lowering_that_became_a_raise_meanwhile_is_refused(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        chats = service(stage, tmp_path)
        set_to(stage, "code", "full")
        stage.adapter.next()
        plan = stage.plan()
        started = plan.started.model_copy(update={"permission": "full"})
        run = stage.adapter.runs[0]
        stage.hub.start(replace(plan, started=started))
        await until(lambda: stage.adapter.requests)
        await asyncio.sleep(0)
        go = asyncio.Event()

        async def slow(_permission: Permission) -> bool:
            await go.wait()
            return True

        run.set_permission = slow  # type: ignore[method-assign]
        changing = asyncio.get_running_loop().create_task(
            chats.patch("c", TOKEN, ChatPatch(permission="accept_edits"))
        )
        await asyncio.sleep(0)
        set_to(stage, "code", "read_only")
        go.set()
        with pytest.raises(Stale):
            await changing
        assert stage.store.chat("c").chat.permission == "read_only"

    on_stage(scenario)


def test_clearing_the_skills_leaves_a_chat_that_can_be_read(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        chats = service(stage, tmp_path)
        await chats.patch("c", OWNER, ChatPatch(skills=["host:a"]))
        assert (await chats.patch("c", OWNER, ChatPatch(skills=None))).skills == []

    on_stage(scenario)


def test_who_may_run_nothing_raises_nothing(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        chats = service(stage, tmp_path, allow_token_approvals=True)
        guest = Caller("guest", "Guest", may_execute=False)
        for patch in (ChatPatch(permission="full"), ChatPatch(mode="full_auto")):
            with pytest.raises(Forbidden):
                await chats.patch("c", guest, patch)
        with pytest.raises(Forbidden):
            await chats.create(guest, NewChat(provider="staged", permission="full"))
        assert (await chats.patch("c", guest, ChatPatch(title="t"))).title == "t"
        assert (await chats.patch("c", TOKEN, ChatPatch(permission="full"))).permission == "full"

    on_stage(scenario)


@pytest.mark.parametrize(
    ("limits", "mode", "permission"),
    [
        ({}, "code", "ask"),
        ({"max_permission": "read_only"}, "code", "read_only"),
        ({"allowed_modes": ["plan", "chat"]}, "plan", "ask"),
        ({"allowed_modes": ["chat", "code"]}, "code", "ask"),
    ],
)
def test_a_chat_can_be_made_without_choosing_whatever_the_admin_allows(
    tmp_path: Path, limits: dict[str, Any], mode: Mode, permission: Permission
) -> None:
    async def scenario(stage: Stage) -> None:
        chats = service(stage, tmp_path, **limits)
        chat = await chats.create(TOKEN, NewChat(provider="staged"))
        assert (chat.mode, chat.permission) == (mode, permission)

    on_stage(scenario)


def test_a_model_that_is_not_allowed_any_more_is_not_chosen_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        everything = service(stage, tmp_path)
        await everything.create(OWNER, NewChat(provider="staged", model="big", effort="high"))
        chats = service(stage, tmp_path, allowed_models=["small"])
        chat = await chats.create(OWNER, NewChat())
        assert (chat.provider, chat.model, chat.effort) == ("staged", None, None)
        with pytest.raises(Forbidden):
            await chats.create(OWNER, NewChat(model="big"))

    on_stage(scenario)


def test_approving_a_plan_changes_mode_and_permission_before_the_agent_goes_on(
    tmp_path: Path,
) -> None:
    async def scenario(stage: Stage) -> None:
        chats = service(stage, tmp_path)
        set_to(stage, "plan", "ask")
        run = stage.start()
        run.emit(PLAN)
        await until(lambda: stage.hub.open_asks("c"))
        seen = []

        async def look() -> None:
            chat = stage.store.chat("c").chat
            seen.append((chat.mode, chat.permission))

        run.answering = look
        with pytest.raises(Forbidden):
            await chats.answer("c", "q", AskAnswer(decision="allow"), TOKEN)
        await chats.answer("c", "q", AskAnswer(decision="allow"), OWNER)
        assert seen == [("code", "accept_edits")]

    on_stage(scenario)


def test_a_plan_cannot_lead_into_a_mode_that_the_admin_forbids(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        chats = service(stage, tmp_path, allowed_modes=["plan"])
        set_to(stage, "plan", "ask")
        run = stage.start()
        run.emit(PLAN)
        await until(lambda: stage.hub.open_asks("c"))
        with pytest.raises(Forbidden):
            await chats.answer("c", "q", AskAnswer(decision="allow"), OWNER)
        assert stage.hub.open_asks("c")
        await chats.answer("c", "q", AskAnswer(decision="deny"), TOKEN)
        assert stage.store.chat("c").chat.mode == "plan"

    on_stage(scenario)


def test_the_agent_can_only_be_changed_between_runs(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        chats = service(stage, tmp_path)
        run = stage.start()
        with pytest.raises(Busy):
            await chats.patch("c", OWNER, ChatPatch(provider="other"))
        await until(lambda: stage.adapter.requests)
        run.end(DONE)
        await until(lambda: stage.hub.state("c") == "idle")
        assert (await chats.patch("c", OWNER, ChatPatch(provider="other"))).provider == "other"

    on_stage(scenario)
