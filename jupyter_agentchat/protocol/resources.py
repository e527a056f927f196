"""What one can ask for over REST: chats, providers, projects, and the bodies of requests."""

from typing import Literal

from pydantic import Field

from .base import AnyObject, Id, Seq, Text, Timestamp, Wire
from .words import (
    Answer,
    AskKind,
    AttachmentKind,
    Attention,
    ChatState,
    Delivery,
    Mode,
    Permission,
    ProviderState,
    RefusalCode,
    ToolKind,
)


class Author(Wire):
    """Who: stamped by the server, never by a client."""

    username: Text
    name: Text


class Attachment(Wire):
    """Something handed over with a prompt; `path` absolute, `size` in bytes."""

    id: Id
    name: Text
    path: Text
    size: int = 0
    mime: Text = "application/octet-stream"
    kind: AttachmentKind = "file"
    detail: AnyObject | None = None


class AttachmentRef(Wire):
    """What a client sends: an upload's `id`, or `kind` and `path`; the server fills the rest."""

    id: Id | None = None
    kind: AttachmentKind | None = None
    path: Text | None = None
    detail: AnyObject | None = None


class ChatUsage(Wire):
    """Totals over the whole chat; unknown cost is null."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cost_usd: float | None = None


class ChatParent(Wire):
    """Where a fork came from."""

    chat_id: Id
    seq: Seq


class Wants(Wire):
    """What an open ask is about, for a line of the chat list; the ask itself is in `sync`.

    `tool`: what the agent wants to do, null for a question or a plan. `subject`: the command, path
    or question, on one line and cut short; nothing to act on.
    """

    kind: AskKind
    tool: ToolKind | None = None
    subject: Text = ""


class Chat(Wire):
    """A chat's metadata. `project` is relative to the server root, null when loose.

    `fork_pending`: agents whose conversation in `sessions` is still the parent's: the next run with
    one of them makes a copy of it. `queued`: how many prompts wait; `queue_paused`: for a person.
    `wants`: what the oldest open ask is about.
    """

    id: Id
    project: Text | None = None
    title: Text = ""
    provider: Id | None = None
    model: Text | None = None
    effort: Text | None = None
    service_tier: Text | None = None
    mode: Mode = "code"
    permission: Permission = "ask"
    effective_permission: Permission = "ask"
    skills: list[Text] = []
    sessions: dict[str, Text] = {}
    fork_pending: list[Text] = []
    parent: ChatParent | None = None
    created: Timestamp
    updated: Timestamp
    last_seq: Seq = 0
    unread: bool = False
    state: ChatState = "idle"
    attention: Attention | None = None
    wants: Wants | None = None
    queued: int = 0
    queue_paused: bool = False
    owner: Text = "owner"
    usage: ChatUsage = Field(default_factory=ChatUsage)
    archived: bool = False
    pinned: bool = False


class Model(Wire):
    """One model of a provider."""

    id: Id
    name: Text
    efforts: list[Text] = []
    tiers: list[Text] = []
    context_window: int | None = None
    default: bool = False


class ProviderFeatures(Wire):
    """What a provider can do; null or false where it cannot."""

    resume: bool = False
    fork: Literal["native", "transcript"] | None = None
    rewind: Literal["native", "transcript"] | None = None
    restore_files: bool = False
    steer: bool = False
    asks: bool = False
    questions: bool = False
    reasoning: bool = False
    plan_usage: bool = False
    skills: Literal["slash", "dollar", "path", "none"] = "none"
    images: bool = False
    mcp: Literal["per_chat", "per_process"] | None = None
    reattach: bool = False


class Account(Wire):
    """Who is signed in with the provider."""

    label: Text


class Provider(Wire):
    """An agent as the interface shows it. Hints are exact commands."""

    id: Id
    name: Text
    description: Text = ""
    state: ProviderState = "probing"
    available: bool = False
    reason: Text | None = None
    install_hint: Text | None = None
    sign_in_hint: Text | None = None
    version: Text | None = None
    min_version: Text | None = None
    account: Account | None = None
    models: list[Model] = []
    modes: list[Mode] = []
    permissions: list[Permission] = []
    permission_notes: dict[str, Text] = {}
    features: ProviderFeatures = Field(default_factory=ProviderFeatures)


class Project(Wire):
    """A directory under the server root that has chats, or was named."""

    path: Text
    name: Text
    chats: int = 0
    exists: bool = True
    trusted: bool | None = None


class ProjectLoad(Wire):
    """One thing of the project that an agent would load; `kind`: hooks, mcp, settings, skills."""

    agent: Id
    kind: Text
    path: Text


class Trust(Wire):
    """`trusted` null: nobody has decided on this digest yet."""

    trusted: bool | None
    digest: Text
    loads: list[ProjectLoad]


class ErrorBody(Wire):
    """The `error` of every REST answer that is not 2xx."""

    code: RefusalCode
    message: Text
    details: AnyObject = {}


# ---- bodies of requests ---------------------------------------------------------------------


class NewChat(Wire):
    """POST chats. What is left out comes from the person's last selection."""

    project: Text | None = None
    loose: bool = False
    provider: Id | None = None
    title: Text | None = Field(default=None, max_length=300)
    model: Text | None = Field(default=None, max_length=200)
    effort: Text | None = Field(default=None, max_length=50)
    service_tier: Text | None = Field(default=None, max_length=50)
    mode: Mode | None = None
    permission: Permission | None = None
    skills: list[Text] | None = None


