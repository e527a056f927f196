"""The turns of the stand-in of Kimi Code, played from the words of a prompt (see `fake_kimi`)."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from typing import Any

from tests.fakes.kimi_sessions import Json, Session

_USAGE = {"inputOther": 10, "output": 5, "inputCacheRead": 1, "inputCacheCreation": 0}


async def play(session: Session, prompt_id: str, text: str) -> None:
    """Play one turn to its end."""
    await Turn(session, prompt_id, text).play()


class Turn:
    """One turn of a session."""

    def __init__(self, session: Session, prompt_id: str, text: str) -> None:
        self.session, self.prompt_id, self.text = session, prompt_id, text
        self.number = session.next_turn()
        self.steps: list[Json] = []
        self.frames: list[Json] = []

    def tell(self, kind: str, **more: Any) -> None:
        self.session.tell(kind, turnId=self.number, **more)

    async def play(self) -> None:
        session = self.session
        session.said.append(self.text)
        session.turns.append(
            {
                "kind": "turn",
                "turnId": f"t{self.number}",
                "triggerPromptId": self.prompt_id or None,
                "steps": self.steps,
            }
        )
        named = {"promptId": self.prompt_id} if self.prompt_id else {}
        self.tell("turn.started", origin={"kind": "user" if named else "task"}, **named)
        reason, error = "completed", {}
        try:
            self.begin()
            error = await self.script() or {}
            reason = "failed" if error else "completed"
            if not error:
                self.finish()
            while session.steered:
                steered, words = session.steered.pop(0)
                session.said.append(words)
                session.tell("turn.steer", promptIds=[steered], turnId=self.number)
                self.begin()
                await self.say(words)
                self.finish()
        except asyncio.CancelledError:
            reason = "cancelled"
            self.tell("turn.step.interrupted", step=len(self.steps))
        self.tell("turn.ended", reason=reason, **({"error": error} if error else {}))
        for approval_id in list(session.pending):
            del session.pending[approval_id]
            session.tell("event.approval.resolved", approval_id=approval_id)
        if self.prompt_id:
            ended = "prompt.aborted" if reason == "cancelled" else "prompt.completed"
            session.tell(ended, promptId=self.prompt_id, reason=reason)

    def begin(self) -> None:
        self.frames = []
        self.steps.append({"ordinal": len(self.steps) + 1, "state": "running", "frames": []})
        self.session.running = {"turn_id": self.number, "assistant_text": "", "thinking_text": ""}
        step = len(self.steps)
        self.tell("turn.step.started", step=step, stepId=f"{self.session.id}-{self.number}-{step}")

    def finish(self) -> None:
        running = self.session.running or {}
        text = running.get("assistant_text")
        frames = [{"kind": "text", "text": text}] if text else []
        self.steps[-1].update(state="completed", frames=frames)
        self.session.running = {"turn_id": self.number, "assistant_text": "", "thinking_text": ""}
        self.tell(
            "turn.step.completed",
            step=len(self.steps),
            usage=_USAGE,
            finishReason="end_turn",
            providerFinishReason="completed",
        )

    async def say(
        self, *pieces: str, pause_s: float = 0.0, lost: frozenset[int] = frozenset()
    ) -> None:
        for number, piece in enumerate(pieces):
            running = self.session.running or {}
            offset = len(running["assistant_text"])
            running["assistant_text"] += piece
            self.tell(
                "assistant.delta", volatile=True, lost=number in lost, offset=offset, delta=piece
            )
            await asyncio.sleep(pause_s)

    async def script(self) -> Json | None:
        word, _, rest = self.text.partition(" ")
        words = [f"word{number} " for number in range(40)]
        match word:
            case "steady":
                await self.say(*words, pause_s=0.025)
            case "endless" | "deaf":
                while True:
                    await self.say("on ", pause_s=0.01)
            case "call":
                self.call("c1", "Read", {"path": f"{self.session.cwd}/notes.txt"}, "alpha")
                await self.say("Read.")
            case "failing":
                self.call("c1", "Read", {"path": "/none"}, "no such file", isError=True)
                await self.say("It failed.")
            case "ask" | "withdraw":
                await self.ask(withdraw=word == "withdraw")
                await self.say("Behind the answer.")
            case "plan":
                await self.ask(withdraw=False, tool="ExitPlanMode")
                await self.ask(withdraw=False)
                await self.say("Behind the plan.")
            case "question":
                await self.question()
                await self.say("Answered.")
            case "big":
                await self.say("x" * 2_000_000)
            case "torn":
                for listener in self.session.listeners:
                    listener.say_half({"type": "assistant.delta", "payload": {"delta": "torn"}})
                await asyncio.sleep(0.05)
                os._exit(1)
            case "crash":
                await self.say("Before it. ")
                await asyncio.sleep(0.1)
                os.write(2, b"a last word on stderr\n")
                os._exit(3)
            case "odd":
                self.session.tell("from.the.future", what=1)
                self.call("c1", "NeverSeen", {"x": 1}, "done")
                await self.say("Odd.")
            case "recall":
                await self.say(" | ".join(self.session.said))
            case "cut":
                await self.say(*words[:10])
                for listener in list(self.session.listeners):
                    listener.close()
                await self.say(*words[10:20], pause_s=0.03)
                self.call("c1", "Read", {"path": f"{self.session.cwd}/notes.txt"}, "alpha")
                self.finish()
                self.begin()
                await self.say(*words[20:], pause_s=0.03)
            case "gap":
                await self.say(*words, pause_s=0.01, lost=frozenset({5, 6}))
            case "many":
                for number in range(400):
                    await self.say(f"step {number} ")
                    self.call(f"c{number}", "Read", {"path": "/a"}, "a")
                    self.finish()
                    self.begin()
                    await asyncio.sleep(0)
                await self.say("the end")
            case "fail":
                return {"code": rest, "message": f"scripted {rest}", "details": {"statusCode": 401}}
            case _:
                await self.say(*[f"{piece} " for piece in (rest or self.text).split()])
        return None

    def call(self, call_id: str, name: str, arguments: Json, output: str, **more: Any) -> None:
        self.tell("tool.call.started", toolCallId=call_id, name=name, args=arguments)
        self.tell("tool.result", toolCallId=call_id, output=output, **more)

    async def ask(self, *, withdraw: bool, tool: str = "Bash") -> None:
        session, approval_id = self.session, f"approval_{uuid.uuid4()}"
        display = {"kind": "command", "command": "touch a"}
        if tool != "Bash":
            display = {"kind": "plan_review", "plan": "# Plan"}
        answered = asyncio.get_running_loop().create_future()
        session.pending[approval_id] = answered
        session.tell(
            "event.approval.requested",
            approval_id=approval_id,
            action="Running: touch a",
            tool_call_id=f"c-{tool}",
            tool_name=tool,
            tool_input_display=display,
        )
        if withdraw:
            await asyncio.sleep(0.02)
            session.pending.pop(approval_id)
            session.tell("event.approval.resolved", approval_id=approval_id)
            return
        decision = await answered
        session.tell("event.approval.resolved", approval_id=approval_id, **decision)
        denied = decision["decision"] != "approved"
        output = "not run because the user rejected it" if denied else "made"
        self.call(f"c-{tool}", tool, {"command": "touch a"}, output, isError=denied)

    async def question(self) -> None:
        session, question_id = self.session, f"question_{uuid.uuid4()}"
        answered = asyncio.get_running_loop().create_future()
        session.pending[question_id] = answered
        options = [{"id": "opt_0_0", "label": "Red"}, {"id": "opt_0_1", "label": "Blue"}]
        form = [{"id": "q_0", "question": "Which?", "options": options, "allow_other": True}]
        session.tell("event.question.requested", question_id=question_id, questions=form)
        given = await answered
        session.tell("event.question.answered", question_id=question_id)
        await self.say(json.dumps(given))
