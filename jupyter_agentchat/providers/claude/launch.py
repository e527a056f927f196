"""How the CLI is started for a run: arguments, environment, permission. Pure.

What a running process can change by itself (model, effort, permission mode) is apart from what
needs a new process. Source: providers/claude design §2, the permission table of docs/protocol.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from ...errors import ProviderError
from ...process.environment import build_environment
from ...protocol.resources import RunRequest
from ...protocol.words import Mode, Permission
from ..settings import ProviderSettings
from .mcp import OWN_SERVER, handed_over, read_servers

CliMode = Literal["default", "acceptEdits", "plan", "bypassPermissions"]

PASSED: Final = (
    "ANTHROPIC_*",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_TMPDIR",
    "CLAUDE_CODE_USE_*",
)
"""The CLI's documented variables that the server's environment may hold."""

_DEFAULTS: Final = {
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true",
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
    # sends every tool's schema at once, NotebookEdit's too
    "ENABLE_TOOL_SEARCH": "false",
}

# a process ends when its chat is idle, and with it whatever was to begin at some later time
_SELF_STARTING: Final = ("CronCreate", "CronDelete", "CronList", "ScheduleWakeup", "Monitor")
_CHANGING: Final = (
    "Bash",
    "PowerShell",
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "EnterWorktree",
    "Workflow",
)
# like the rule for values that reach an argument; the CLI's own aliases may end in [1m]
_MODEL: Final = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,150}(\[\w{1,10}\])?")
_EFFORT: Final = re.compile(r"[a-z]{1,20}")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True)
class Fixed:
    """What holds for the life of a process: another value needs another process."""

    cwd: str
    trusted: bool
    read_only: bool
    bypass: bool
    """Started with the CLI's bypass mode within reach."""
    forbidden_tools: tuple[str, ...] = _SELF_STARTING
    mcp: str = field(default="", repr=False)
    """The text of its file of MCP servers (`mcp.handed_over`); may hold secrets."""


@dataclass(frozen=True, slots=True)
class Live:
    """What a running process changes on request. None leaves the choice to the CLI."""

    model: str | None
    effort: str | None
    mode: CliMode


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The conversation to open. `new` and `fork` (of `origin`) get the id that we chose."""

    kind: Literal["new", "resume", "fork"]
    session_id: str
    origin: str | None = None


def fixed_settings(request: RunRequest, *, trusted: bool, may_bypass: bool) -> Fixed:
    """What a process for `request` must have been started with. Raises ProviderError."""
    read_only = request.permission == "read_only"
    # plan mode is the CLI's own way to change nothing; taking its tools away would end the plan
    forbidden = _CHANGING if read_only and request.mode != "plan" else ()
    return Fixed(
        cwd=request.cwd,
        trusted=trusted,
        read_only=read_only,
        bypass=request.permission == "full" and may_bypass,
        forbidden_tools=_SELF_STARTING + forbidden,
        mcp=handed_over(request.mcp_servers, request.permission),
    )


def live_settings(request: RunRequest, settings: ProviderSettings, *, may_bypass: bool) -> Live:
    """The rest. Raises ProviderError for a model or effort that cannot be a name."""
    model = request.model or settings.default_model
    _check("model", model, _MODEL)
    _check("effort", request.effort, _EFFORT)
    return Live(
        model=None if model == "default" else model,
        effort=request.effort,
        mode=cli_mode(request.mode, request.permission, may_bypass=may_bypass),
    )


def cli_mode(mode: Mode, permission: Permission, *, may_bypass: bool) -> CliMode:
    """The CLI's permission mode for a chat's mode and effective permission."""
    match permission:
        case "read_only":
            return "plan" if mode == "plan" else "default"
        case "ask":
            return "default"
        case "accept_edits":
            return "acceptEdits"
        case "full":
            return "bypassPermissions" if may_bypass else "default"


def may_bypass_permissions(environment: Mapping[str, str], *, is_root: bool) -> bool:
    """Whether the CLI accepts its bypass mode: as root only when told that it is sandboxed."""
    return not is_root or environment.get("IS_SANDBOX") == "1"


def session_start(request: RunRequest, first_session_id: str) -> SessionStart:
    """The conversation that `request` is about. Raises ProviderError for an id that is no UUID."""
    _check("session id", request.provider_session_id, _UUID)
    if request.provider_session_id is not None and not request.fork:
        return SessionStart("resume", request.provider_session_id)
    _check("session id", first_session_id, _UUID)
    if request.provider_session_id is None:
        return SessionStart("new", first_session_id)
    return SessionStart("fork", first_session_id, request.provider_session_id)


def arguments(
    fixed: Fixed, live: Live, session: SessionStart, mcp_file: Path | None = None
) -> list[str]:
    """The arguments behind the program's name. Never a prompt, never a secret.

    `mcp_file` holds `fixed.mcp`.

    Values stand in one token with their flag: as a token of its own, one that begins with `-`
    would be another flag.
    """
    args = [
        "--print",
        "--input-format=stream-json",
        "--output-format=stream-json",
        "--verbose",
        "--include-partial-messages",
        "--permission-prompt-tool=stdio",
        f"--permission-mode={live.mode}",
        f"--disallowedTools={','.join(fixed.forbidden_tools)}",
    ]
    if live.model:
        args.append(f"--model={live.model}")
    if live.effort:
        args.append(f"--effort={live.effort}")
    if not fixed.trusted:
        args.append("--setting-sources=user")
    if mcp_file is not None:
        args.append(f"--mcp-config={mcp_file}")
    if OWN_SERVER in read_servers(fixed.mcp):
        # it asks by itself; asked twice, a person would not know what for
        args.append(f"--allowedTools=mcp__{OWN_SERVER}")
    if fixed.read_only:
        # servers of other people are not asked to keep still, so they are not started
        args.append("--strict-mcp-config")
    match session.kind:
        case "new":
            args.append(f"--session-id={session.session_id}")
        case "resume":
            args.append(f"--resume={session.session_id}")
        case "fork":
            args += [f"--resume={session.origin}", "--fork-session"]
            args.append(f"--session-id={session.session_id}")
    return args


def environment(source: Mapping[str, str], settings: ProviderSettings) -> dict[str, str]:
    """The whole environment of the CLI and of what it runs (security.md §6)."""
    return build_environment(
        source,
        pass_names=(*PASSED, *settings.pass_env),
        extra={**_DEFAULTS, **settings.env},
    )


def _check(what: str, value: str | None, pattern: re.Pattern[str]) -> None:
    if value is not None and not pattern.fullmatch(value):
        raise ProviderError(
            f"This {what} cannot be given to Claude Code: {value[:80]!r}.",
            hint=f"Choose another {what}." if what != "session id" else "Start a new chat.",
        )
