"""What stands on one line: tolerant in reading, strict in writing. Pure.

An agent may be newer than we are, or careless. What can be understood of a line is kept: fields we
do not know are left out, an unknown kind of tool becomes a generic one, text that no store can
hold is repaired. Each such repair is named, so that it can be told to the person.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from pydantic import BaseModel, JsonValue, ValidationError

from ...protocol.events import EVENT_BODY, EventBody
from ...protocol.native import NATIVE_TYPES, AgentHello

Json = dict[str, Any]

_MAX_DEPTH = 100
_LEGAL_STATUS = ("completed", "failed", "denied", "cancelled")
_DEFAULT_OPTIONS: list[Json] = [
    {"id": "allow_once", "label": "Allow once", "decision": "allow", "scope": "once"},
    {"id": "deny", "label": "Deny", "decision": "deny", "scope": "once"},
]


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something in a line that the protocol does not allow; each `kind` is reported once."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a line gave: a body, the flaws found in it, or both. `type` is what the line said."""

    body: EventBody | None = None
    flaws: tuple[Flaw, ...] = ()
    type: str = ""


def encode(op: BaseModel) -> str:
    """One operation as a line, without its newline."""
    return op.model_dump_json(exclude_none=True)


def parse_hello(line: str) -> AgentHello | None:
    """The greeting; None when the line is none."""
    try:
        data = _parse(line)
        try:
            return AgentHello.model_validate(data)
        except ValidationError as problem:
            known = _drop_unknown_fields(data, problem) if isinstance(data, dict) else None
            return None if known is None else AgentHello.model_validate(known)
    except (ValueError, RecursionError):
        return None


def decode(line: str, provider: str) -> Decoded:
    """The event body on a line of `provider`. Never raises."""
    try:
        data = _parse(line)
        if _is_deep(line, data):
            raise RecursionError  # noqa: TRY301 - one meaning, whoever notices it first
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            return _flawed("", "no_type", "wrote a line without a type")
        kind = cast(str, data["type"])
        if kind not in NATIVE_TYPES:
            word = kind[:80]
            return _flawed(kind, f"type {word}", f"wrote an event of an unknown type, {word!r}")
        return _decode_body(kind, _settle(kind, data, provider))
    except RecursionError:
        return _flawed("", "json_depth", "wrote JSON that is nested too deeply")
    except ValueError:
        return _flawed("", "not_json", "wrote a line that is not JSON")


def _decode_body(kind: str, data: Json) -> Decoded:
    try:
        return Decoded(_validate(data), type=kind)
    except ValidationError as error:
        problem = error
    flaws: list[Flaw] = []
    for repair, what, told in _REPAIRS:
        repaired = repair(data, problem)
        if repaired is None:
            continue
        data = repaired
        flaws.append(Flaw(f"{kind} {what}", f"wrote {kind!r} with {told}"))
        try:
            return Decoded(_validate(data), tuple(flaws), kind)
        except ValidationError as error:
            problem = error
    where = ".".join(str(part) for part in problem.errors()[0]["loc"][1:])[:80]
    return _flawed(kind, f"{kind} invalid", f"wrote {kind!r} that is not valid, at {where!r}")


def _validate(data: Json) -> EventBody:
    return cast(EventBody, EVENT_BODY.validate_python(data))


def _flawed(kind: str, name: str, told: str) -> Decoded:
    return Decoded(None, (Flaw(name, told),), kind)


def _parse(line: str) -> JsonValue:
    return cast(JsonValue, json.loads(line, parse_constant=_refuse_constant))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _is_deep(line: str, value: JsonValue) -> bool:
    """Whether it is nested more deeply than the store and the browser are asked to bear."""
    if line.count("[") + line.count("{") <= _MAX_DEPTH:
        return False
    level = [value]
    for _ in range(_MAX_DEPTH):
        below: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return False
        level = below
    return True


def _settle(kind: str, data: Json, provider: str) -> Json:
    """Fill in what is ours to say: who the provider is, and where a final stands."""
    if kind in ("session", "resume_refused"):
        return {**data, "provider": provider}
    if kind in ("assistant_text", "thinking"):
        final = bool(data.get("final")) or (data.get("text") is not None)
        return {**data, "first_seq": None, "final": final}
    if kind == "ask" and data.get("kind", "permission") != "question" and not data.get("options"):
        return {**data, "options": _DEFAULT_OPTIONS}
    if kind == "ask_resolved":
        return {**data, "by": None}
    return data


def _repair_text(data: Json, problem: ValidationError) -> Json | None:
    """Replace NUL and lone surrogates, which no store can keep."""
    cleaned = cast(Json, _clean(data))
    return cleaned if cleaned != data else None


def _clean(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return (
            value.replace("\0", "\ufffd")
            .encode("utf-8", "surrogatepass")
            .decode("utf-8", "replace")
        )
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {str(_clean(key)): _clean(item) for key, item in value.items()}
    return value


def _drop_unknown_fields(data: Json, problem: ValidationError) -> Json | None:
    """Leave out the fields that the protocol does not know; None when that is not the problem."""
    unknown = [error["loc"] for error in problem.errors() if error["type"] == "extra_forbidden"]
    if not unknown:
        return None
    kept = copy.deepcopy(data)
    for loc in unknown:
        _remove(kept, loc)
    return kept


def _remove(node: Any, loc: tuple[int | str, ...]) -> None:
    """Remove the field at `loc`, in which the names of union members stand between the keys."""
    *path, last = loc
    tagged = False
    for part in path:
        if isinstance(node, list) and isinstance(part, int) and part < len(node):
            node, tagged = node[part], False
        elif not isinstance(node, dict):
            return
        elif not tagged and (part in (node.get("type"), node.get("kind")) or part not in node):
            tagged = True
        elif part in node:
            node, tagged = node[part], False
        else:
            return
    if isinstance(node, dict):
        node.pop(last, None)


def _generalise(data: Json, problem: ValidationError) -> Json | None:
    """Keep what a tool call or the end of one says, as a generic one."""
    if data["type"] == "tool_use_start":
        given = data.get("input")
        kept: Json = {"type": "tool_use_start", "name": str(data.get("name") or "Tool")}
        kept |= {key: data[key] for key in ("tool_id", "parent_tool_id", "title") if key in data}
        return kept | {"input": {}, "raw_input": given if isinstance(given, dict) else None}
    if data["type"] == "tool_use_end":
        status = data.get("status")
        if status not in _LEGAL_STATUS:
            status = "failed" if data.get("is_error") else "completed"
        rest = {key: value for key, value in data.items() if key not in ("type", "tool_id")}
        return {
            "type": "tool_use_end",
            "tool_id": data.get("tool_id"),
            "status": status,
            "is_error": status == "failed",
            "output": [{"type": "json", "value": rest}],
        }
    if data["type"] == "complete" and data.get("outcome") in ("completed", "cancelled", "failed"):
        return {"type": "complete", "outcome": data["outcome"]}
    if data["type"] == "error" and data.get("message"):
        return {"type": "error", "code": "provider_error", "message": str(data["message"])}
    return None


_REPAIRS: tuple[tuple[Callable[[Json, ValidationError], Json | None], str, str], ...] = (
    (_repair_text, "text", "text that is not valid Unicode; it was repaired"),
    (_drop_unknown_fields, "field", "a field that is not known here; it was left out"),
    (_generalise, "shape", "values that are not known here; it is shown in a generic way"),
)
