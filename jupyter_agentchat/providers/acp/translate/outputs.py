"""What a call brought: the blocks of its output, and a command's exit code. Pure.

Agents give their words for the model as `content`, and often the plain output as `rawOutput`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ....protocol.tools import ContentBlock, ImageBlock, JsonBlock, TextBlock
from ....protocol.words import ToolKind
from ..wire import Json, first_text, int_of, object_of, objects_of, text_of

_EXIT_LINE: Final = re.compile(r"^Exit Code: (\d{1,9})$", re.MULTILINE)
_PRINTED: Final = ("output", "stdout", "formatted_output", "aggregated_output")


class Outcome(NamedTuple):
    """`exit_code` is None where it is not known, or no command was run."""

    output: list[ContentBlock]
    exit_code: int | None


def outcome(call: Json, kind: ToolKind) -> Outcome:
    """The end of a call of which `call` holds all fields."""
    blocks = _blocks(objects_of(call, "content"))
    raw = call.get("rawOutput")
    if kind == "shell":
        words = "".join(block.text for block in blocks if isinstance(block, TextBlock))
        printed, code = _command(raw, words)
        return Outcome(blocks if printed is None else _text(printed), code)
    if blocks or raw is None:
        return Outcome(blocks, None)
    if isinstance(raw, str):
        return Outcome(_text(raw), None)
    if isinstance(raw, dict) and (said := first_text(raw, *_PRINTED, "error", "text")):
        return Outcome(_text(said), None)
    return Outcome([JsonBlock(value=raw)] if raw else [], None)


def streamed_text(call: Json) -> str:
    """What a running command has printed so far; arguments that are streamed there are not that."""
    text = "".join(
        text_of(object_of(block, "content"), "text")
        for block in objects_of(call, "content")
        if text_of(block, "type") == "content"
    )
    return "" if text.startswith(("{", "[current working directory")) else text


def _command(raw: object, words: str) -> tuple[str | None, int | None]:
    """What a command printed (None: not told apart from the words) and its exit code."""
    line = _EXIT_LINE.search(words)
    code = int(line[1]) if line else None
    if isinstance(raw, str):
        return raw, code
    if not isinstance(raw, dict):
        return None, code
    for holder in (raw, object_of(raw, "metadata")):
        for key in ("exitCode", "exit_code", "exit"):
            found = int_of(holder, key)
            code = found if found is not None else code
    printed = next((text_of(raw, key) for key in _PRINTED if isinstance(raw.get(key), str)), None)
    if printed is None and text_of(raw, "error"):
        printed = text_of(raw, "error")
    return printed, code


def _blocks(content: list[Json]) -> list[ContentBlock]:
    blocks: list[ContentBlock] = []
    for item in content:
        if text_of(item, "type") != "content":
            continue  # diffs are shown as such; terminals are not ours
        inner = object_of(item, "content")
        match text_of(inner, "type"):
            case "text":
                blocks += _text(text_of(inner, "text"))
            case "image" if text_of(inner, "data"):
                mime = text_of(inner, "mimeType") or "image/png"
                blocks.append(ImageBlock(mime=mime, data=text_of(inner, "data")))
            case "resource":
                resource = object_of(inner, "resource")
                blocks += _text(text_of(resource, "text") or text_of(resource, "uri"))
            case "resource_link":
                blocks += _text(text_of(inner, "uri"))
            case _:
                blocks.append(JsonBlock(value=inner))
    return blocks


def _text(text: str) -> list[ContentBlock]:
    return [TextBlock(text=text)] if text else []
