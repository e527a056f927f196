"""How the app server is started, and what a thread and a turn are given. Pure.

The process is started once for all chats: what differs between them (directory, trust, MCP servers,
permission, model) goes with the thread or the turn. Source: providers/codex design §§2-5 and 8, the
permission table of docs/protocol.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from pydantic import JsonValue

from ...errors import ProviderError
from ...process.environment import build_environment
from ...protocol.resources import RunRequest
from ...protocol.words import Permission
from ..settings import ProviderSettings
from .flavour import KEY_NAME, Flavour, key_of
from .wire import Json

PASSED: Final = ("CODEX_HOME", "CODEX_CA_CERTIFICATE", "CODEX_SQLITE_HOME")
"""Codex' documented variables that the server's environment may hold."""

_OVERRIDES: Final = (
    # with it on, a server that cannot be reached is tried for ever and the turn never fails
    "features.unbounded_connection_retries=false",
    # a goal makes Codex begin turn after turn by itself
    "features.goals=false",
    "tools.update_plan.enabled=true",
    "check_for_update_on_startup=false",
)
_FIXED: Final = {"RUST_LOG": "error", "NO_COLOR": "1"}

_MODEL: Final = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,150}")
_EFFORT: Final = re.compile(r"[a-z]{1,20}")
_TIER: Final = re.compile(r"[a-z][\w-]{0,40}")
_THREAD: Final = re.compile(r"[A-Za-z0-9][\w-]{0,100}")
_SERVER: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

Approval = Literal["untrusted", "on-request", "never"]
_APPROVALS: Final[dict[Permission, Approval]] = {
    # what is asked for is refused by us, so that the model hears why
    "read_only": "on-request",
    "ask": "untrusted",
    "accept_edits": "on-request",
    "full": "never",
}


@dataclass(frozen=True, slots=True)
class Setup:
    """What a loaded thread keeps until it is unloaded: another value needs it loaded anew."""

    cwd: str
    trusted: bool
    top: str
    """The git root of `cwd`, or itself."""
    mcp_servers: str = "{}"
    """As JSON text, sorted."""
    hidden_skills: tuple[str, ...] = ()
    """Files of skills that are kept from the model."""


def arguments(
    flavour: Flavour, environment: Mapping[str, str], default_model: str | None
) -> list[str]:
    """The arguments behind the program's name. Never a prompt, never a secret."""
    values = [*_OVERRIDES, *flavour.overrides(environment, default_model)]
    return ["app-server", *(part for value in values for part in ("-c", value))]


def environment(
    source: Mapping[str, str], settings: ProviderSettings, flavour: Flavour
) -> dict[str, str]:
    """The whole environment of the app server and of what it runs (security.md §6).

    Reads MiniMax' key from its file where one is named.
    """
    fixed = dict(_FIXED)
    if not flavour.is_openai and (key := key_of(settings, source)):
        fixed[KEY_NAME] = key
    return build_environment(
        source,
        pass_names=(*PASSED, *flavour.pass_names, *settings.pass_env),
        extra=settings.env,
        fixed=fixed,
    )


def check(request: RunRequest) -> None:
    """Raise ProviderError for what cannot be a model, an effort, a tier or a thread's id."""
    _check("model", request.model, _MODEL)
    _check("effort", request.effort, _EFFORT)
    _check("service tier", request.service_tier, _TIER)
    _check("conversation id", request.provider_session_id, _THREAD)


def thread_params(setup: Setup, mcp_servers: Mapping[str, JsonValue], model: str | None) -> Json:
    """What `thread/start`, `thread/resume` and `thread/fork` share.

    The sandbox is named read-only here and widened with each turn: named wider, Codex would write
    into the person's config.toml that this directory is trusted (seen).
    """
    params: Json = {
        "cwd": setup.cwd,
        "sandbox": "read-only",
        "approvalPolicy": "on-request",
        "approvalsReviewer": "user",
        "config": _config(setup, mcp_servers),
    }
    return params | {"model": model} if model else params


def permission_params(permission: Permission) -> Json:
    """Approval policy and sandbox of a turn."""
    match permission:
        case "read_only":
            sandbox: Json = {"type": "readOnly", "networkAccess": False}
        case "full":
            sandbox = {"type": "dangerFullAccess"}
        case _:
            sandbox = {
                "type": "workspaceWrite",
                "writableRoots": [],
                "networkAccess": False,
                "excludeTmpdirEnvVar": False,
                "excludeSlashTmp": False,
            }
    return {
        "approvalPolicy": _APPROVALS[permission],
        "approvalsReviewer": "user",
        "sandboxPolicy": sandbox,
    }


def turn_params(request: RunRequest, model: str) -> Json:
    """Everything of a turn but its thread and its input.

    All of it, every time: what is left out would hold from the turn before. `model` is the one to
    use; "" leaves it, and with it the mode, to Codex.
    """
    params = permission_params(request.permission)
    params["summary"] = "auto"
    params["serviceTier"] = request.service_tier
    if model:
        settings: Json = {
            "model": model,
            "reasoning_effort": request.effort,
            "developer_instructions": None,
        }
        mode = "plan" if request.mode == "plan" else "default"
        params["collaborationMode"] = {"mode": mode, "settings": settings}
    elif request.effort:
        params["effort"] = request.effort
    return params


def servers_of(request: RunRequest) -> dict[str, JsonValue]:
    """The request's MCP servers in Codex' words; one that cannot be named is left out."""
    servers: dict[str, JsonValue] = {}
    for name, given in request.mcp_servers.items():
        if not _SERVER.fullmatch(name) or not isinstance(given, dict):
            continue
        if given.get("url"):
            servers[name] = {"url": given["url"], "http_headers": given.get("headers") or {}}
        elif given.get("command"):
            servers[name] = {
                "command": given["command"],
                "args": given.get("args") or [],
                "env": given.get("env") or {},
            }
    return servers


def _config(setup: Setup, mcp_servers: Mapping[str, JsonValue]) -> Json:
    """The thread's own configuration.

    Untrusted is said of the directory and of all above it: named alone, what lies in a parent that
    the person trusts elsewhere is still loaded (seen).
    """
    cwd = PurePosixPath(setup.cwd)
    if setup.trusted:
        top = PurePosixPath(setup.top)
        below = [place for place in cwd.parents if place.is_relative_to(top)]
        places = [cwd, *below]
    else:
        places = [cwd, *cwd.parents]
    level = "trusted" if setup.trusted else "untrusted"
    config: Json = {"projects": {str(place): {"trust_level": level} for place in places}}
    if mcp_servers:
        config["mcp_servers"] = dict(mcp_servers)
    if setup.hidden_skills:
        hidden: list[JsonValue] = [{"path": path, "enabled": False} for path in setup.hidden_skills]
        config["skills"] = {"config": hidden}
    return config


def _check(what: str, value: str | None, pattern: re.Pattern[str]) -> None:
    if value is not None and not pattern.fullmatch(value):
        raise ProviderError(
            f"This {what} cannot be given to Codex: {value[:80]!r}.",
            hint=f"Choose another {what}." if what != "conversation id" else "Start a new chat.",
        )
