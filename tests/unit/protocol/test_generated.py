"""The generated files say what the models say; nobody edits them by hand."""

from __future__ import annotations

import json

import pytest

from jupyter_agentchat.protocol import schema
from jupyter_agentchat.protocol.reference import render_reference


def test_schema_and_reference_are_up_to_date() -> None:
    built = schema.build_schema()
    assert json.loads(schema.SCHEMA.read_text()) == built, "run `make protocol`"
    assert schema.REFERENCE.read_text() == render_reference(built), "run `make protocol`"


def test_typescript_is_up_to_date() -> None:
    if not schema.JSON2TS.exists():
        pytest.fail("json2ts is missing: run `make setup`")
    made = schema.to_typescript(schema.SCHEMA.read_text())
    assert schema.TYPESCRIPT.read_text() == made, "run `make protocol`"


def test_every_event_type_has_an_enveloped_form_in_the_schema() -> None:
    definitions = schema.build_schema()["$defs"]
    bodies = {item["$ref"].rsplit("/", 1)[1] for item in definitions["EventBody"]["oneOf"]}
    events = {item["$ref"].rsplit("/", 1)[1] for item in definitions["ChatEvent"]["oneOf"]}
    assert events == {f"{name}Event" for name in bodies}
    for name in events:
        assert {"seq", "time", "run_id", "type"} <= set(definitions[name]["required"])
