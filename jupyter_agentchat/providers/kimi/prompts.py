"""The prompt of a run as Kimi Code takes it: text, and images as they are."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ...protocol.resources import Attachment, RunRequest
from .translate import prompt_id
from .wire import Json

IMAGE_LIMIT_BYTES: Final = 10 * 1024 * 1024
_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def prompt_body(request: RunRequest, disabled_tools: tuple[str, ...]) -> Json:
    """The body that begins the run. Reads the images: not for the event loop.

    A transcript stands before the prompt, as it is, in a part of its own. Sent twice, the prompt
    is refused the second time: its id is the run's.
    """
    parts: list[JsonValue] = []
    if request.transcript:
        parts.append({"type": "text", "text": request.transcript})
    parts += message_parts(request.prompt, request.attachments)
    tools: list[JsonValue] = [*disabled_tools]
    return {"content": parts, "prompt_id": prompt_id(request.run_id), "disabled_tools": tools}


def message_parts(text: str, attachments: list[Attachment]) -> list[JsonValue]:
    """`text` and the images among `attachments`; one that cannot be sent is named by its path."""
    images: list[JsonValue] = []
    named: list[str] = []
    for attachment in attachments:
        if attachment.kind != "image":
            continue
        image = _image(attachment)
        if image is None:
            named.append(attachment.path)
        else:
            images.append(image)
    if named:
        text = "\n".join([text, "", *(f"Image: {path}" for path in named)])
    return [{"type": "text", "text": text}, *images]


def _image(attachment: Attachment) -> Json | None:
    if attachment.mime not in _IMAGES:
        return None
    try:
        with Path(attachment.path).open("rb") as file:
            data = file.read(IMAGE_LIMIT_BYTES + 1)
    except OSError:
        return None
    if len(data) > IMAGE_LIMIT_BYTES:
        return None
    encoded = base64.b64encode(data).decode()
    return {
        "type": "image",
        "source": {"kind": "base64", "media_type": attachment.mime, "data": encoded},
    }
