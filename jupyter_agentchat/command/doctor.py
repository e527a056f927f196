"""`doctor`: which agents the server can run, and the exact next command where it cannot."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace

from .connect import connected, real_directory
from .exits import CommandError, Exit
from .rest import Json, Rest
from .screen import Screen, one_line

PROBE_S = 60.0
"""One agent after the other is looked at, each for five seconds at most."""
_LOOK_S = 0.3

_STATES = {
    "ready": "ready",
    "untested": "ready, but this version was not tested",
    "missing": "not installed",
    "signed_out": "not signed in",
    "too_old": "too old",
    "refused_by_policy": "not allowed here",
    "error": "does not work",
    "probing": "not known yet",
}


async def doctor(options: Namespace, screen: Screen) -> Exit:
    """Run the subcommand: COMPLETED when at least one of the agents asked for is available.

    Raises CommandError, Refused, Unreachable.
    """
    async with connected(real_directory(options.project), screen.note) as rest:
        providers = await look(rest)
    if options.agent is not None:
        providers = [one for one in providers if one.get("id") == options.agent]
        if not providers:
            raise CommandError(Exit.UNAVAILABLE, f"There is no agent {options.agent!r} here.")
    for provider in providers:
        line = json.dumps(provider) if options.json else describe(provider, full=options.verbose)
        screen.text(line + "\n")
    found = any(one.get("available") and one.get("id") != "tour" for one in providers)
    asked_for = options.agent is not None and any(one.get("available") for one in providers)
    return Exit.COMPLETED if found or asked_for else Exit.UNAVAILABLE


async def look(rest: Rest) -> list[Json]:
    """Every agent, looked at again now. What takes longer than PROBE_S is said to be not known."""
    end = asyncio.get_running_loop().time() + PROBE_S
    answer = await rest.get("providers", {"refresh": "1"})
    while answer.get("probing") and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(_LOOK_S)
        answer = await rest.get("providers")
    providers: list[Json] = answer["providers"]
    return providers


def describe(provider: Json, *, full: bool = False) -> str:
    """One agent in a few lines; `full`: with models, permissions and features."""
    state = str(provider.get("state"))
    head = [f"{provider.get('name')} ({provider.get('id')})", _STATES.get(state, state)]
    if version := provider.get("version"):
        least = provider.get("min_version")
        head.append(f"version {version}" + (f", at least {least} is needed" if least else ""))
    if account := provider.get("account"):
        head.append(str(account.get("label")))
    lines = [one_line(" · ".join(head))]
    told = (
        ("", provider.get("reason")),
        ("install: ", provider.get("install_hint") if state in ("missing", "too_old") else None),
        ("sign in: ", provider.get("sign_in_hint") if state == "signed_out" else None),
    )
    lines += [f"    {label}{one_line(str(text))}" for label, text in told if text]
    if full:
        lines += [f"    {one_line(text)}" for text in _details(provider)]
    return "\n".join(lines)


def _details(provider: Json) -> list[str]:
    features = provider.get("features") or {}
    told = [
        name if value is True else f"{name} ({value})" for name, value in features.items() if value
    ]
    models = [_model(model) for model in provider.get("models") or []]
    notes = provider.get("permission_notes") or {}
    return [
        f"can: {', '.join(told) or 'answer in plain text'}",
        f"models: {', '.join(models) or 'chosen by the agent'}",
        f"modes: {', '.join(provider.get('modes') or [])}",
        f"permissions: {', '.join(provider.get('permissions') or [])}",
        *(f"{name}: {note}" for name, note in notes.items()),
    ]


def _model(model: Json) -> str:
    efforts = model.get("efforts") or []
    return f"{model.get('id')} [{', '.join(efforts)}]" if efforts else str(model.get("id"))
