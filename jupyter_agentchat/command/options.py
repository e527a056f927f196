"""The command line: options, their help and their meaning as data."""

from __future__ import annotations

import argparse
from typing import get_args

from .._version import __version__
from ..protocol.words import PERMISSIONS, Mode

DESCRIPTION = """\
Chat with a coding agent from a terminal, a script or over ssh. Uses the running Jupyter server that
the project belongs to, or starts one for this command and stops it again; the chat is in JupyterLab
afterwards in both cases."""

EXIT_CODES = """\
exit codes:
  0  the run completed
  1  the run failed, or the server refused
  2  wrong usage
  3  cancelled: Ctrl-C here, or Stop in JupyterLab
  4  a person has to decide something first (trust, a higher permission)
  5  no server, or no such agent, or the agent is not installed or not signed in"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of `jupyter agentchat`."""
    parser = argparse.ArgumentParser(
        prog="jupyter agentchat",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_send(commands.add_parser("send", help="send a prompt and stream the answer"))
    _add_chats(commands.add_parser("chats", help="list chats"))
    _add_restore(commands.add_parser("restore", help="bring a deleted chat back"))
    _add_tail(commands.add_parser("tail", help="show the last turns of a chat, and follow it"))
    _add_export(commands.add_parser("export", help="write a chat to a file"))
    _add_doctor(commands.add_parser("doctor", help="which agents can be used, and why not"))
    return parser


def _add_send(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Sends a prompt and streams the answer to stdout. Tools, notices and asks go to stderr."
    )
    parser.epilog = EXIT_CODES
    parser.add_argument("text", metavar="TEXT", help="the prompt; - reads it from stdin")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--project", metavar="DIR", help="folder that the agent works in (default: this one)"
    )
    where.add_argument("--chat", metavar="ID", help="go on with this chat instead of a new one")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--queue",
        action="store_true",
        help="put it at the end of the queue of --chat and leave; without it, a prompt for a busy "
        "chat is queued too, and waited for",
    )
    how.add_argument(
        "--steer",
        action="store_true",
        help="put it into the running turn of --chat, where the agent can, and leave",
    )
    parser.add_argument("--agent", metavar="ID", help="agent, for example claude or tour")
    parser.add_argument("--model", metavar="ID", help="model of that agent")
    parser.add_argument("--mode", choices=get_args(Mode), help="mode of the chat")
    parser.add_argument(
        "--permission", choices=PERMISSIONS, help="what the agent may do without asking"
    )
    parser.add_argument(
        "--on-ask",
        choices=("wait", "deny"),
        help="when the agent asks: wait for an answer, or deny (default: wait; deny where nobody "
        "can answer)",
    )
    parser.add_argument(
        "--trust",
        choices=("yes", "no"),
        help="whether agents may load the project's own hooks, MCP servers and settings",
    )
    parser.add_argument("--json", action="store_true", help="print every event as a line of JSON")


def _add_chats(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False
    parser.description = "Lists chats, the latest activity first."
    parser.add_argument("--project", metavar="DIR", help="only chats of this folder")
    parser.add_argument("--deleted", action="store_true", help="those in the trash instead")
    parser.add_argument("--json", action="store_true", help="print every chat as a line of JSON")


def _add_restore(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False
    parser.description = "Brings a deleted chat back; `chats --deleted` lists what is in the trash."
    _add_chat(parser)


def _add_tail(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False
    parser.description = "Shows the last turns of a chat; with --follow, what comes until Ctrl-C."
    _add_chat(parser)
    parser.add_argument(
        "-n", "--turns", type=_turns, default=3, metavar="N", help="1 to 200; default: 3"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes")
    parser.add_argument("--json", action="store_true", help="print every event as a line of JSON")


def _turns(text: str) -> int:
    turns = int(text)
    if not 1 <= turns <= 200:
        raise ValueError(text)
    return turns


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False
    parser.description = (
        "Writes a whole chat: every event as JSON Lines, or the conversation as Markdown."
    )
    _add_chat(parser)
    parser.add_argument("--format", choices=("jsonl", "md"), default="jsonl")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: stdout")
    parser.add_argument(
        "--include-cut", action="store_true", help="also what was taken back by a rewind"
    )


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False
    parser.description = (
        "Looks at every agent as the server does, and prints the exact next command where one "
        "cannot be used. Ends with 0 when an agent is ready, else with 5."
    )
    parser.add_argument("--project", metavar="DIR", help="a folder of the server (default: this)")
    parser.add_argument("--agent", metavar="ID", help="only this one")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also models, permissions and features"
    )
    parser.add_argument("--json", action="store_true", help="print every agent as a line of JSON")


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chat", metavar="CHAT", help="id of the chat; see `chats`")
    parser.add_argument("--project", metavar="DIR", help="a folder of the server (default: this)")
