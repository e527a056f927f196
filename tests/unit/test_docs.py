"""Nothing that people can set, call or receive is undocumented."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from jupyter_agentchat.command.exits import Exit
from jupyter_agentchat.command.options import build_parser
from jupyter_agentchat.extension import AgentChatApp
from jupyter_agentchat.handlers.routes import ROUTES, handler_class
from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.protocol.frames import ClientFrame, ServerFrame
from jupyter_agentchat.protocol.words import PERMISSIONS, ErrorCode, Mode, RefusalCode

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text("utf-8")
GUIDE = (ROOT / "docs" / "guide.md").read_text("utf-8")
ADMIN = (ROOT / "docs" / "admin-guide.md").read_text("utf-8")
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text("utf-8")
LAB = ROOT / "labextension"


def own_traits() -> Iterator[tuple[str, Any]]:
    """Settings that this project adds to those of every Jupyter extension."""
    for name, trait in AgentChatApp.class_own_traits(config=True).items():
        if trait.this_class is AgentChatApp:
            yield name, trait


@pytest.mark.parametrize("name", [name for name, _ in own_traits()])
def test_every_setting_of_the_server_is_in_the_admin_guide(name: str) -> None:
    row = re.search(rf"^\| `{name}` \| (.+?) \| .+ \|$", ADMIN, re.MULTILINE)
    assert row, f"docs/admin-guide.md has no row for {name}"
    default = dict(own_traits())[name].default_value
    simple = isinstance(default, bool | int | float | str) and not callable(default)
    if simple and name not in ("data_dir", "max_concurrent_runs"):  # computed
        assert json.dumps(default) in row[1] or repr(default) in row[1]


def test_the_admin_guide_tells_of_no_setting_that_is_not_there() -> None:
    rows = re.findall(r"^\| `([a-z_]+)` \| [^|]+ \| [^|]+ \|$", ADMIN, re.MULTILINE)
    assert set(rows) == {name for name, _ in own_traits()}


def subcommands() -> dict[str, argparse.ArgumentParser]:
    [action] = [
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    return dict(action.choices)


@pytest.mark.parametrize("command", subcommands())
def test_every_option_of_the_command_is_in_the_guide(command: str) -> None:
    start = re.search(rf"^### `{command}\b", GUIDE, re.MULTILINE)
    assert start, f"docs/guide.md has no section for {command}"
    section = GUIDE[start.end() :].split("\n### ")[0]
    for action in subcommands()[command]._actions:
        names = action.option_strings or [str(action.metavar)]
        if "--help" not in names:
            assert all(f"`{name}" in section for name in names), names
            assert all(f"`{choice}`" in section for choice in action.choices or ()), names


def test_every_exit_code_is_in_the_guide_and_in_the_help() -> None:
    for code in Exit:
        assert re.search(rf"^\| {code.value} \| ", GUIDE, re.MULTILINE), code
        assert re.search(rf"^  {code.value}  ", build_parser().format_help(), re.MULTILINE), code


@pytest.mark.parametrize("union", [EventBody, ClientFrame, ServerFrame])
def test_every_event_and_frame_is_in_the_reference(union: Any) -> None:
    for model in get_args(get_args(union)[0]):
        word = model.model_fields["type"].default
        assert f"### `{word}`\n" in PROTOCOL, word


@pytest.mark.parametrize("words", [RefusalCode, ErrorCode, Mode])
def test_every_code_and_mode_is_explained_before_the_tables(words: Any) -> None:
    preface = PROTOCOL.split("\n## Events\n")[0]
    assert [word for word in get_args(words) if f"`{word}`" not in preface] == []


def test_every_route_is_in_the_reference_with_its_methods() -> None:
    rows = {}
    for methods, path in re.findall(r"^\| ([A-Z, ]+) `([^`?]+)", PROTOCOL, re.MULTILINE):
        shape = re.sub(r"\{\w+\}", "{}", path)
        rows.setdefault(shape, set()).update(methods.replace(",", " ").split())
    for pattern, module, name in ROUTES:
        handler = handler_class(module, name)
        path = pattern.removeprefix("/agentchat/").removeprefix("api/")
        if path in (".*", "ws"):
            continue
        shape = re.sub(r"\([^)]*\)", "{}", path)
        verbs = {
            verb.upper()
            for verb in ("get", "post", "put", "patch", "delete")
            if verb in vars(handler)
        }
        assert rows.get(shape) == verbs, shape


def test_every_setting_and_command_of_the_interface_is_in_the_guide() -> None:
    schema = json.loads((LAB / "schema" / "plugin.json").read_text("utf-8"))
    titles = [spec["title"] for spec in schema["properties"].values()]
    assert [title for title in titles if f"*{title}*" not in GUIDE] == []
    named = [LAB / "src" / "panel" / "rowMenu.ts", *(LAB / "src" / "plugins").glob("*.ts")]
    sources = "".join(path.read_text("utf-8") for path in named)
    commands = set(re.findall(r"[:=] '(agentchat:[a-z-]+)'[,;]", sources))
    assert "agentchat:new-chat" in commands
    assert {command for command in commands if f"`{command}`" not in GUIDE} == set()


def test_permissions_have_the_same_order_everywhere() -> None:
    assert " | ".join(f"`{word}`" for word in PERMISSIONS) in PROTOCOL
    assert ", ".join(f"`{word}`" for word in PERMISSIONS) in ADMIN


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    assert len(README.splitlines()) <= 100
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not target.startswith("https://") and not target.endswith(".png"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
