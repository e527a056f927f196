"""The controls of a conversation over REST: queue, rewind, fork, draft, search."""

from typing import Literal

from pydantic import Field

from .base import Id, Seq, Text, Timestamp, Wire
from .resources import Attachment, Author
from .words import QueuePause


class QueueItem(Wire):
    """A prompt that waits in a chat's queue. `held_reason`: why it could not be sent last time."""

    id: Id
    client_id: Id
    text: Text
    attachments: list[Attachment] = []
    author: Author
    created: Timestamp
    held_reason: Text | None = None


class Accepted(Wire):
    """202 of a prompt: it runs, it was put into a running turn (`steered`), or it waits."""

    run_id: Id | None = None
    queue_item: QueueItem | None = None
    steered: bool = False


class Queue(Wire):
    """GET chats/{id}/queue, in the order in which they run."""

    queue: list[QueueItem]
    paused: bool = False
    pause_reason: QueuePause | None = None


class QueueOrder(Wire):
    """PUT chats/{id}/queue: the ids of all items; another set is refused as stale."""

    order: list[Id]


class QueueItemPatch(Wire):
    """PATCH chats/{id}/queue/{item}"""

    text: Text = Field(max_length=1_000_000)


class RewindRequest(Wire):
    """POST chats/{id}/rewind: cut the `user` event `seq` and all that follows.

    `files`: put the files back as they were before that prompt, or keep them. `dry_run` changes
    nothing and lists the files. `overwrite`: paths that may be put back although they were changed
    since (a person has said so).
    """

    seq: Seq
    files: Literal["keep", "restore"] = "keep"
    dry_run: bool = False
    overwrite: list[Text] = []


class FileRestore(Wire):
    """What putting a file back does to it. `path` is relative to the project. `added`, `removed`:
    lines of text, told by a dry run where it can compare them; null where it cannot."""

    path: Text
    change: Literal["restore", "delete", "create"]
    added: int | None = None
    removed: int | None = None


class FileKept(Wire):
    """A file that is left as it is, and why."""

    path: Text
    reason: Text
    overwritable: bool = False


class RestoredPrompt(Wire):
    """The prompt that a rewind gave back to the composer."""

    text: Text
    attachments: list[Attachment] = []


class RewindResult(Wire):
    """Answer to a rewind, its dry run, or its undo. `undo`: whether it can be undone now."""

    prompt: RestoredPrompt
    method: Literal["native", "transcript"]
    files: list[FileRestore] = []
    kept: list[FileKept] = []
    queue: list[QueueItem] = []
    undo: bool = False


class ForkRequest(Wire):
    """POST chats/{id}/fork: a new chat with the events up to `after_seq` (all, if left out)."""

    after_seq: Seq | None = None


class Draft(Wire):
    """GET chats/{id}/draft: what a person has typed and not sent. `revision` 0: nothing kept."""

    text: Text = ""
    attachments: list[Attachment] = []
    revision: int = 0


class DraftUpdate(Wire):
    """PUT chats/{id}/draft; `revision` is that of the draft it was made from, else `stale`."""

    text: Text = Field(max_length=1_000_000)
    attachments: list[Attachment] = []
    revision: int = Field(ge=0)


class SearchHit(Wire):
    """One event that matches. The matches in `snippet` stand between U+E000 and U+E001."""

    chat_id: Id
    seq: Seq
    title: Text
    snippet: Text
    time: Timestamp


class SearchResult(Wire):
    """GET search: the best hits first; `more`: there are others."""

    hits: list[SearchHit]
    more: bool = False


class DeletedChat(Wire):
    """A chat in the trash. POST chats/{id}/restore brings it back."""

    id: Id
    title: Text
    project: Text | None = None
    provider: Id | None = None
    deleted: Timestamp


class TrashList(Wire):
    """GET trash, latest first; `days`: how long a chat stays in it."""

    chats: list[DeletedChat]
    days: float
