"""Whether Claude Code is here, new enough and signed in; with the exact next command if not."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final, NamedTuple, get_args
from urllib.parse import urlsplit

from ...errors import NotInstalled, ProviderError
from ...process.framing import Line
from ...process.ladder import Ladder
from ...process.launcher import Launcher, Spawn
from ...protocol.resources import Account, Provider, ProviderFeatures
from ...protocol.words import PERMISSIONS, Mode
from .program import INSTALL_HINT
from .translate import PROVIDER
from .wire import MIN_VERSION, Json, parse, text_of, true_at

NAME: Final = "Claude Code"
SIGN_IN: Final = "claude auth login"
PROBE_TIMEOUT_S: Final = 5.0

_LADDER: Final = Ladder(eof_s=0.0, term_s=0.5, kill_s=1.0)
_VERSION: Final = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_METHODS: Final = {
    "api_key": "API key",
    "api_key_helper": "API key helper",
    "oauth_token": "token",
    "third_party": "cloud account",
}
_FEATURES: Final = ProviderFeatures(
    resume=True,
    fork="native",
    rewind="native",
    restore_files=True,
    steer=True,
    asks=True,
    questions=True,
    reasoning=True,
    plan_usage=True,
    skills="slash",
    images=True,
    mcp="per_chat",
)


class _Output(NamedTuple):
    text: str
    code: int | None


async def probe_program(
    command: Sequence[str],
    launcher: Launcher,
    environment: Mapping[str, str],
    scratch: Path,
    *,
    is_root: bool,
    timeout_s: float = PROBE_TIMEOUT_S,
) -> Provider:
    """Ask the program for its version and sign-in state, in `scratch`; it is gone afterwards.

    Within `timeout_s`. A broken program is a `Provider` with state and reason, no error.
    """
    try:
        async with asyncio.timeout(timeout_s):
            said = await _run([*command, "--version"], launcher, environment, scratch)
            version = _VERSION.search(said.text)
            if version is None:
                return provider(
                    state="error",
                    reason=f"It does not say its version (exit code {said.code}).",
                    install_hint=INSTALL_HINT,
                )
            if _numbers(version[0]) < _numbers(MIN_VERSION):
                return provider(
                    state="too_old",
                    version=version[0],
                    reason=f"Version {version[0]} is older than {MIN_VERSION}.",
                    install_hint="claude update",
                )
            status = await _run(
                [*command, "auth", "status", "--json"], launcher, environment, scratch
            )
    except TimeoutError:
        return provider(state="error", reason=f"It did not answer in {timeout_s:g} s.")
    except ProviderError as error:
        return provider(state="error", reason=error.message, install_hint=error.hint)
    return _signed_in(version[0], status, environment, is_root=is_root)


def missing_provider(error: NotInstalled) -> Provider:
    """What to show where there is no program."""
    return provider(state="missing", reason=error.message, install_hint=error.hint)


def provider(**fields: object) -> Provider:
    """A `Provider` of this adapter with `fields`."""
    return Provider.model_validate(
        {
            "id": PROVIDER,
            "name": NAME,
            "description": "Anthropic's coding agent, run by its own command-line program",
            "min_version": MIN_VERSION,
            "modes": list(get_args(Mode)),
            "permissions": list(PERMISSIONS),
            "features": _FEATURES,
            **fields,
        }
    )


def _signed_in(
    version: str,
    status: _Output,
    environment: Mapping[str, str],
    *,
    is_root: bool,
) -> Provider:
    account = parse(status.text.strip().replace("\n", " ")) or {}
    if not true_at(account, "loggedIn"):
        return provider(
            state="signed_out",
            version=version,
            reason="Nobody is signed in.",
            sign_in_hint=SIGN_IN,
        )
    note = "As root, Claude Code keeps asking; agentchat allows each call itself."
    return provider(
        state="ready",
        available=True,
        version=version,
        account=Account(label=_label(account, environment)),
        permission_notes={"full": note} if is_root else {},
    )


def _label(account: Json, environment: Mapping[str, str]) -> str:
    """Who pays, and the server that prompts go to when it is not the vendor's."""
    method = text_of(account, "authMethod")
    label = text_of(account, "email") or _METHODS.get(method, method or "signed in")
    organization, plan = text_of(account, "orgName"), text_of(account, "subscriptionType")
    if organization and organization not in label:
        label = f"{label}, {organization}"
    if plan:
        label = f"{label} ({plan.replace('_', ' ').capitalize()} plan)"
    base = urlsplit(environment.get("ANTHROPIC_BASE_URL", ""))
    # only the host: the rest of an address may hold credentials
    return f"{label}, by way of {base.hostname}" if base.hostname else label


async def _run(
    argv: Sequence[str], launcher: Launcher, environment: Mapping[str, str], scratch: Path
) -> _Output:
    child_id = f"claude-probe-{uuid.uuid4().hex}"
    handle = await launcher.spawn(Spawn(argv, scratch, environment, child_id, stdin="null"))
    try:
        lines: list[str] = []
        async with aclosing(handle.lines()) as frames:
            async for frame in frames:
                if isinstance(frame, Line) and len(lines) < 200:
                    lines.append(frame.text)
        ended = await handle.wait_exit(PROBE_TIMEOUT_S)
    finally:
        await handle.stop(_LADDER)
    return _Output("\n".join(lines), ended.code if ended else None)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
