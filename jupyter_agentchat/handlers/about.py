"""status, providers, projects and trust: what the page needs before any chat."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ..chats.access import require_person
from ..errors import NotFound
from ..protocol.frames import PROTOCOL
from ..protocol.resources import NewProject, TrustDecision
from .base import RESOURCE, AgentChatHandler

FEATURES = (
    "queue", "steer", "rewind", "fork", "search", "uploads", "notebooks", "schedule", "workers",
)  # fmt: skip
BUILT = frozenset({"queue", "steer", "search", "rewind", "fork"})


class StatusHandler(AgentChatHandler):
    """GET api/status"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self) -> None:
        services = self.services
        health = services.store.health
        self.reply(
            {
                "version": services.version,
                "protocol": PROTOCOL,
                "epoch": services.store.epoch,
                "user": self.caller.author.model_dump(),
                "server_root": str(services.policies.server_root),
                "policies": services.policies.public(),
                "features": {name: name in BUILT for name in FEATURES},
                "store": {"writable": health.writable, "notice": health.notice},
            }
        )


class ProvidersHandler(AgentChatHandler):
    """GET api/providers: at once from the cache; the first call starts the background probe."""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    async def get(self) -> None:
        flight = self.services.providers.probe_all(refresh=self.flag("refresh"))
        providers = self.services.providers.list()
        self.reply(
            {
                "providers": [item.model_dump(mode="json") for item in providers],
                "probing": flight is not None,
            }
        )


class ProjectsHandler(AgentChatHandler):
    """GET, POST api/projects"""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self) -> None:
        projects = self.services.chats.projects.list(self.caller.username)
        self.reply({"projects": [item.model_dump(mode="json") for item in projects]})

    @web.authenticated
    @authorized(action="write", resource=RESOURCE)
    async def post(self) -> None:
        new = self.body(NewProject)
        project = await self.services.chats.projects.add(new.path, self.caller.username)
        self.reply(project, 201)


class TrustHandler(AgentChatHandler):
    """GET, POST api/projects/trust?path="""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    async def get(self) -> None:
        directory = self.services.chats.projects.resolve(self.get_query_argument("path", ""))
        self.reply(await self.services.trust.look(self.caller.username, directory))

    @web.authenticated
    @authorized(action="execute", resource=RESOURCE)
    async def post(self) -> None:
        decision = self.body(TrustDecision)
        directory = self.services.chats.projects.resolve(self.get_query_argument("path", ""))
        if decision.trusted:
            require_person(
                self.caller,
                allow_tokens=self.services.policies.allow_token_approvals,
                what="Trusting a project",
            )
        trust = await self.services.trust.decide(self.caller.username, directory, decision)
        self.services.queue.wake_held()
        self.reply(trust)


class NotHereHandler(AgentChatHandler):
    """Everything else below agentchat/: a JSON 404, but only for who is signed in."""

    @web.authenticated
    @authorized(action="read", resource=RESOURCE)
    def get(self) -> None:
        raise NotFound("There is nothing here.")

    post = put = patch = delete = get
