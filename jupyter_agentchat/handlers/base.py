"""The base of every REST handler: who asks, a checked body, errors as JSON. Nothing else is shared.

Each method of a subclass carries `@web.authenticated` and an explicit
`@authorized(action=..., resource="agentchat")`: never on a base method, where the first subclass's
resource would be kept for all (security §4, trap 2).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async
from pydantic import BaseModel, ValidationError
from tornado.web import HTTPError

from ..chats.access import OWNER, Caller
from ..chats.drafts import Drafts
from ..chats.fork import Forks
from ..chats.policies import Policies
from ..chats.prompts import Prompts
from ..chats.queue import PromptQueue
from ..chats.rewind import Rewinds
from ..chats.search import Search
from ..chats.service import ChatService
from ..chats.trash import Trash
from ..chats.trust import TrustKeeper
from ..errors import AgentChatError, BadRequest, TooLarge
from ..process.tasks import TaskOwner
from ..providers.registry import ProviderRegistry
from ..runs.hub import Hub
from ..store.base import Store

RESOURCE = "agentchat"
BODY_LIMIT_BYTES = 4 * 1024 * 1024

BodyT = TypeVar("BodyT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Services:
    """What handlers may call; built once by the extension."""

    store: Store
    hub: Hub
    chats: ChatService
    prompts: Prompts
    queue: PromptQueue
    drafts: Drafts
    search: Search
    trash: Trash
    rewinds: Rewinds
    forks: Forks
    trust: TrustKeeper
    policies: Policies
    providers: ProviderRegistry
    tasks: TaskOwner
    owner_name: str
    version: str


def identify(handler: Any, owner_name: str) -> Caller:
    """The person behind an authenticated request.

    Under a Hub, its user name. Without one every name is random: everyone is the one owner.
    """
    user = handler.current_user
    by_token = bool(handler.token_authenticated)
    if type(handler.identity_provider).__module__.startswith("jupyterhub"):
        return Caller(user.username, user.name or user.username, by_token)
    return Caller(OWNER.username, owner_name or OWNER.name, by_token)


def describe(error: ValidationError) -> list[dict[str, str]]:
    """Where and why a body is wrong, without repeating its values (they may be secret)."""
    return [
        {"field": ".".join(map(str, item["loc"])), "problem": item["msg"]}
        for item in error.errors(include_url=False, include_input=False, include_context=False)[:20]
    ]


class AgentChatHandler(APIHandler):
    """JSON in, JSON out."""

    def initialize(self, services: Services) -> None:
        self.services = services

    @property
    def caller(self) -> Caller:
        return identify(self, self.services.owner_name)

    async def person(self) -> Caller:
        """The caller, with whether the authorizer lets them run agents: needed for a raise."""
        may_execute = await ensure_async(
            self.authorizer.is_authorized(self, self.current_user, "execute", RESOURCE)
        )
        return replace(self.caller, may_execute=bool(may_execute))

    def body(self, model: type[BodyT]) -> BodyT:
        """The checked body; an empty one counts as `{}`. Raises BadRequest, TooLarge."""
        raw = self.request.body or b"{}"
        if len(raw) > BODY_LIMIT_BYTES:
            raise TooLarge("The request is too large.", limit_bytes=BODY_LIMIT_BYTES)
        try:
            return model.model_validate_json(raw, strict=True)
        except ValidationError as error:
            raise BadRequest("The request is malformed.", problems=describe(error)) from None

    def number(
        self, name: str, default: int | None = None, maximum: int | None = None
    ) -> int | None:
        """A query argument that is a whole number >= 0; above `maximum` it is capped."""
        text = self.get_query_argument(name, None)
        if text is None or text == "":
            return default
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise BadRequest(f"{name} must be a whole number.", field=name)
        value = int(text)
        return min(value, maximum) if maximum is not None else value

    def flag(self, name: str) -> bool:
        """A query argument that is on for `1` and `true`."""
        return self.get_query_argument(name, "") in ("1", "true")

    def reply(self, value: Any, status: int = 200) -> None:
        """Finish with a model, or plain JSON data."""
        text = value.model_dump_json() if isinstance(value, BaseModel) else json.dumps(value)
        self.set_status(status)
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.set_header("Cache-Control", "no-store")
        self.finish(text)

    # ---- errors -----------------------------------------------------------------------------

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Refusals are not worth a traceback; no headers are ever logged (A6)."""
        if isinstance(value, AgentChatError):
            self.log.debug("%s %s: %s", self.request.method, self.request.path, value.code)
        elif isinstance(value, HTTPError):
            self.log.debug("%s %s: %s", self.request.method, self.request.path, value.status_code)
        else:
            self.log.error("agentchat: a request failed", exc_info=(typ, value, tb))

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """The status of an AgentChatError is its own."""
        error = (kwargs.get("exc_info") or (None, None, None))[1]
        if isinstance(error, AgentChatError):
            status_code = error.status
        super().send_error(status_code, **kwargs)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """`{"error": {code, message, details}}` for everything."""
        error = (kwargs.get("exc_info") or (None, None, None))[1]
        if isinstance(error, AgentChatError):
            body = {"code": error.code, "message": error.message, "details": error.details}
        else:
            code, message = HTTP_CODES.get(status_code, ("internal", "Something went wrong."))
            body = {"code": code, "message": message, "details": {}}
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.finish(json.dumps({"error": body}))


HTTP_CODES = {
    400: ("bad_request", "The request is malformed."),
    401: ("unauthenticated", "Sign in to this Jupyter server first."),
    403: ("forbidden", "Not allowed: sign in, or ask for access."),
    404: ("not_found", "There is nothing here."),
    405: ("bad_request", "This address does not take that method."),
    413: ("too_large", "The request is too large."),
}
