"""The input of a turn: transcript, text, images, skills; and the two commands of Codex. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from ...protocol.resources import Attachment, RunRequest
from ...protocol.words import Permission
from .wire import Json, text_of


def turn_input(request: RunRequest, skills: Sequence[Json] = ()) -> list[JsonValue]:
    """The items of `turn/start`; a transcript stands before the prompt in an item of its own."""
    items: list[JsonValue] = []
    if request.transcript:
        items.append({"type": "text", "text": request.transcript})
    items.append({"type": "text", "text": request.prompt})
    items += images(request.attachments)
    for skill in skills:
        name, path = text_of(skill, "name"), text_of(skill, "path")
        items.append({"type": "skill", "name": name, "path": path})
    return items


def is_planning(request: RunRequest) -> bool:
    """Whether the run is to end with a plan for a person."""
    return request.mode == "plan" and command_of(request) is None


def go_ahead_of(request: RunRequest, permission: Permission) -> RunRequest:
    """The request of the second turn: the plan was approved, with what it leads to."""
    changes: dict[str, object] = {
        "prompt": "Implement the plan.",
        "mode": "code",
        "permission": permission,
        "attachments": [],
        "transcript": None,
        "skills": [],
    }
    return request.model_copy(update=changes)


def images(attachments: Sequence[Attachment]) -> list[JsonValue]:
    """The pictures among `attachments`, by their paths."""
    return [{"type": "localImage", "path": one.path} for one in attachments if one.kind == "image"]


def skill_names(request: RunRequest) -> list[str]:
    """The names in the refs (`source:name`) of a request's skills."""
    return [ref.partition(":")[2] or ref for ref in request.skills]


def command_of(request: RunRequest) -> tuple[str, Json] | None:
    """(method, params) when the prompt is one of Codex' own commands, else None."""
    word, _, rest = request.prompt.strip().partition(" ")
    if word == "/compact" and not rest:
        return "thread/compact/start", {}
    if word == "/review":
        target: Json = {"type": "uncommittedChanges"}
        if rest.strip():
            target = {"type": "custom", "instructions": rest.strip()}
        return "review/start", {"target": target}
    return None
