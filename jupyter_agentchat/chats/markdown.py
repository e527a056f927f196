"""A chat as Markdown: what was said, what was done, in the order of the thread.

What people and agents wrote stands as it is; output of tools stands in fences that it cannot close.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..protocol.events import (
    Ask,
    AskResolved,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Forked,
    Notice,
    ResumeRefused,
    RunStarted,
    ToolUseEnd,
    ToolUseStart,
    User,
)
from ..protocol.resources import Chat
from ..protocol.tools import TextBlock

OUTPUT_LIMIT_CHARS = 4_000
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_FENCES = re.compile(r"`{3,}")


class ChatMarkdown:
    """Takes the events of one chat in seq order and gives the text of what is ready.

    The parts of a turn are held until it ends: a final may have come behind what stands after it.
    """

    def __init__(self, name_of: Callable[[str], str] = str) -> None:
        """`name_of` gives the name of an agent by its id."""
        self._name_of = name_of
        self._parts: dict[int, str] = {}
        self._said: dict[str, tuple[int, str]] = {}
        self._calls: dict[str, tuple[int, str]] = {}
        self._asks: dict[str, tuple[int, Ask]] = {}

    def heading(self, chat: Chat) -> str:
        """Title and facts."""
        name = self._agent(chat.provider) if chat.provider else ""
        agent = " · ".join(word for word in (name, chat.model) if word)
        where = "without a project" if chat.project is None else f"project `{chat.project or '.'}`"
        facts = " · ".join(word for word in (agent, where, f"begun {chat.created[:10]}") if word)
        return f"# {_one_line(chat.title) or 'Chat'}\n\n{facts}\n"

    def event(self, seq: int, time: str, body: EventBody) -> str:
        """Take one event; the text that is ready because of it, often none."""
        match body:
            case User():
                turn = self.end()
                files = "".join(f"\n- attached: `{it.path or it.name}`" for it in body.attachments)
                head = f"## {_one_line(body.author.name)}, {_clock(time)}"
                return f"{turn}\n{head}\n\n{body.text}\n{files}"
            case RunStarted():
                self._parts[seq] = f"### {self._agent(body.provider)}, {_clock(time)}"
            case AssistantText():
                at, text = self._said.get(body.item_id, (body.first_seq or seq, ""))
                text = (body.text or "") if body.final else text + (body.delta or "")
                self._said[body.item_id] = (at, text)
                self._parts[at] = text
            case ToolUseStart():
                at, _ = self._calls.get(body.tool_id, (seq, ""))
                self._calls[body.tool_id] = (at, _subject(body))
                self._parts[at] = f"**{self._calls[body.tool_id][1]}**"
            case ToolUseEnd():
                at, subject = self._calls.pop(body.tool_id, (seq, "tool"))
                self._parts[at] = _call(subject, body)
            case Ask():
                self._asks[body.ask_id] = (seq, body)
                self._parts[seq] = f"*Asked: {_one_line(body.title)}*"
            case AskResolved():
                at, ask = self._asks.pop(body.ask_id, (seq, None))
                title = f"Asked: {_one_line(ask.title)}: " if ask else ""
                by = f" by {_one_line(body.by.name or body.by.username)}" if body.by else ""
                self._parts[at] = f"*{title}{body.decision}{by}*"
            case Notice() if body.level != "info":
                self._parts[seq] = _quote(body.text)
            case Error():
                hint = f"\n{body.hint}" if body.hint else ""
                self._parts[seq] = _quote(f"**{_one_line(body.message)}**{hint}")
            case ResumeRefused():
                self._parts[seq] = _quote("A new conversation with the agent began here.")
            case Forked():
                self._parts[seq] = _quote(f"Forked from chat {body.from_chat}.")
            case Complete() if body.outcome != "completed":
                self._parts[seq] = f"*The run was {body.outcome}.*"
            case _:
                pass
        return ""

    def _agent(self, provider: str) -> str:
        return _one_line(self._name_of(provider))

    def end(self) -> str:
        """What is held, in its order."""
        parts = [text for _, text in sorted(self._parts.items()) if text.strip()]
        self._parts.clear()
        self._said.clear()
        return "".join(f"\n{part.rstrip()}\n" for part in parts)


def _subject(call: ToolUseStart) -> str:
    given = call.input.model_dump()
    words = (given.get(name) for name in ("command", "path", "query", "url", "description"))
    subject = next((word for word in words if word), None) or call.title or call.name
    return f"{call.kind}: {_one_line(str(subject))}"


def _call(subject: str, end: ToolUseEnd) -> str:
    status = "" if end.status == "completed" else f" ({end.status})"
    exit_code = f" (exit code {end.exit_code})" if end.exit_code else ""
    pieces = [f"**{subject}**{status}{exit_code}"]
    for diff in end.diffs or []:
        patch = diff.patch or ""
        pieces.append(_fenced(patch, "diff") if patch else f"- `{diff.path}` ({diff.change})")
    if not end.diffs:
        text = "\n".join(block.text for block in end.output if isinstance(block, TextBlock))
        if text.strip():
            pieces.append(_fenced(text))
    return "\n\n".join(pieces)


def _fenced(text: str, language: str = "") -> str:
    """In a fence longer than any inside; cut where it is very long, and said so."""
    text = _ANSI.sub("", text)
    more = len(text) - OUTPUT_LIMIT_CHARS
    if more > 0:
        text = f"{text[:OUTPUT_LIMIT_CHARS]}\n… {more} more characters"
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _clock(time: str) -> str:
    return f"{time[:10]} {time[11:16]} UTC"
