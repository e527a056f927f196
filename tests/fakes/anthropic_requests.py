"""Reads a Messages API request as the Claude Code CLI makes it: what did the person say last?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

_NOISE = ("<local-command", "[Request interrupted", "Skill /", "[Image: source")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
# a message sent during a turn comes wrapped in an explanation of the CLI's own
_FOLDED = re.compile(
    r"The user sent a new message while you were working:\n(.*?)(?:\n\n|$)", re.DOTALL
)
_TASK_SUMMARY = re.compile(r"<task-notification>.*?<summary>(.*?)</summary>", re.DOTALL)
_CWD = re.compile(r"(?:Primary w|W)orking directory: ?([^\n\\\"]+)")
_PLAN_FILE = re.compile(r"(/[^\s\"'`\\]+/plans/[\w.-]+\.md)")


@dataclass(frozen=True)
class Context:
    """What a scenario may look at.

    `text` is the last human text, `step` counts the messages with tool results since then.
    """

    body: Json
    text: str
    step: int
    images: list[Json] = field(default_factory=list)

    @property
    def tools(self) -> set[str]:
        """Names of the tools that the CLI offers; none for its own helper calls."""
        return {str(tool.get("name")) for tool in self.body.get("tools", [])}

    @property
    def ended_task(self) -> str:
        """What the CLI tells of a background task, in a turn that it begins by itself; else ""."""
        newest = self.body.get("messages", [{}])[-1]
        texts = list(_texts(blocks_of(newest.get("content"))))
        found = _TASK_SUMMARY.search(" ".join(texts))
        return found[1] if found and not any(map(_human, texts)) else ""

    @property
    def wants_summary(self) -> bool:
        """Whether the CLI asks for a summary of the conversation, to make it shorter."""
        return "<summary>" in self.text and len(self.text) > 1000

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        return "\n".join(block.get("text", "") for block in blocks_of(self.body.get("system")))

    @property
    def cwd(self) -> str:
        """The CLI's working directory, which it writes into its prompt."""
        text = self.system + json.dumps(self.body.get("messages", [])[:2])
        found = _CWD.search(text)
        return found[1].strip() if found else "/tmp"  # noqa: S108 - never written to

    @property
    def plan_file(self) -> str | None:
        """In plan mode: the file that the plan belongs into."""
        found = _PLAN_FILE.search(json.dumps(self.body.get("messages", [])))
        return found[1] if found else None

    @property
    def last_result(self) -> str:
        """Text of the last tool result, "" when there is none."""
        for message in reversed(self.body.get("messages", [])):
            for block in reversed(blocks_of(message.get("content"))):
                if block.get("type") == "tool_result":
                    return " ".join(_texts(blocks_of(block.get("content"))))
        return ""


def read_context(body: Json) -> Context:
    """The context of a request body."""
    step = 0
    for message in reversed(body.get("messages", [])):
        if message.get("role") != "user":
            continue
        blocks = blocks_of(message.get("content"))
        images = [block for block in blocks if block.get("type") == "image"]
        said = [text for text in map(_human, _texts(blocks)) if text]
        if any(block.get("type") == "tool_result" for block in blocks):
            step += 1
            if said:
                return Context(body, said[-1], 0, images)
        elif said:
            return Context(body, said[-1], step, images)
    return Context(body, "", step)


def everything_said(body: Json) -> list[str]:
    """All human texts of a request, oldest first: what the agent still knows of the person."""
    texts = (
        _human(text)
        for message in body.get("messages", [])
        if message.get("role") == "user"
        for text in _texts(blocks_of(message.get("content")))
    )
    return [text for text in texts if text]


def blocks_of(content: Any) -> list[Json]:
    """Message content as blocks; it may also be a bare string."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or [])


def _texts(blocks: list[Json]) -> Iterator[str]:
    return (block.get("text", "") for block in blocks if block.get("type") == "text")


def _human(text: str) -> str:
    if text.lstrip().startswith(_NOISE):
        return ""
    text = _REMINDER.sub("", text)
    folded = _FOLDED.search(text)
    return (folded[1] if folded else text).strip()
