"""Which program to start and how: pure. A native agent is described by data alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...process.environment import build_environment
from ...process.executable import find_executable
from ...process.ladder import Ladder
from ...process.launcher import Spawn
from ..settings import ProviderSettings


@dataclass(frozen=True, slots=True)
class NativeAgent:
    """A program that speaks the native agent protocol.

    `argv[0]` is an absolute path or a bare name to look up in PATH. `env` are constants of the
    child's environment, `pass_env` patterns of names it may have from the server's. The waits are
    in seconds: until `hello`, and for the reaction to `cancel` before the ladder begins.
    """

    id: str
    name: str
    argv: tuple[str, ...]
    description: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    install_hint: str | None = None
    hello_s: float = 10.0
    cancel_s: float = 1.0
    ladder: Ladder = field(default_factory=Ladder)


def configured_agent(provider_id: str, settings: ProviderSettings) -> NativeAgent:
    """The agent of an admin's `{"kind": "native", "command": [...]}`.

    Raises ValueError, with a sentence for the admin, when there is no command.
    """
    if not settings.command:
        raise ValueError(f'provider_settings: {provider_id} has kind "native" but no "command"')
    name, description = settings.extra.get("name"), settings.extra.get("description")
    return NativeAgent(
        id=provider_id,
        name=name if isinstance(name, str) else provider_id,
        argv=settings.command,
        description=description if isinstance(description, str) else "",
        install_hint=f"Check the command of {provider_id} in provider_settings.",
    )


def build_spawn(
    agent: NativeAgent,
    settings: ProviderSettings,
    environment: Mapping[str, str],
    *,
    cwd: Path,
    child_id: str,
) -> Spawn:
    """What to hand to the launcher; `environment` is the server's own, to build from.

    A command of the admin's settings replaces the agent's. Raises NotInstalled when the program
    is not found. A bare name is never found below `cwd`, the project; an absolute path is what
    the admin (or our own code) chose, wherever it lies.
    """
    program, *arguments = settings.command or agent.argv
    home = environment.get("HOME")
    found = find_executable(
        program,
        environment.get("PATH", ""),
        not_below=() if Path(program).is_absolute() else (cwd,),
        home=Path(home) if home else None,
    )
    return Spawn(
        argv=(str(found), *arguments),
        cwd=cwd,
        env=build_environment(
            environment,
            pass_names=(*agent.pass_env, *settings.pass_env),
            extra=settings.env,
            fixed=agent.env,
        ),
        child_id=child_id,
    )
