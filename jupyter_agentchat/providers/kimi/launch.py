"""How the server of Kimi Code is started, and what a run asks of its session. Pure.

One server serves all chats, so that everything that differs between runs (model, effort,
permission, tools that are taken away) is set on the session or sent with the prompt. Source: the
table "Modes and permissions" of docs/protocol.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ...process.environment import build_environment
from ...protocol.resources import RunRequest
from ...protocol.words import Mode, Permission
from ..settings import ProviderSettings
from .wire import Json

KimiMode = Literal["manual", "auto"]

PASSED: Final = ("KIMI_*",)
"""The program's documented variables that the server's environment may hold."""

_DEFAULTS: Final = {
    "KIMI_CODE_NO_AUTO_UPDATE": "1",
    # a prompt that comes by the clock would begin a run that nobody asked for
    "KIMI_DISABLE_CRON": "1",
}
_HELPERS: Final = ("Agent", "AgentSwarm")
_PLANNING: Final = (*_HELPERS, "CronCreate", "CronDelete", "TaskStop", "mcp__*")
_CHANGING: Final = ("Bash", "Write", "Edit", "ExitPlanMode")

PERMISSION_NOTES: Final = {
    "read_only": (
        "Kimi Code plans; commands, MCP tools and helper agents are refused (its helpers would not "
        "keep to its plan mode)."
    ),
    "ask": "Kimi Code does not ask before it edits files inside a git work tree.",
    "accept_edits": "Kimi Code still asks before commands.",
    "full": "Kimi Code asks nothing in its auto mode, not even its own questions.",
}


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What a session must be set to before the prompt is sent."""

    model: str
    effort: str | None
    mode: KimiMode
    plan: bool
    disabled_tools: tuple[str, ...]

    @property
    def lasting(self) -> tuple[object, ...]:
        """What stays set on the session from run to run."""
        return (self.model, self.effort, self.mode, self.plan)

    def profile(self, run_id: str) -> Json:
        """The body that sets it; the run's id is how another server finds the session again."""
        config: Json = {
            "model": self.model,
            "permission_mode": self.mode,
            "plan_mode": self.plan,
        }
        if self.effort:
            config["thinking"] = self.effort
        return {"agent_config": config, "metadata": {RUN_KEY: run_id}}


RUN_KEY: Final = "agentchat_run"
"""Where the id of the newest run stands in a session's own metadata."""


def session_config(
    request: RunRequest, model: str, *, trusted: bool, rules_allow: bool
) -> SessionConfig:
    """`rules_allow`: the person's own rules in Kimi Code's settings let commands run unasked."""
    return SessionConfig(
        model=model,
        effort=request.effort,
        mode=kimi_mode(request.permission),
        plan=request.permission == "read_only",
        disabled_tools=disabled_tools(
            request.mode, request.permission, trusted=trusted, rules_allow=rules_allow
        ),
    )


def kimi_mode(permission: Permission) -> KimiMode:
    """Kimi Code's own permission mode."""
    return "auto" if permission == "full" else "manual"


def disabled_tools(
    mode: Mode, permission: Permission, *, trusted: bool, rules_allow: bool
) -> tuple[str, ...]:
    """Tools that the run may not have.

    In plan mode Kimi Code refuses writes of its own, but not those of its helper agents (measured).
    """
    gone = [] if trusted else ["Skill"]
    if permission == "read_only":
        gone += _PLANNING
        if mode != "plan":
            gone += _CHANGING
        elif rules_allow:
            gone.append("Bash")
    return tuple(gone)


def arguments() -> tuple[str, ...]:
    """The arguments behind the program: loopback, any free port, no browser, no log."""
    return ("web", "--no-open", "--port", "0")


def environment(source: Mapping[str, str], settings: ProviderSettings) -> dict[str, str]:
    """The whole environment of the program and of what it runs (security.md §6)."""
    return build_environment(
        source, pass_names=(*PASSED, *settings.pass_env), extra={**_DEFAULTS, **settings.env}
    )


def with_first_on_path(environment: Mapping[str, str], folders: Iterable[str]) -> dict[str, str]:
    """`environment` in which programs of `folders` are found first: the program's own Node."""
    path = ":".join([*dict.fromkeys(folders), environment.get("PATH", "")])
    return {**environment, "PATH": path.strip(":")}


def home_of(environment: Mapping[str, str]) -> Path:
    """Where Kimi Code keeps its settings, its sessions and the token of its server."""
    named = environment.get("KIMI_CODE_HOME")
    return Path(named) if named else Path(environment.get("HOME") or "/", ".kimi-code")


def server_command(program: Sequence[str]) -> tuple[str, ...]:
    """The whole command. Never a prompt, never a secret."""
    return (*program, *arguments())
