"""What a run sends: the prompt as opencode wants it. Pure, but for the reading of images."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ...errors import ProviderError
from ...protocol.events import Notice
from ...protocol.resources import Attachment, RunRequest
from .models import Catalog, split_model
from .wire import Json

IMAGE_LIMIT_BYTES: Final = 10 * 1024 * 1024
_SESSION: Final = re.compile(r"ses_[0-9A-Za-z]{1,60}")
_EFFORT: Final = re.compile(r"[A-Za-z0-9_-]{1,30}")
_COMMAND: Final = re.compile(r"/([A-Za-z0-9][\w.:/-]{0,80})(?:\s+(.*))?", re.DOTALL)


def session_of(request: RunRequest) -> str | None:
    """The conversation of a request. Raises ProviderError for what cannot be an id of opencode's:
    it becomes a part of an address."""
    session = request.provider_session_id
    if session is not None and not _SESSION.fullmatch(session):
        raise ProviderError(
            f"This is no conversation of opencode's: {session[:80]!r}.", hint="Start a new chat."
        )
    return session


def choice(
    request: RunRequest, default_model: str | None, catalog: Catalog
) -> tuple[Json, tuple[Notice, ...]]:
    """(model and variant for the request's body, what a person must know). Raises ProviderError
    for a model that cannot be a name."""
    name = request.model or default_model
    chosen: Json = {}
    if name is not None:
        parts = split_model(name)
        if parts is None:
            raise ProviderError(
                f"opencode's models are named provider/model, not {name[:80]!r}.",
                hint="Choose another model.",
            )
        chosen["model"] = {"providerID": parts[0], "modelID": parts[1]}
    if request.effort is None:
        return chosen, ()
    known = catalog.efforts(name) if name is not None else None
    if (known is not None and request.effort not in known) or not _EFFORT.fullmatch(request.effort):
        text = f"{name} has no effort {request.effort[:40]!r}: its own default holds."
        return chosen, (Notice(level="warning", code="effort_ignored", text=text),)
    chosen["variant"] = request.effort
    return chosen, ()


def parts_of(request: RunRequest, images: Sequence[JsonValue]) -> list[JsonValue]:
    """The parts of a prompt; a transcript stands before it, in a part of its own, and skills are
    named: opencode's model loads them by its own tool."""
    texts = [request.transcript] if request.transcript else []
    if request.skills:
        texts.append(f"Load these skills first: {', '.join(request.skills)}.")
    return [*(_text(text) for text in [*texts, request.prompt]), *images]


def steered_parts(text: str, images: Sequence[JsonValue]) -> list[JsonValue]:
    """The parts of a message that is put into the running turn."""
    return [_text(text), *images]


def image_parts(attachments: Sequence[Attachment], *, seeing: bool) -> list[JsonValue]:
    """The images among the attachments; where the model sees none, or one cannot be read, its
    path. Reads files."""
    parts: list[JsonValue] = []
    for one in attachments:
        if one.kind != "image":
            continue
        data = _read(one.path) if seeing else None
        if data is None:
            parts.append(_text(f"Attached image: {one.path}"))
        else:
            url = f"data:{one.mime};base64,{base64.b64encode(data).decode()}"
            parts.append({"type": "file", "mime": one.mime, "filename": one.name, "url": url})
    return parts


def command_of(prompt: str) -> tuple[str, str] | None:
    """(name, arguments) when the whole prompt is a slash command."""
    found = _COMMAND.fullmatch(prompt.strip())
    return (found[1], (found[2] or "").strip()) if found else None


def _text(text: str) -> JsonValue:
    return {"type": "text", "text": text}


def _read(path: str) -> bytes | None:
    try:
        with Path(path).open("rb") as file:
            data = file.read(IMAGE_LIMIT_BYTES + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= IMAGE_LIMIT_BYTES else None
