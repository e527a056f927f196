"""The lines of one run -> event bodies. Pure: no clock, no random ids, no I/O.

A run is recognised by the id of its prompt, its subagents by the session that they were called
from. Everything is told once, so that what is read again after a cut of the connection adds only
what is new.
"""

from __future__ import annotations

from typing import Final

from ....protocol.events import Complete, Error, EventBody, Session, System
from ..wire import (
    PROVIDER,
    Json,
    as_object,
    int_of,
    object_of,
    objects_in,
    objects_of,
    suffix_of,
    text_of,
    true_at,
)
from .endings import RUNAWAY, Ending, Tokens
from .notices import GAP, Strange, checklist, retry
from .parts import Parts
from .pending import Pending
from .places import Places
from .turn import Turn

_UNTITLED: Final = ("New session - ", "Child session - ")


class Translator:
    """One run. `read` takes what `feed` writes, in order."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.session = turn.session
        """The conversation, as soon as it is known."""
        self.begun = False
        """Whether the prompt has arrived."""
        self.ending = Ending()
        self._places = Places(turn.cwd)
        self._parts = Parts(self._places, turn.servers)
        self.pending = Pending(self._parts, self._places)
        """What waits for a person."""
        self._tokens = Tokens()
        self._strange = Strange()
        self._family: set[str] = set()
        self._roles: dict[str, str] = {}
        self._hidden: set[str] = set()  # messages that are a summary, not an answer
        self._expected = {suffix_of(turn.run_id)}
        self._waited: set[str] = set()
        self._window: int | None = None
        self._prompt = ""
        self._title = ""

    # ---- what is asked of it ------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the run has ended: nothing is going on, and nothing waits to be taken up."""
        return self.ending.over and not self._waited

    @property
    def waits_in_vain(self) -> bool:
        """Whether only a message is missing that was put in."""
        return self.ending.over and bool(self._waited)

    @property
    def in_doubt(self) -> bool:
        """Whether opencode must be asked how the conversation stands."""
        return self.ending.in_doubt

    def expect(self, suffix: str) -> None:
        """A message of this run is put in: the run goes on until it was answered."""
        self._expected.add(suffix)
        self._waited.add(suffix)

    def unexpect(self, suffix: str) -> None:
        """It did not get there."""
        self._waited.discard(suffix)

    def give_up_waiting(self) -> None:
        """Nothing that was put in is waited for any more."""
        self._waited.clear()

    def is_child(self, asked: Json) -> bool:
        """Whether a subagent asks this."""
        return text_of(asked, "sessionID") != self.session

    def end(self, *, stopped: bool = False) -> tuple[EventBody, ...]:
        """The last bodies of the run. To be called when it is `over`, or given up. `stopped`: a
        person has stopped it, which opencode does not always say."""
        ending = self.ending
        usage = self._tokens.usage(self._window)
        outcome = "completed"
        bodies: list[EventBody] = []
        error = ending.error
        if ending.runaway:
            error = Error(code="provider_error", message=RUNAWAY)
        if stopped:
            outcome = "cancelled"
        elif error is not None:
            outcome = "failed"
            bodies.append(error)
        elif ending.aborted:
            outcome = "cancelled"
        complete = Complete.model_validate(
            {
                "outcome": outcome,
                "usage": usage,
                "cost_usd": usage.cost_usd if usage else None,
                "num_turns": len(ending.messages) or None,
            }
        )
        return (*bodies, complete)

    # ---- lines ----------------------------------------------------------------------------------

    def read(self, message: Json) -> tuple[EventBody, ...]:
        """The bodies of one line."""
        if "got" in message:
            return tuple(self._got(message))
        if "feed" in message:
            again = (int_of(message, "times") or 0) > 1 and self.begun and self._parts.open_texts
            return (GAP,) if again and text_of(message, "feed") == "up" else ()
        payload = object_of(message, "payload")
        return tuple(
            self._event(
                text_of(payload, "type"),
                object_of(payload, "properties"),
                text_of(message, "directory"),
            )
        )

    def _event(self, kind: str, properties: Json, directory: str) -> list[EventBody]:
        info = object_of(properties, "info")
        session = text_of(properties, "sessionID") or text_of(info, "sessionID")
        session = session or text_of(object_of(properties, "part"), "sessionID")
        if kind.startswith("session.") and "parentID" in info:
            self._adopt(info)
        if not self.begun:
            return self._before(kind, properties, session)
        if session not in self._family:
            return []
        root = session == self.session
        match kind:
            case "message.updated":
                return self._message(info, root=root)
            case "message.part.updated":
                return self._part(object_of(properties, "part"), session, root=root)
            case "message.part.delta":
                if root and text_of(properties, "field") == "text" and self._shows(properties):
                    return self._parts.delta(properties)
                return []
            case "permission.asked":
                return self.pending.permission(properties, directory)
            case "question.asked":
                return self.pending.question(properties, directory)
            case "permission.replied" | "question.replied" | "question.rejected":
                return self.pending.withdraw(text_of(properties, "requestID"))
            case "todo.updated" if root:
                return [checklist(properties)]
            case "session.updated" | "session.created":
                return self._named(info) if root else []
            case "session.status" | "session.idle" | "session.error" | "session.compacted":
                return self._state(kind, properties) if root else []
        return self._strange.note(kind, kind)

    def _before(self, kind: str, properties: Json, session: str) -> list[EventBody]:
        """Before the prompt has arrived, all else is of an earlier turn; but a prompt that was
        refused never arrives, and only an error says so."""
        info = object_of(properties, "info")
        if kind == "session.created":
            if text_of(object_of(info, "metadata"), "agentchat_run") == self._turn.run_id:
                self.session = text_of(info, "id")
        elif kind == "message.updated" and text_of(info, "role") == "user":
            own = text_of(info, "id").endswith(tuple(self._expected))
            if own or (self._turn.any_prompt and session == self.session):
                self._begin(session, text_of(info, "id"))
                return [*self._message(info, root=True), *self._opening(info)]
        elif kind == "session.error" and session == self.session:
            self.ending.failed(object_of(properties, "error"))
            self.ending.aborted = False
        return []

    def _begin(self, session: str, prompt: str) -> None:
        self.begun, self.session, self._prompt = True, session, prompt
        self.ending = Ending()
        self._family.add(session)

    def _opening(self, info: Json) -> list[EventBody]:
        model = object_of(info, "model")
        name = f"{text_of(model, 'providerID')}/{text_of(model, 'modelID')}"
        self._window = self._turn.windows.get(name)
        told = Session(
            provider=PROVIDER,
            provider_session_id=self.session or "",
            model=name if len(name) > 1 else None,
        )
        return [told, *self._turn.notices]

    def _adopt(self, info: Json) -> None:
        if text_of(info, "parentID") in self._family:
            self._family.add(text_of(info, "id"))

    def _message(self, info: Json, *, root: bool) -> list[EventBody]:
        message = text_of(info, "id")
        role = self._roles[message] = text_of(info, "role")
        if not root:
            return []
        if role == "user":
            arrived = {one for one in self._waited if message.endswith(one)}
            self._waited -= arrived
            if arrived:
                self.ending.asked_again(message)
        elif role == "assistant":
            self._places.add(text_of(object_of(info, "path"), "cwd"))
            if true_at(info, "summary"):
                self._hidden.add(message)
            self.ending.answer(info)
        return []

    def _shows(self, part: Json) -> bool:
        message = text_of(part, "messageID")
        return self._roles.get(message) == "assistant" and message not in self._hidden

    def _part(self, part: Json, session: str, *, root: bool) -> list[EventBody]:
        match text_of(part, "type"):
            case "text" | "reasoning":
                hidden = true_at(part, "synthetic") or true_at(part, "ignored")
                return (
                    self._parts.streamed(part) if root and self._shows(part) and not hidden else []
                )
            case "tool":
                return self._parts.tool(part)
            case "step-finish":
                counted = self._tokens.step(part, root=root)
                usage = self._tokens.usage(self._window) if counted else None
                return [usage] if usage else []
            case "compaction":
                data: Json = {"trigger": "auto" if part.get("auto") is True else "manual"}
                return [System(subtype="compacting", data=data)]
            case kind:
                return self._strange.note(f"part {kind}", kind)

    def _state(self, kind: str, properties: Json) -> list[EventBody]:
        match kind:
            case "session.idle":
                self.ending.status("idle")
            case "session.error":
                self.ending.failed(object_of(properties, "error"))
            case "session.compacted":
                return [System(subtype="compaction")]
            case _:
                status = object_of(properties, "status")
                self.ending.status(text_of(status, "type"))
                if text_of(status, "type") == "retry":
                    return [retry(status)]
        return []

    def _named(self, info: Json) -> list[EventBody]:
        title = text_of(info, "title")
        if not title or title == self._title or title.startswith(_UNTITLED):
            return []
        self._title = title
        return [System(subtype="title", data={"title": title})]

    # ---- what was asked for after a cut ---------------------------------------------------------

    def _got(self, message: Json) -> list[EventBody]:
        run_id, _, what = text_of(message, "got").partition(":")
        if run_id != self._turn.run_id or int_of(message, "status") != 200:
            return []
        body = message.get("body")
        match what.partition(":")[::2]:
            case ("status", _):
                self._checked(as_object(body))
                return []
            case ("messages", session):
                return self._history(session, objects_in(body))
            case ("children", _):
                for child in objects_in(body):
                    self._adopt(child)
                return []
            case ("permission" | "question" as kind, directory):
                return self._still_pending(kind, objects_in(body), directory)
        return []

    def _checked(self, statuses: Json) -> None:
        known = object_of(statuses, self.session or "")
        if known:
            self.ending.status(text_of(known, "type"))
            return
        self.ending.idle = self.ending.idle or self.ending.busy
        self.ending.checked_idle = True

    def _history(self, session: str, messages: list[Json]) -> list[EventBody]:
        bodies: list[EventBody] = []
        for message in messages:
            info = object_of(message, "info")
            if session == self.session and text_of(info, "id") < self._prompt:
                continue  # of an earlier turn
            bodies += self._event("message.updated", {"sessionID": session, "info": info}, "")
            if self.begun and text_of(info, "id") in self._roles:
                for part in objects_of(message, "parts"):
                    properties: Json = {"sessionID": session, "part": part}
                    bodies += self._event("message.part.updated", properties, "")
        return bodies

    def _still_pending(self, kind: str, asked: list[Json], directory: str) -> list[EventBody]:
        bodies: list[EventBody] = []
        for one in asked:
            bodies += self._event(f"{kind}.asked", one, directory)
        waiting = {text_of(one, "id") for one in asked}
        return bodies + self.pending.withdraw_others(kind, waiting)
