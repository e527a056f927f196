"""Whether Kimi Code is here, new enough and usable; with the exact next command if not.

Its server would need two seconds and 400 MB to say what its files say: models, keys and the sign-in
are read from them; only the version is asked of the program.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, get_args

from ...errors import NotInstalled, ProviderError
from ...process.launcher import Launcher
from ...protocol.resources import Account, Provider, ProviderFeatures
from ...protocol.words import PERMISSIONS, Mode
from .api import SIGN_IN
from .launch import PERMISSION_NOTES
from .models import models_in, read_settings
from .program import INSTALL_HINT
from .servers import Servers
from .wire import MIN_VERSION, NAME, PROVIDER, Json, object_of, text_of

PROBE_S: Final = 4.5
FEATURES: Final = ProviderFeatures(
    resume=True,
    fork="native",
    rewind="native",
    restore_files=False,
    steer=True,
    asks=True,
    questions=True,
    reasoning=True,
    plan_usage=True,
    skills="none",
    images=True,
    mcp=None,
)
"""`mcp`: Kimi Code takes MCP servers from its own settings files only (measured)."""

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


async def probe_program(
    command: Sequence[str], servers: Servers, launcher: Launcher, *, timeout_s: float = PROBE_S
) -> Provider:
    """Ask the program for its version, and its files for the rest; no process is left.

    Within `timeout_s`. A broken program is a `Provider` with state and reason, no error.
    """
    try:
        async with asyncio.timeout(timeout_s):
            said, code = await servers.run((*command, "--version"), launcher)
    except TimeoutError:
        return provider(state="error", reason=f"It did not answer in {timeout_s:g} s.")
    except ProviderError as error:
        return provider(state="error", reason=error.message, install_hint=error.hint)
    version = _VERSION.search(said)
    if version is None:
        return provider(
            state="error",
            reason=f"It does not say its version (exit code {code}).",
            install_hint=INSTALL_HINT,
        )
    if _numbers(version[0]) < _numbers(MIN_VERSION):
        return provider(
            state="too_old",
            version=version[0],
            reason=f"Version {version[0]} is older than {MIN_VERSION}.",
            install_hint=INSTALL_HINT,
        )
    return await asyncio.to_thread(_usable, version[0], servers.home, servers.environment)


def missing_provider(error: NotInstalled) -> Provider:
    """What to show where there is no program, or no Node to run it."""
    return provider(state="missing", reason=error.message, install_hint=error.hint)


def provider(**fields: object) -> Provider:
    """A `Provider` of this adapter with `fields`."""
    return Provider.model_validate(
        {
            "id": PROVIDER,
            "name": NAME,
            "description": "Moonshot AI's coding agent, run by the server of its own program",
            "min_version": MIN_VERSION,
            "modes": list(get_args(Mode)),
            "permissions": list(PERMISSIONS),
            "permission_notes": PERMISSION_NOTES,
            "features": FEATURES,
            **fields,
        }
    )


def _usable(version: str, home: Path, environment: dict[str, str]) -> Provider:
    settings = read_settings(home)
    models = models_in(settings)
    # one file for each account; `mcp` below has those of MCP servers
    signed_in = any((home / "credentials").glob("*.json"))
    by_environment = bool(environment.get("KIMI_MODEL_NAME"))
    if not models and not signed_in and not by_environment:
        return provider(
            state="signed_out",
            version=version,
            reason="Nobody is signed in, and no model is set up.",
            sign_in_hint=SIGN_IN,
        )
    return provider(
        state="ready",
        available=True,
        version=version,
        account=Account(label=_label(settings, signed_in=signed_in)),
        models=models,
    )


def _label(settings: Json, *, signed_in: bool) -> str:
    """Who pays: the account, or the providers of which `config.toml` has keys."""
    if signed_in:
        return "Kimi account"
    providers = object_of(settings, "providers")
    named = [name for name, item in providers.items() if isinstance(item, dict)]
    keys = [name for name in named if text_of(object_of(providers, name), "api_key")]
    return f"API key ({', '.join(keys or named)})" if named else "model from the environment"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
