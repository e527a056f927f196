"""A chat as Markdown: in the order of the thread, and nothing in it breaks out of its place."""

from __future__ import annotations

from typing import Any

from jupyter_agentchat.chats.export import file_name
from jupyter_agentchat.chats.markdown import OUTPUT_LIMIT_CHARS, ChatMarkdown
from jupyter_agentchat.protocol.events import (
    Ask,
    AskResolved,
    AssistantText,
    Complete,
    Error,
    EventBody,
    RunStarted,
    ToolUseEnd,
    ToolUseStart,
    User,
)
from jupyter_agentchat.protocol.resources import Author, Chat
from jupyter_agentchat.protocol.tools import Diff, ShellInput, TextBlock

WHEN = "2026-11-30T12:34:56.000Z"
YOU = Author(username="owner", name="You")


def written(*bodies: EventBody) -> str:
    document = ChatMarkdown({"claude": "Claude Code"}.__getitem__)
    return "".join(document.event(n, WHEN, body) for n, body in enumerate(bodies, 1)) + (
        document.end()
    )


def shell(tool_id: str = "t", **end: Any) -> tuple[EventBody, EventBody]:
    call = ToolUseStart(
        tool_id=tool_id, name="Bash", kind="shell", input=ShellInput(command="ls\n-l")
    )
    return call, ToolUseEnd(tool_id=tool_id, **end)


def test_a_turn_reads_as_it_was() -> None:
    call, end = shell(output=[TextBlock(text="\x1b[31ma.txt\x1b[0m")], exit_code=2, status="failed")
    text = written(
        User(text="hello", author=YOU, client_id="1"),
        RunStarted(provider="claude", mode="code", permission="ask", continuation="fresh", cwd="/"),
        AssistantText(item_id="a", delta="Let me "),
        AssistantText(item_id="a", delta="look."),
        call,
        Ask(ask_id="q", kind="permission", title="Run ls?"),
        AskResolved(ask_id="q", decision="allow", by=YOU),
        end,
        AssistantText(item_id="a", text="Let me look!", final=True, first_seq=3),
        Complete(outcome="cancelled"),
    )
    assert text == (
        "\n## You, 2026-11-30 12:34 UTC\n\nhello\n"
        "\n### Claude Code, 2026-11-30 12:34 UTC\n"
        "\nLet me look!\n"
        "\n**shell: ls -l** (failed) (exit code 2)\n\n```\na.txt\n```\n"
        "\n*Asked: Run ls?: allow by You*\n"
        "\n*The run was cancelled.*\n"
    )


def test_the_heading_names_the_agent_as_people_do_and_one_that_is_gone_by_its_id() -> None:
    chat = Chat(
        id="c1", title="Loader", provider="claude", model="opus", created=WHEN, updated=WHEN
    )
    names = {"claude": "Claude Code"}
    document = ChatMarkdown(lambda agent: names.get(agent, agent))
    assert "\n\nClaude Code · opus · " in document.heading(chat)
    assert "\n\nkiro · opus · " in document.heading(chat.model_copy(update={"provider": "kiro"}))


def test_output_cannot_close_its_fence() -> None:
    text = written(*shell(output=[TextBlock(text="````\n# not a heading\n````")]))
    assert "`````\n````\n# not a heading\n````\n`````" in text


def test_very_long_output_is_cut_and_says_so() -> None:
    text = written(*shell(output=[TextBlock(text="x" * (OUTPUT_LIMIT_CHARS + 5))]))
    assert "… 5 more characters" in text


def test_a_change_of_a_file_is_a_diff() -> None:
    patch = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"
    text = written(*shell(diffs=[Diff(path="a", patch=patch), Diff(path="b", change="delete")]))
    assert f"```diff\n{patch}```" in text
    assert "- `b` (delete)" in text


def test_an_error_is_a_quotation_with_its_hint() -> None:
    text = written(Error(code="process_exit", message="It\nended.", hint="Try\nagain."))
    assert "> **It ended.**\n> Try\n> again." in text


def test_the_file_name_is_safe_in_a_header() -> None:
    chat = Chat(id="c1", title='../"x"\r\nSet-Cookie: é', created=WHEN, updated=WHEN)
    assert file_name(chat, "md") == "x-Set-Cookie-c1.md"
    assert file_name(chat.model_copy(update={"title": "日本"}), "jsonl") == "chat-c1.jsonl"
