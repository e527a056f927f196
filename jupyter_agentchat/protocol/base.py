"""What all wire types share: strictness, immutability, checked text, ids and times.

Models written by us are strict (`extra="forbid"`) and frozen. The settings are those that make the
JSON Schema, and so the TypeScript, exact (style: pydantic -> JSON Schema -> TypeScript).

The modules of this room do without `from __future__ import annotations`: pydantic would evaluate
every annotation from its text while the server starts.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema

__all__ = ["AnyJson", "AnyObject", "Id", "Level", "Seq", "Text", "Timestamp", "Wire", "now"]


class Wire(BaseModel):
    """Base of every type on the wire: unknown fields are refused, instances never change."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_serialization_defaults_required=True,
        # validators are built on first use: a server that nobody chats on does not pay for them
        defer_build=True,
    )


def _sound_text(value: str) -> str:
    """Refuse what no store and no terminal can carry: NUL and lone surrogates."""
    if "\x00" in value:
        raise ValueError("text must not contain NUL")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("text must be valid Unicode (lone surrogate)") from None
    return value


Text = Annotated[str, AfterValidator(_sound_text)]
"""Text that a person or an agent wrote: any Unicode but NUL and lone surrogates."""

Id = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_sound_text)]
"""Ours match `[A-Za-z0-9._~-]{1,200}`; a provider's own may hold more, encoded in URLs."""

Seq = Annotated[int, Field(ge=0)]
"""Position in a chat's log: rises, never reused, holes are normal; 0 is before the first event."""

Timestamp = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
"""ISO-8601 UTC with milliseconds, for example `2026-11-30T13:59:00.134Z`."""

AnyJson = Annotated[JsonValue, WithJsonSchema({"tsType": "unknown"})]
"""Any JSON value, unchecked: `unknown` in TypeScript."""

AnyObject = Annotated[
    dict[str, Any], WithJsonSchema({"type": "object", "tsType": "Record<string, unknown>"})
]
"""Any JSON object, unchecked."""

Level = Literal["info", "warning", "error"]


DEFERRED = ConfigDict(defer_build=True)
"""For TypeAdapters: built on first use, as the models are."""


def now() -> str:
    """The present time as a `Timestamp`. Translators must not call it: they read no clock."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
