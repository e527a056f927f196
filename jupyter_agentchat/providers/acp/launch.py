"""How an agent is started, and what its conversation is begun with. Pure but for the look-up."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import JsonValue

from ...process.environment import build_environment
from ...process.executable import find_executable
from ...process.launcher import Spawn
from ...protocol.resources import Attachment, RunRequest
from ..settings import ProviderSettings
from .agents import AcpAgent
from .wire import Json, dump, object_of, text_of

_IMAGE_LIMIT_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Fixed:
    """What holds for the life of a process and its conversation: another value, another process."""

    cwd: str
    trusted: bool
    mcp: str
    """The MCP servers handed over, as their text: they belong to the conversation's beginning."""


def fixed_settings(request: RunRequest, *, trusted: bool) -> Fixed:
    """What a process for `request` must have been started with."""
    return Fixed(request.cwd, trusted, dump(request.mcp_servers) if request.mcp_servers else "")


def build_spawn(
    agent: AcpAgent,
    settings: ProviderSettings,
    source: Mapping[str, str],
    *,
    cwd: Path,
    child_id: str,
    trusted: bool,
    files: Mapping[str, str],
) -> Spawn:
    """What to hand to the launcher; `source` is the server's own environment, to build from.

    `files` are variables that name settings files of ours, for an untrusted start.

    A command of the admin's settings replaces the agent's. Raises NotInstalled when the program is
    not found. A bare name is never found below `cwd`, the project.
    """
    program, *arguments = settings.command or agent.argv
    home = source.get("HOME")
    found = find_executable(
        program,
        source.get("PATH", ""),
        not_below=() if Path(program).is_absolute() else (cwd,),
        home=Path(home) if home else None,
    )
    fixed = dict(agent.env)
    if not trusted and agent.untrusted is not None:
        arguments = [*arguments, *agent.untrusted.arguments]
        fixed |= {**agent.untrusted.env, **files}
    if trusted:
        fixed |= agent.trusted_env
    return Spawn(
        argv=(str(found), *arguments),
        cwd=cwd,
        env=build_environment(
            source,
            pass_names=(*agent.pass_env, *settings.pass_env),
            extra=settings.env,
            fixed=fixed,
        ),
        child_id=child_id,
    )


class McpServers(NamedTuple):
    """MCP servers in the protocol's words, and the names of those the agent cannot take."""

    servers: list[JsonValue]
    left_out: list[str]


def mcp_servers(wanted: Mapping[str, JsonValue], *, http: bool) -> McpServers:
    """The servers of a request; those over HTTP only for agents that say they can."""
    servers: list[JsonValue] = []
    left_out: list[str] = []
    for name, value in wanted.items():
        server = value if isinstance(value, dict) else {}
        if command := text_of(server, "command"):
            arguments = server.get("args")
            servers.append(
                {
                    "name": name,
                    "command": command,
                    "args": arguments if isinstance(arguments, list) else [],
                    "env": _pairs(object_of(server, "env")),
                }
            )
        elif http and text_of(server, "url"):
            servers.append(
                {
                    "type": text_of(server, "type") or "http",
                    "name": name,
                    "url": text_of(server, "url"),
                    "headers": _pairs(object_of(server, "headers")),
                }
            )
        else:
            left_out.append(name)
    return McpServers(servers, left_out)


def prompt_blocks(request: RunRequest, *, images: bool) -> list[JsonValue]:
    """The prompt's content; a transcript stands before it in a block of its own.

    Images go in themselves where the agent takes them; else the prompt names their paths. Reads
    those files: not for the loop.
    """
    blocks: list[JsonValue] = []
    if request.transcript:
        blocks.append({"type": "text", "text": request.transcript})
    blocks.append({"type": "text", "text": request.prompt})
    for attachment in request.attachments:
        if attachment.kind != "image":
            continue
        data = _image(attachment) if images else None
        if data is not None:
            blocks.append({"type": "image", "mimeType": attachment.mime, "data": data})
        elif attachment.path not in request.prompt:
            blocks.append({"type": "text", "text": f"Attached image: {attachment.path}"})
    return blocks


def prompt_id(run_id: str) -> str:
    """The JSON-RPC id of a run's prompt: the same on every server, so that the next one knows its
    answer, which is the run's end."""
    return f"prompt:{_short(run_id)}"


def ready_id(run_id: str, session_id: str) -> str:
    """The id of the question that stands before a run's prompt.

    Its answer, whatever it says, proves that the prompt was about to be written, and names the
    conversation. Without it, the prompt certainly never arrived.
    """
    return f"{ready_prefix(run_id)}{session_id}"


def ready_prefix(run_id: str) -> str:
    """The beginning of every `ready_id` of a run."""
    return f"ready:{_short(run_id)}:"


def _short(run_id: str) -> str:
    return run_id if len(run_id) <= 64 else hashlib.sha256(run_id.encode()).hexdigest()[:32]


def _pairs(values: Json) -> list[JsonValue]:
    return [{"name": name, "value": str(value)} for name, value in values.items()]


def _image(attachment: Attachment) -> str | None:
    path = Path(attachment.path)
    try:
        if path.stat().st_size > _IMAGE_LIMIT_BYTES:
            return None
        return base64.b64encode(path.read_bytes()).decode()
    except OSError:
        return None
