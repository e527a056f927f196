"""`chats`: the chats of the server, or of one project, as a table or as JSON lines."""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path

from .connect import connected, project_path, real_directory
from .exits import Exit
from .rest import Json, Rest
from .screen import Screen, one_line

PAGE = 500


async def list_chats(options: Namespace, screen: Screen) -> Exit:
    """Run the subcommand. Raises CommandError, Refused, Unreachable."""
    directory = real_directory(options.project)
    async with connected(directory, screen.note) as rest:
        if options.deleted:
            return await _list_trash(rest, options, screen, directory)
        query = {"limit": str(PAGE)}
        if options.project is not None:
            query["project"] = project_path(rest.server, directory)
        while True:
            page = await rest.get("chats", query)
            for chat in page["chats"]:
                line = json.dumps(chat) if options.json else describe_chat(chat, _now())
                screen.text(line + "\n")
            if not page.get("next_cursor"):
                break
            query["cursor"] = page["next_cursor"]
        if page.get("elsewhere") and not options.json:
            screen.note(f"{page['elsewhere']} more in folders outside {rest.server.root}", "dim")
    return Exit.COMPLETED


async def restore_chat(options: Namespace, screen: Screen) -> Exit:
    """Run `restore`. Raises CommandError, Refused, Unreachable."""
    async with connected(real_directory(options.project), screen.note) as rest:
        chat = await rest.send("POST", f"chats/{options.chat}/restore")
    screen.note(f"It is back: {one_line(chat.get('title') or '(no title)')}")
    return Exit.COMPLETED


async def _list_trash(rest: Rest, options: Namespace, screen: Screen, directory: Path) -> Exit:
    trash = await rest.get("trash")
    only = None if options.project is None else project_path(rest.server, directory)
    for chat in trash["chats"]:
        if only is None or chat.get("project") == only:
            line = json.dumps(chat) if options.json else describe_deleted(chat, _now())
            screen.text(line + "\n")
    return Exit.COMPLETED


def describe_deleted(chat: Json, now: datetime) -> str:
    """Id, how long ago it was deleted, project and title, in columns."""
    project = chat.get("project")
    where = "(loose)" if project is None else project or "."
    age = describe_age(str(chat.get("deleted")), now)
    title = chat.get("title") or "(no title)"
    return f"{chat.get('id'):<16}  {age:>8}  {one_line(f'{where}  {title}')}"


def describe_chat(chat: Json, now: datetime) -> str:
    """Id, state, age, agent, project and title, in columns."""
    state = chat.get("attention") or chat.get("state")
    if state in ("idle", "finished"):
        state = "unread" if chat.get("unread") else ""
    project = chat.get("project")
    where = "(loose)" if project is None else project or "."
    title = chat.get("title") or "(no title)"
    age = describe_age(str(chat.get("updated")), now)
    words = (f"{chat.get('id'):<16}", f"{state:<11}", f"{age:>8}", f"{chat.get('provider'):<8}")
    return "  ".join((*words, one_line(f"{where}  {title}")))


def describe_age(updated: str, now: datetime) -> str:
    """How long ago: `now`, `5 min`, `3 h`, `12 d`."""
    try:
        minutes = int((now - datetime.fromisoformat(updated)).total_seconds() // 60)
    except ValueError:
        return ""
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} d"


def _now() -> datetime:
    return datetime.now(UTC)
