"""Renders docs/protocol.md: the hand-written preface.md and tables of all types."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PREFACE = Path(__file__).parent / "preface.md"


def render_reference(schema: dict[str, Any]) -> str:
    """Markdown of the whole reference, from `schema` as built by `schema.build_schema`."""
    definitions: dict[str, Any] = schema["$defs"]
    parts = [PREFACE.read_text("utf-8").rstrip(), ""]
    shown: set[str] = set()
    for heading, union in (
        ("Events", "EventBody"),
        ("Frames from the client", "ClientFrame"),
        ("Frames from the server", "ServerFrame"),
        ("Tool inputs", "ToolInput"),
        ("Content blocks", "ContentBlock"),
        ("Operations of the native protocol", "NativeOp"),
    ):
        parts += [f"## {heading}", ""]
        for name in _members(definitions[union]):
            shown.add(name)
            parts += _section(name, definitions[name])
    parts += ["## Resources and other types", ""]
    for name, definition in definitions.items():
        if name in shown or "properties" not in definition or name.endswith("Event"):
            continue
        parts += _section(name, definition)
    return "\n".join(parts).rstrip() + "\n"


def _members(union: dict[str, Any]) -> list[str]:
    return [item["$ref"].rsplit("/", 1)[1] for item in union.get("oneOf", union.get("anyOf", []))]


def _section(name: str, definition: dict[str, Any]) -> list[str]:
    properties: dict[str, Any] = definition.get("properties", {})
    constant = properties.get("type", properties.get("op", {})).get("const")
    title = f"`{constant}`" if constant else name
    description = re.sub(r"\s+", " ", definition.get("description", "")).strip()
    lines = [f"### {title}", "", description, ""] if description else [f"### {title}", ""]
    rows = [
        f"| `{field}` | {_type(spec)} | {_default(spec)} |"
        for field, spec in properties.items()
        if spec.get("const") is None
    ]
    if rows:
        lines += ["| field | type | default |", "|---|---|---|", *rows, ""]
    return lines


def _default(spec: dict[str, Any]) -> str:
    if "default" not in spec:
        return ""
    value = spec["default"]
    if value is None:
        return "null"
    return f"`{value!r}`".replace("'", '"').replace("False", "false").replace("True", "true")


def _type(spec: dict[str, Any]) -> str:
    if "$ref" in spec:
        return str(spec["$ref"]).rsplit("/", 1)[1]
    if "tsType" in spec:
        return "any JSON" if spec["tsType"] == "unknown" else "object"
    if "enum" in spec:
        return ", ".join(f"`{value}`" for value in spec["enum"])
    if "anyOf" in spec:
        return " or ".join(_type(item) for item in spec["anyOf"])
    if spec.get("type") == "array":
        return f"list of {_type(spec.get('items', {}))}"
    if spec.get("type") == "object":
        values = spec.get("additionalProperties")
        return f"map of {_type(values)}" if isinstance(values, dict) else "object"
    return str(spec.get("type", "any JSON"))
