"""The user line of a run."""

from __future__ import annotations

import base64
import mimetypes
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ...protocol.resources import Attachment, RunRequest
from .reading import IMAGE_LIMIT_BYTES, read_regular
from .wire import Json

_MIMES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_IMAGES_PER_PROMPT: Final = 20
_NAMESPACE: Final = uuid.UUID("6f1d6a0e-6a3c-5d0b-9a53-3a4f0d9c2b11")


def prompt_uuid(run_id: str) -> str:
    """The uuid of a run's prompt on the wire: the same for the same run, on every server.

    The CLI drops a line whose uuid it has seen, so a prompt may be sent again when in doubt.
    """
    return str(uuid.uuid5(_NAMESPACE, run_id))


def user_line(request: RunRequest) -> Json:
    """The prompt; a transcript stands before it, as it is, in a block of its own.

    Blocking where an image is attached: reads files.
    """
    content = content_of(request.prompt, request.attachments)
    if request.transcript:
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        content = [{"type": "text", "text": request.transcript}, *blocks]
    return message_line(prompt_uuid(request.run_id), content)


def content_of(text: str, attachments: Sequence[Attachment]) -> JsonValue:
    """What a person says, with the images that are attached. Blocking where there are any.

    Images are named by their paths too, so that the agent can work with the files. One that is too
    large, gone, or of a kind that the model's API does not take is only named.
    """
    images = [one for one in attachments if one.kind == "image"]
    if not images:
        return text
    named = "\n".join(f"Attached image: {one.path}" for one in images)
    blocks: list[JsonValue] = [{"type": "text", "text": f"{text}\n\n{named}".strip()}]
    for one in images[:_IMAGES_PER_PROMPT]:
        mime = one.mime if one.mime in _MIMES else mimetypes.guess_type(one.path)[0]
        data = read_regular(Path(one.path), IMAGE_LIMIT_BYTES) if mime in _MIMES else None
        if mime is not None and data:
            encoded = base64.b64encode(data).decode("ascii")
            source: Json = {"type": "base64", "media_type": mime, "data": encoded}
            blocks.append({"type": "image", "source": source})
    return blocks


def message_line(message_uuid: str, content: JsonValue) -> Json:
    """A message of a person's; the CLI takes each uuid once."""
    return {
        "type": "user",
        "uuid": message_uuid,
        "message": {"role": "user", "content": content},
    }
