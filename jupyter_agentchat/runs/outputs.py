"""Keeps events small: what is above 64 KiB goes beside the log as a blob, a preview stays.

Nothing is lost: the blob is the whole. Limits are bytes of UTF-8.
"""

from __future__ import annotations

import json
from typing import Any

from ..protocol.events import EventBody, ToolUseEnd, ToolUseStart
from ..protocol.tools import BlobBlock, ContentBlock, Diff, ImageBlock, JsonBlock, TextBlock
from ..store.base import ChatStore

PREVIEW_LIMIT = 65_536
HEAD, TAIL = 48_000, 8_000
RAW_STRING_LIMIT = 16_384
PATCH_LIMIT = 262_144


def shrink(body: EventBody, store: ChatStore, chat_id: str) -> EventBody:
    """`body`, or a copy whose large fields are previews. Raises StorageError."""
    if isinstance(body, ToolUseEnd):
        output: list[ContentBlock] = []
        for block in body.output:
            output += _shrink_block(block, store, chat_id)
        diffs = [_shrink_diff(diff) for diff in body.diffs]
        if output != body.output or diffs != body.diffs:
            return body.model_copy(update={"output": output, "diffs": diffs})
    elif isinstance(body, ToolUseStart) and body.raw_input is not None:
        text = json.dumps(body.raw_input)
        if len(text) > PREVIEW_LIMIT:
            blob_id = store.put_blob(chat_id, text.encode(), "application/json")
            raw = {**_trim(body.raw_input), "_blob_id": blob_id}
            return body.model_copy(update={"raw_input": raw})
    return body


def _shrink_block(block: ContentBlock, store: ChatStore, chat_id: str) -> list[ContentBlock]:
    if isinstance(block, TextBlock) and len(block.text) * 4 > PREVIEW_LIMIT:
        data = block.text.encode()
        if len(data) <= PREVIEW_LIMIT:
            return [block]
        blob_id = store.put_blob(chat_id, data, "text/plain; charset=utf-8")
        left_out = len(data) - HEAD - TAIL
        head = data[:HEAD].decode(errors="ignore")
        tail = data[-TAIL:].decode(errors="ignore")
        preview = f"{head}\n… {left_out} bytes left out …\n{tail}"
        return [TextBlock(text=preview), BlobBlock(blob_id=blob_id, size=len(data))]
    if isinstance(block, ImageBlock) and len(block.data) > PREVIEW_LIMIT:
        data = block.data.encode()
        blob_id = store.put_blob(chat_id, data, f"{block.mime};base64")
        return [BlobBlock(blob_id=blob_id, size=len(data), mime=block.mime)]
    if isinstance(block, JsonBlock):
        text = json.dumps(block.value, indent=2)
        if len(text) > PREVIEW_LIMIT:
            return _shrink_block(TextBlock(text=text), store, chat_id)
    return [block]


def _shrink_diff(diff: Diff) -> Diff:
    changes: dict[str, str | None] = {}
    if diff.patch is not None and len(diff.patch) > PATCH_LIMIT:
        cut = diff.patch.rfind("\n", 0, PATCH_LIMIT) + 1
        changes["patch"] = diff.patch[:cut]
    for name in ("old", "new"):
        value: str | None = getattr(diff, name)
        if value is not None and len(value) > PATCH_LIMIT:
            changes[name] = value[:PATCH_LIMIT]
    return diff.model_copy(update=changes) if changes else diff


def _trim(value: Any) -> Any:
    if isinstance(value, str) and len(value) > RAW_STRING_LIMIT:
        return f"{value[:RAW_STRING_LIMIT]}… ({len(value) - RAW_STRING_LIMIT} more characters)"
    if isinstance(value, dict):
        return {key: _trim(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_trim(item) for item in value[:1000]]
    return value
