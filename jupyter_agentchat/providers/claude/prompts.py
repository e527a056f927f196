"""The user line of a run. Pure."""

from __future__ import annotations

import uuid
from typing import Final

from pydantic import JsonValue

from ...protocol.resources import RunRequest
from .wire import Json

_NAMESPACE: Final = uuid.UUID("6f1d6a0e-6a3c-5d0b-9a53-3a4f0d9c2b11")


def prompt_uuid(run_id: str) -> str:
    """The uuid of a run's prompt on the wire: the same for the same run, on every server.

    The CLI drops a line whose uuid it has seen, so a prompt may be sent again when in doubt.
    """
    return str(uuid.uuid5(_NAMESPACE, run_id))


def user_line(request: RunRequest) -> Json:
    """The prompt; a transcript stands before it, as it is, in a block of its own."""
    content: JsonValue = request.prompt
    if request.transcript:
        content = [
            {"type": "text", "text": request.transcript},
            {"type": "text", "text": request.prompt},
        ]
    return message_line(prompt_uuid(request.run_id), content)


def message_line(message_uuid: str, content: JsonValue) -> Json:
    """A message of a person's; the CLI takes each uuid once."""
    return {
        "type": "user",
        "uuid": message_uuid,
        "message": {"role": "user", "content": content},
    }
