"""From options to a prompt that was taken: the chat, its settings, the trust decision."""

from __future__ import annotations

import secrets
from argparse import Namespace
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from .connect import project_path
from .exits import CommandError, Exit
from .rest import Json, Refused, Rest

AskTrust = Callable[[list[str]], Awaitable[bool]]
"""Asks the person at the terminal; gets a line for each thing that would be loaded."""


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A prompt that the server took: its run's events stand behind `after_seq` in `chat`'s log.

    `run_id` is None while it waits in the chat's queue as `item_id`; the run is then known by the
    `user` event with `client_id`. `steered`: it is in the turn that was running.
    """

    chat: Json
    client_id: str
    after_seq: int
    run_id: str | None
    item_id: str | None = None
    steered: bool = False


async def send_prompt(
    rest: Rest, options: Namespace, directory: Path, text: str, ask_trust: AskTrust | None
) -> SentPrompt:
    """Make or take the chat and send the prompt. Raises CommandError.

    `ask_trust` is None where nobody can be asked.
    """
    if options.chat is None and (options.queue or options.steer):
        raise CommandError(Exit.USAGE, "--queue and --steer need the chat: --chat ID.")
    if options.queue and rest.server.own:
        raise CommandError(
            Exit.UNAVAILABLE,
            "--queue needs a Jupyter server that goes on running; there is none here.",
            "Send without --queue, or start JupyterLab.",
        )
    try:
        chat = await _choose_chat(rest, options, directory)
        body = {"client_id": secrets.token_hex(8), "text": text}
        if options.queue or options.steer:
            body["delivery"] = "queue" if options.queue else "steer"
        path = f"chats/{quote(chat['id'], safe='')}/prompts"
        try:
            answer = await rest.send("POST", path, body)
        except Refused as refused:
            if refused.code != "not_trusted":
                raise
            await _decide_trust(rest, options, refused.details, ask_trust)
            answer = await rest.send("POST", path, body)
    except Refused as refused:
        raise await _explain(rest, refused) from refused
    item = answer.get("queue_item") or {}
    return SentPrompt(
        chat,
        body["client_id"],
        int(chat["last_seq"]),
        answer.get("run_id"),
        item.get("id"),
        bool(answer.get("steered")),
    )


async def _choose_chat(rest: Rest, options: Namespace, directory: Path) -> Json:
    names = {"provider": options.agent, "model": options.model}
    names |= {"mode": options.mode, "permission": options.permission}
    settings = {name: value for name, value in names.items() if value is not None}
    if options.chat is None:
        project = project_path(rest.server, directory)
        return await rest.send("POST", "chats", {"project": project, **settings})
    path = f"chats/{quote(options.chat, safe='')}"
    return await rest.send("PATCH", path, settings) if settings else await rest.get(path)


async def _decide_trust(
    rest: Rest, options: Namespace, details: Json, ask_trust: AskTrust | None
) -> None:
    """Record a decision on what the project would load. Raises CommandError(NEEDS_PERSON)."""
    loads = [
        f"{load.get('agent')}: {load.get('kind')} {load.get('path')}"
        for load in details.get("loads") or []
    ]
    trusted = {"yes": True, "no": False, None: None}[options.trust]
    if trusted is None and ask_trust is not None:
        trusted = await ask_trust(loads)
    if trusted is None:
        raise CommandError(
            Exit.NEEDS_PERSON,
            "Agents would load this project's own configuration, and nobody has decided on that: "
            + "; ".join(loads),
            f"Decide in JupyterLab ({rest.server.lab_url}), or with --trust yes or --trust no."
            if not rest.server.own
            else "Decide with --trust yes or --trust no.",
        )
    path = f"projects/trust?path={quote(str(details.get('path') or ''), safe='')}"
    body = {"trusted": trusted, "digest": details.get("digest")}
    try:
        await rest.send("POST", path, body)
    except Refused as refused:
        if refused.code != "forbidden":
            raise
        raise CommandError(
            Exit.NEEDS_PERSON,
            refused.message,
            f"Decide in JupyterLab: {rest.server.lab_url}, or send with --trust no.",
        ) from refused


async def _explain(rest: Rest, refused: Refused) -> CommandError:
    """A refusal as the end of the command, with the next step."""
    hint = refused.details.get("hint")
    if refused.code == "forbidden" and hint:
        # a token may not raise a permission
        where = f"Do it in JupyterLab: {rest.server.lab_url}" if not rest.server.own else None
        return CommandError(Exit.NEEDS_PERSON, refused.message, where)
    if refused.code == "bad_request" and "provider" in refused.details:
        known = (await rest.get("providers")).get("providers") or []
        names = ", ".join(str(provider.get("id")) for provider in known)
        return CommandError(Exit.UNAVAILABLE, refused.message, f"Agents here: {names}")
    if refused.code == "busy":
        hint = "Wait for the end of its run, or stop it in JupyterLab."
    return CommandError(Exit.FAILED, refused.message, hint if isinstance(hint, str) else None)
