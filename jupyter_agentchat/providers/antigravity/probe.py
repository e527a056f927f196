"""Whether `agy` is here and new enough, and which models it offers."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final, get_args

from ...errors import NotInstalled, ProviderError
from ...process.framing import Line
from ...process.ladder import Ladder
from ...process.launcher import Launcher, Spawn
from ...protocol.resources import Model, Provider, ProviderFeatures
from ...protocol.words import PERMISSIONS, Mode
from .launch import NAME, PROVIDER
from .wire import MIN_VERSION, numbers

PROBE_TIMEOUT_S: Final = 4.5
MODELS_TIMEOUT_S: Final = 2.0
INSTALL_HINT: Final = "Install the Antigravity command-line program (agy) as its makers describe."

_LADDER: Final = Ladder(eof_s=0.0, term_s=0.5, kill_s=1.0)
_CANNOT_ASK: Final = "It cannot ask here: what needs a permission is denied by it."
_FEATURES: Final = ProviderFeatures(resume=True, fork="transcript", rewind="transcript")


async def probe_program(
    command: Sequence[str], launcher: Launcher, environment: Mapping[str, str], scratch: Path
) -> Provider:
    """Ask the program for its version and models, in `scratch`; it is gone afterwards.

    A broken program is a `Provider` with state and reason, no error.
    """
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            said = "\n".join(await _run([*command, "--version"], launcher, environment, scratch))
            version = ".".join(str(part) for part in numbers(said))
            if not version:
                return _provider(state="error", reason="It does not say its version.")
            if numbers(version) < numbers(MIN_VERSION):
                return _provider(
                    state="too_old",
                    version=version,
                    reason=f"Version {version} is older than {MIN_VERSION}.",
                    install_hint="agy update",
                )
            models = await _models(command, launcher, environment, scratch)
    except TimeoutError:
        return _provider(state="error", reason=f"It did not answer in {PROBE_TIMEOUT_S:g} s.")
    except ProviderError as error:
        return _provider(state="error", reason=error.message, install_hint=error.hint)
    notes = dict.fromkeys(("ask", "accept_edits"), _CANNOT_ASK)
    return _provider(
        state="ready", available=True, version=version, models=models, permission_notes=notes
    )


def missing_provider(error: NotInstalled) -> Provider:
    """What to show where there is no program."""
    return _provider(state="missing", reason=error.message, install_hint=error.hint)


async def _models(
    command: Sequence[str], launcher: Launcher, environment: Mapping[str, str], scratch: Path
) -> list[Model]:
    """Lines of id, tab, name; none where it does not say."""
    try:
        async with asyncio.timeout(MODELS_TIMEOUT_S):
            lines = await _run([*command, "models"], launcher, environment, scratch)
    except (TimeoutError, ProviderError):
        return []
    pairs = [line.split("\t", 1) for line in lines if "\t" in line]
    return [
        Model(id=pair[0].strip(), name=pair[1].strip() or pair[0].strip())
        for pair in pairs
        if 0 < len(pair[0].strip()) <= 150
    ]


async def _run(
    argv: Sequence[str], launcher: Launcher, environment: Mapping[str, str], scratch: Path
) -> list[str]:
    child_id = f"agy-probe-{uuid.uuid4().hex}"
    handle = await launcher.spawn(Spawn(argv, scratch, environment, child_id, stdin="null"))
    try:
        lines: list[str] = []
        async with aclosing(handle.lines()) as frames:
            async for frame in frames:
                if isinstance(frame, Line) and len(lines) < 200:
                    lines.append(frame.text)
    finally:
        await handle.stop(_LADDER)
    return lines


def _provider(**fields: object) -> Provider:
    return Provider.model_validate(
        {
            "id": PROVIDER,
            "name": NAME,
            "description": "Google's Antigravity, run by its own command-line program",
            "min_version": MIN_VERSION,
            "modes": list(get_args(Mode)),
            "permissions": list(PERMISSIONS),
            "features": _FEATURES,
            **fields,
        }
    )
