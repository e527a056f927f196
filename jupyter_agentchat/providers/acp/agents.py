"""What differs between ACP agents, as data: which program, which variables, which trust.

An administrator's entry of `provider_settings` with `kind: "acp"` is such a description too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ...process.ladder import Ladder
from ...protocol.words import Permission
from ..settings import ProviderSettings

Names = Mapping[Permission, tuple[str, ...]]

MODE_NAMES: Final[Names] = {
    "read_only": ("plan", "readonly", "chat"),
    "ask": ("default", "ask", "manual", "approve", "build", "normal"),
    "accept_edits": ("acceptedits", "autoedit", "autoedits"),
    "full": ("yolo", "bypasspermissions", "fullaccess"),
}
"""The agents' words for our permissions, letters and digits only, the better word first."""


@dataclass(frozen=True, slots=True)
class Untrusted:
    """How an agent is started so that it loads nothing of the project's own.

    `arguments` and `env` are added then; `files` are settings files of ours, by the variable that
    names them. Modes that the agent refuses in such a folder we stand in for, by answering it.
    """

    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AcpAgent:
    """A program that speaks ACP on its stdin and stdout.

    `argv[0]` is an absolute path or a bare name to look up in PATH. `env` are constants of the
    child's environment, `pass_env` patterns of the variables that the agent documents. `loads` maps
    what it takes from a project (files or folders) to a kind. `untrusted` None: it cannot be told
    to leave that alone, so it is not started in a folder that has any of it and is not trusted.
    `questions`: its questions with options reach us, in a way of its own. `silence_s`: after so
    many seconds without a line in a turn a person is told.
    """

    id: str
    name: str
    argv: tuple[str, ...]
    description: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    install_hint: str | None = None
    sign_in_hint: str | None = None
    min_version: str | None = None
    modes: Names = field(default_factory=lambda: MODE_NAMES)
    loads: Mapping[str, str] = field(default_factory=dict)
    untrusted: Untrusted | None = None
    trusted_env: Mapping[str, str] = field(default_factory=dict)
    questions: bool = False
    silence_s: float = 300.0
    start_s: float = 60.0
    cancel_s: float = 10.0
    ladder: Ladder = field(default_factory=lambda: Ladder(eof_s=2.0, term_s=3.0, kill_s=2.0))


_COMMON_LOADS: Final[Mapping[str, str]] = {"AGENTS.md": "instructions"}


def configured_agent(provider_id: str, settings: ProviderSettings) -> AcpAgent:
    """The agent of an admin's `{"kind": "acp", "command": [...]}`, or of a preset by its name.

    `"preset": "gemini"` takes all but the id (and what else is given) from that preset. Raises
    ValueError, with a sentence for the admin, when there is neither command nor preset.
    """
    from .presets import presets

    extra = settings.extra
    named = extra.get("preset", provider_id if not settings.command else None)
    base = presets().get(named) if isinstance(named, str) else None
    if base is None:
        if extra.get("preset") is not None:
            known = ", ".join(sorted(presets()))
            raise ValueError(f"provider_settings: {provider_id}: presets are {known}")
        if not settings.command:
            raise ValueError(f'provider_settings: {provider_id} has kind "acp" but no "command"')
        base = AcpAgent(
            id=provider_id,
            name=provider_id,
            argv=settings.command,
            install_hint=f"Check the command of {provider_id} in provider_settings.",
            loads=_COMMON_LOADS,
        )
    name, description = extra.get("name"), extra.get("description")
    sign_in = extra.get("sign_in")
    return replace(
        base,
        id=provider_id,
        name=name if isinstance(name, str) else base.name,
        description=description if isinstance(description, str) else base.description,
        sign_in_hint=sign_in if isinstance(sign_in, str) else base.sign_in_hint,
    )
