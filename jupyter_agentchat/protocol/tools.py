"""Typed inputs, outputs and diffs of tool calls.

`input` is a union on `kind`-shaped models; an adapter that cannot fill one uses `other`. Paths are
relative to the project where they lie in it, else absolute. Source: docs/protocol.md.
"""

from typing import Annotated, Literal

from pydantic import Field

from .base import AnyJson, AnyObject, Id, Text, Wire
from .words import FileChange


class ReadInput(Wire):
    """A file, or lines of it (1-based, inclusive)."""

    kind: Literal["read"] = "read"
    path: Text
    start_line: int | None = None
    end_line: int | None = None


class WriteInput(Wire):
    """A whole file; `size` in bytes."""

    kind: Literal["write"] = "write"
    path: Text
    size: int | None = None


class EditInput(Wire):
    """A change in a file; the diff comes with the ask or the end of the call."""

    kind: Literal["edit"] = "edit"
    path: Text


class SearchInput(Wire):
    """A search over file contents or names."""

    kind: Literal["search"] = "search"
    query: Text
    path: Text | None = None
    glob: Text | None = None


class ShellInput(Wire):
    """A command line, verbatim."""

    kind: Literal["shell"] = "shell"
    command: Text
    cwd: Text | None = None
    background: bool = False


class FetchInput(Wire):
    """A page."""

    kind: Literal["fetch"] = "fetch"
    url: Text


class WebSearchInput(Wire):
    """A web search."""

    kind: Literal["web_search"] = "web_search"
    query: Text


class NotebookInput(Wire):
    """Cells of a notebook; `op` is read, edit, insert, delete or run."""

    kind: Literal["notebook"] = "notebook"
    path: Text
    cells: list[Text] = []
    op: Text = "edit"


class QuestionInput(Wire):
    """The agent asks a person; the questions stand on the ask."""

    kind: Literal["question"] = "question"


class PlanInput(Wire):
    """The agent writes or proposes a plan."""

    kind: Literal["plan"] = "plan"


class SubagentInput(Wire):
    """Work handed to an agent of the agent."""

    kind: Literal["subagent"] = "subagent"
    description: Text
    agent: Text | None = None


class McpInput(Wire):
    """A tool of an MCP server."""

    kind: Literal["mcp"] = "mcp"
    server: Text
    tool: Text
    arguments: AnyJson = None


class OtherInput(Wire):
    """Anything we have no word for; see `raw_input`."""

    kind: Literal["other"] = "other"


ToolInput = Annotated[
    ReadInput
    | WriteInput
    | EditInput
    | SearchInput
    | ShellInput
    | FetchInput
    | WebSearchInput
    | NotebookInput
    | QuestionInput
    | PlanInput
    | SubagentInput
    | McpInput
    | OtherInput,
    Field(discriminator="kind"),
]


class TextBlock(Wire):
    """Plain text, with ANSI colour where the tool wrote it."""

    type: Literal["text"] = "text"
    text: Text


class ImageBlock(Wire):
    """A picture, base64."""

    type: Literal["image"] = "image"
    mime: Text
    data: Text


class JsonBlock(Wire):
    """A JSON value."""

    type: Literal["json"] = "json"
    value: AnyJson = None


class BlobBlock(Wire):
    """The whole of an output above 64 KiB, kept beside the log; `size` in bytes."""

    type: Literal["blob"] = "blob"
    blob_id: Id
    size: int
    mime: Text = "text/plain; charset=utf-8"


ContentBlock = Annotated[
    TextBlock | ImageBlock | JsonBlock | BlobBlock, Field(discriminator="type")
]


class Diff(Wire):
    """What a tool call did to a file: `patch` (a unified diff with header lines) or `old`/`new`."""

    path: Text
    change: FileChange = "update"
    old: Text | None = None
    new: Text | None = None
    patch: Text | None = None
    added: int = 0
    removed: int = 0


class AskOption(Wire):
    """One way to answer an ask. `leads_to` is the permission that a plan's approval sets."""

    id: Id
    label: Text
    decision: Literal["allow", "deny"]
    scope: Literal["once", "chat", "project", "notebook"] = "once"
    leads_to: Literal["read_only", "ask", "accept_edits", "full"] | None = None


class QuestionOption(Wire):
    """One choice of a question."""

    label: Text
    description: Text = ""


class Question(Wire):
    """One page of a question form."""

    id: Id
    header: Text = ""
    question: Text
    multi_select: bool = False
    options: list[QuestionOption] = []
    secret: bool = False
    allow_other: bool = True


class PlanEntry(Wire):
    """One line of a checklist."""

    text: Text
    status: Literal["pending", "in_progress", "completed"] = "pending"


class PlanWindow(Wire):
    """One usage window of the person's plan; `used_percent` 0 to 100."""

    name: Text
    used_percent: float
    resets_at: Text | None = None


RawInput = AnyObject | None
