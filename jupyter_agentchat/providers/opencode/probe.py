"""Whether opencode is here, new enough and has a model; with the exact next command if not."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final, NamedTuple, get_args

from ...errors import NotInstalled, ProviderError
from ...process.framing import Line
from ...process.ladder import Ladder
from ...process.launcher import Launcher, Spawn
from ...protocol.resources import Account, Provider, ProviderFeatures
from ...protocol.words import PERMISSIONS, Mode
from .models import Catalog, catalog_of_listing
from .program import INSTALL_HINT, SIGN_IN_HINT, UPGRADE_HINT
from .wire import MIN_VERSION, PROVIDER

NAME: Final = "opencode"
PROBE_TIMEOUT_S: Final = 4.5
_LADDER: Final = Ladder(0.2, 0.2, 0.5)
_VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)\b")
_LINES_LIMIT: Final = 400_000

FEATURES: Final = ProviderFeatures(
    resume=True,
    fork="native",
    rewind="native",
    restore_files=True,
    steer=True,
    asks=True,
    questions=True,
    reasoning=True,
    plan_usage=False,
    skills="slash",
    images=True,
    mcp="per_process",
)
"""`reattach` is the adapter's to say; plan usage opencode does not know."""
NOTES: Final = {
    "read_only": "Its own agent for plans, which may not change or run anything.",
    "full": "Nothing is asked, in subagents neither; what your configuration denies stays denied.",
}


class _Output(NamedTuple):
    lines: list[str]
    code: int | None


async def probe_program(
    command: Sequence[str],
    launcher: Launcher,
    environment: Mapping[str, str],
    scratch: Path,
    known: Catalog,
    *,
    timeout_s: float = PROBE_TIMEOUT_S,
) -> Provider:
    """What can be said of the program. `known`: the models that a running opencode has told; else
    it is asked for them, which takes it some seconds. Never raises ProviderError."""

    async def run(*arguments: str) -> _Output:
        return await _run([*command, *arguments], launcher, environment, scratch, timeout_s)

    try:
        if known.models:
            said, listed = await run("--version"), None
        else:
            said, listed = await asyncio.gather(run("--version"), run("models", "--verbose"))
    except ProviderError as error:
        return provider(state="error", reason=error.message, install_hint=error.hint)
    version = _VERSION.search("\n".join(said.lines))
    if version is None:
        return provider(
            state="error",
            reason="It does not say its version"
            + (f" (exit code {said.code})." if said.code is not None else f" in {timeout_s:g} s."),
            install_hint=INSTALL_HINT,
        )
    if _numbers(version[0]) < _numbers(MIN_VERSION):
        return provider(
            state="too_old",
            version=version[0],
            reason=f"Version {version[0]} is older than {MIN_VERSION}.",
            install_hint=UPGRADE_HINT,
        )
    catalog = catalog_of_listing(listed.lines) if listed is not None else known
    if not catalog.models and (listed is None or listed.code == 0):
        return provider(
            state="signed_out",
            version=version[0],
            reason="It knows no model: no provider is signed in.",
            sign_in_hint=SIGN_IN_HINT,
        )
    label = ", ".join(catalog.providers[:4]) + ("…" if len(catalog.providers) > 4 else "")
    return provider(
        state="ready",
        available=True,
        version=version[0],
        account=Account(label=label) if label else None,
        models=list(catalog.models),
    )


def missing_provider(error: NotInstalled) -> Provider:
    """What to show where there is no program."""
    return provider(state="missing", reason=error.message, install_hint=error.hint)


def provider(**fields: object) -> Provider:
    """A `Provider` of this adapter with `fields`."""
    return Provider.model_validate(
        {
            "id": PROVIDER,
            "name": NAME,
            "description": "The open agent for any model provider, run by its own program",
            "min_version": MIN_VERSION,
            "modes": list(get_args(Mode)),
            "permissions": list(PERMISSIONS),
            "permission_notes": NOTES,
            "features": FEATURES,
            **fields,
        }
    )


async def _run(
    argv: Sequence[str],
    launcher: Launcher,
    environment: Mapping[str, str],
    scratch: Path,
    timeout_s: float,
) -> _Output:
    """What it prints in the time; code None: it had not ended by then."""
    child_id = f"opencode-probe-{uuid.uuid4().hex}"
    handle = await launcher.spawn(Spawn(argv, scratch, environment, child_id, stdin="null"))
    lines: list[str] = []
    code = None
    try:
        async with asyncio.timeout(timeout_s), aclosing(handle.lines()) as frames:
            async for frame in frames:
                if isinstance(frame, Line) and len(lines) < _LINES_LIMIT:
                    lines.append(frame.text)
            ended = await handle.wait_exit()
            code = ended.code if ended else None
    except TimeoutError:
        pass
    finally:
        await handle.stop(_LADDER)
    return _Output(lines, code)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
