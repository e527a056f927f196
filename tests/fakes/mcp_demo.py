#!/usr/bin/env python3
"""A small MCP server on stdin and stdout with one tool, `demo_echo`. Standard library only."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {
    "name": "demo_echo",
    "description": "Says a text back",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that it does not know."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "demo", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            said = str(params.get("arguments", {}).get("text", ""))
            return {"content": [{"type": "text", "text": said}]}
        case "ping":
            return {}
    return None


def main() -> None:
    """Answer line by line, to the end of input."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message.get("method", ""), message.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "no such method"}
        else:
            reply["result"] = result
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