class ChatPatch(Wire):
    """PATCH chats/{id}: only the fields that are present change; null clears."""

    title: Text | None = Field(default=None, max_length=300)
    provider: Id | None = None
    model: Text | None = Field(default=None, max_length=200)
    effort: Text | None = Field(default=None, max_length=50)
    service_tier: Text | None = Field(default=None, max_length=50)
    mode: Mode | None = None
    permission: Permission | None = None
    skills: list[Text] | None = None
    archived: bool | None = None
    pinned: bool | None = None


class Expect(Wire):
    """What the person saw when sending; another value now is refused as stale."""

    provider: Id | None = None
    model: Text | None = None
    mode: Mode | None = None
    effective_permission: Permission | None = None


class Prompt(Wire):
    """POST chats/{id}/prompts. The same `client_id` again gives the first answer again."""

    client_id: Id
    text: Text = Field(max_length=1_000_000)
    attachments: list[AttachmentRef] = []
    delivery: Delivery = "auto"
    expect: Expect | None = None


class AskAnswer(Wire):
    """POST chats/{id}/asks/{ask_id}. `option_id` names one of the ask's options."""

    decision: Answer
    option_id: Id | None = None
    answers: dict[str, list[Text] | Text] | None = None
    message: Text | None = Field(default=None, max_length=20_000)


class TrustDecision(Wire):
    """POST projects/trust?path="""

    trusted: bool
    digest: Text


class NewProject(Wire):
    """POST projects"""

    path: Text


class ReadMark(Wire):
    """POST chats/{id}/read: up to `seq`, or `unread: true`."""

    seq: Seq | None = None
    unread: bool = False


class Empty(Wire):
    """A body with nothing in it."""


class RunRequest(Wire):
    """What a provider adapter is asked to run; also an `op: run` of the native protocol.

    `prompt` is the effective prompt (mode policy applied), `cwd` absolute, `permission` effective.
    `transcript` is what the agent's conversation does not know, to be put before the prompt: all of
    the chat for a new one, what other agents did meanwhile for one that is resumed.
    """

    chat_id: Id
    run_id: Id
    prompt: Text
    attachments: list[Attachment] = []
    cwd: Text
    project: Text | None = None
    model: Text | None = None
    effort: Text | None = None
    service_tier: Text | None = None
    mode: Mode = "code"
    permission: Permission = "ask"
    provider_session_id: Text | None = None
    fork: bool = False
    transcript: Text | None = None
    skills: list[Text] = []
    browser: bool = False
    mcp_servers: AnyObject = {}
