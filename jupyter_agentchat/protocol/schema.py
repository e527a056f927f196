"""pydantic -> JSON Schema -> TypeScript and docs/protocol.md.

    python -m jupyter_agentchat.protocol.schema           writes the three generated files
    python -m jupyter_agentchat.protocol.schema --check   exits 1 and names what is not up to date

The schema is emitted in one go, so that every union has a name and every type stands once; the four
settings that make the TypeScript exact are explained in ARCHITECTURE.md ("Wire types").
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import Field, TypeAdapter, create_model
from pydantic.json_schema import GenerateJsonSchema

from . import controls, events, frames, native, resources, tools
from .reference import render_reference

PACKAGE = Path(__file__).parent
ROOT = PACKAGE.parent.parent
SCHEMA = PACKAGE / "protocol.schema.json"
TYPESCRIPT = ROOT / "labextension" / "src" / "protocol" / "generated.ts"
REFERENCE = ROOT / "docs" / "protocol.md"
JSON2TS = ROOT / "labextension" / "node_modules" / ".bin" / "json2ts"


RESOURCES = (
    "Chat",
    "Provider",
    "Project",
    "Trust",
    "ErrorBody",
    "NewChat",
    "ChatPatch",
    "Prompt",
    "AskAnswer",
    "TrustDecision",
    "NewProject",
    "ReadMark",
    "RunRequest",
)
CONTROLS = (
    "Accepted",
    "QueueItem",
    "Queue",
    "QueueOrder",
    "QueueItemPatch",
    "RewindRequest",
    "RewindResult",
    "ForkRequest",
    "Draft",
    "DraftUpdate",
    "SearchHit",
    "SearchResult",
    "DeletedChat",
    "TrashList",
)


class _Emitter(GenerateJsonSchema):
    """Titles would become an alias each in TypeScript."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _chat_event() -> Any:
    """The union of all events *with* their envelope; flat on the wire."""
    bodies = get_args(get_args(events.EventBody)[0])
    models = tuple(
        create_model(
            f"{body.__name__}Event", __base__=(events.Envelope, body), __doc__=body.__doc__
        )
        for body in bodies
    )
    union: Any = models[0]
    for model in models[1:]:
        union = union | model
    return Annotated[union, Field(discriminator="type")]


def build_schema() -> dict[str, Any]:
    """The JSON Schema of everything on the wire, as one object with `$defs`."""
    roots: dict[str, Any] = {
        "EventBody": events.EventBody,
        "ChatEvent": _chat_event(),
        "ToolInput": tools.ToolInput,
        "ContentBlock": tools.ContentBlock,
        "ClientFrame": frames.ClientFrame,
        "ServerFrame": frames.ServerFrame,
        "NativeOp": native.Op,
        "AgentHello": native.AgentHello,
    }
    for name in RESOURCES:
        roots[name] = getattr(resources, name)
    for name in CONTROLS:
        roots[name] = getattr(controls, name)
    schemas, shared = TypeAdapter.json_schemas(
        [(name, "serialization", TypeAdapter(root)) for name, root in roots.items()],
        schema_generator=_Emitter,
    )
    definitions: dict[str, Any] = dict(shared.get("$defs", {}))
    unions: dict[str, str] = {}
    for (name, _mode), schema in schemas.items():
        if schema.get("$ref") != f"#/$defs/{name}":
            definitions[name] = schema
            unions[json.dumps(schema, sort_keys=True)] = name
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "_Protocol",
        "type": "object",
        "additionalProperties": False,
        "properties": {},
        "$defs": {
            name: _tidy(schema, unions, top=name) for name, schema in sorted(definitions.items())
        },
    }
    return document


def _tidy(node: Any, unions: dict[str, str], *, top: str | None = None) -> Any:
    """Point inlined unions at their name; drop a `default` beside a `$ref`: it doubles enums."""
    if isinstance(node, list):
        return [_tidy(item, unions) for item in node]
    if not isinstance(node, dict):
        return node
    bare = {key: value for key, value in node.items() if key != "default"}
    name = unions.get(json.dumps(bare, sort_keys=True))
    if name is not None and name != top:
        return {"$ref": f"#/$defs/{name}"}
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    # `discriminator` is OpenAPI's; TypeScript narrows by the constant of each member
    return {
        key: _tidy(value, unions) for key, value in sorted(node.items()) if key != "discriminator"
    }


def to_typescript(schema_text: str) -> str:
    """Run json-schema-to-typescript on the schema. Raises RuntimeError when it is not installed."""
    if not JSON2TS.exists():
        raise RuntimeError("json2ts is missing: run `make setup`")
    banner = "/* Generated from jupyter_agentchat/protocol by `make protocol`. Do not edit. */"
    done = subprocess.run(
        [str(JSON2TS), "--unreachableDefinitions", f"--bannerComment={banner}"],
        input=schema_text,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def generate() -> dict[Path, str]:
    """Text of every generated file, by path."""
    schema = build_schema()
    text = json.dumps(schema, indent=2, sort_keys=True) + "\n"
    return {SCHEMA: text, TYPESCRIPT: to_typescript(text), REFERENCE: render_reference(schema)}


def main(argv: list[str] | None = None) -> int:
    """Write, or with --check compare, the generated files."""
    parser = argparse.ArgumentParser(description="Generate the protocol's schema, types and page")
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args(argv)
    stale = []
    for path, text in generate().items():
        if path.exists() and path.read_text("utf-8") == text:
            continue
        stale.append(path)
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    for path in stale:
        verb = "is not up to date: run `make protocol`" if options.check else "written"
        sys.stdout.write(f"{path.relative_to(ROOT)} {verb}\n")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
