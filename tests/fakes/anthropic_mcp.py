"""A small MCP server over standard streams, for agents under test: the tool `add`.

With `STARTED` in its environment it makes that file when it starts. Standard library only.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

ADD = {
    "name": "add",
    "description": "Add two numbers",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
}


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of one request; None where the method is not known."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "demo", "version": "1"},
            }
        case "tools/list":
            return {"tools": [ADD]}
        case "tools/call":
            given = params.get("arguments", {})
            total = given.get("a", 0) + given.get("b", 0)
            return {"content": [{"type": "text", "text": str(total)}]}
        case "ping":
            return {}
    return None


def main() -> None:
    """Answer until the end of input."""
    if os.environ.get("STARTED"):
        Path(os.environ["STARTED"]).touch()
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        result = result_of(request.get("method", ""), request.get("params", {}))
        if result is None:
            answer["error"] = {"code": -32601, "message": "no such method"}
        else:
            answer["result"] = result
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
