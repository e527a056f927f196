"""Whether the program is here, new enough and signed in; with the exact next command if not."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, get_args

from ..._version import __version__
from ...errors import NotInstalled, ProviderError
from ...process.ladder import Ladder
from ...process.launcher import Spawn
from ...process.tasks import TaskOwner
from ...protocol.resources import Account, Model, Provider, ProviderFeatures
from ...protocol.words import PERMISSIONS, Mode
from ..base import AdapterContext
from .flavour import KEY_NAME, Flavour, key_of
from .link import CodexLink
from .models import configured, models_of
from .program import INSTALL_HINT
from .wire import MIN_VERSION, Json, numbers, object_of, text_of, true_at

PROBE_TIMEOUT_S: Final = 5.0
_LADDER: Final = Ladder(eof_s=1.0, term_s=0.5, kill_s=1.0)
_FEATURES: Final = ProviderFeatures(
    resume=True,
    fork="native",
    rewind="native",
    restore_files=False,
    steer=True,
    asks=True,
    questions=True,
    reasoning=True,
    plan_usage=True,
    skills="dollar",
    images=True,
    mcp="per_chat",
)
_NOTES: Final = {
    "read_only": "MCP servers' tools that say of themselves to change nothing are not asked for.",
    "full": "Codex asks for nothing and runs without its sandbox.",
}
_KINDS: Final = {"apiKey": "API key", "chatgpt": "ChatGPT", "amazonBedrock": "Amazon Bedrock"}


class Prober:
    """Asks an app server for its facts: the running one, else one of its own that ends after."""

    def __init__(
        self,
        flavour: Flavour,
        context: AdapterContext,
        tasks: TaskOwner,
        spawn: Callable[[Path, str], Awaitable[Spawn]],
    ) -> None:
        self._flavour = flavour
        self._context = context
        self._tasks = tasks
        self._spawn = spawn

    async def probe(self, running: CodexLink | None) -> Provider:
        """See `base.Adapter.probe`; never raises."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                if running is not None and running.version:
                    return await self._facts(running)
                return await self._started()
        except NotInstalled as error:
            return self.provider(state="missing", reason=error.message, install_hint=error.hint)
        except TimeoutError:
            return self.provider(
                state="error", reason=f"It did not answer in {PROBE_TIMEOUT_S:g} s."
            )
        except ProviderError as error:
            return self.provider(state="error", reason=error.message, install_hint=error.hint)

    def provider(self, **fields: object) -> Provider:
        """A `Provider` of this flavour with `fields`."""
        features = _FEATURES
        if not self._flavour.is_openai:
            features = features.model_copy(update={"plan_usage": False})
        return Provider.model_validate(
            {
                "id": self._flavour.id,
                "name": self._flavour.name,
                "description": self._flavour.description,
                "min_version": MIN_VERSION,
                "modes": list(get_args(Mode)),
                "permissions": list(PERMISSIONS),
                "permission_notes": _NOTES,
                "features": features,
                **fields,
            }
        )

    async def _started(self) -> Provider:
        child_id = f"{self._flavour.id}-probe-{uuid.uuid4().hex}"
        spawn = await self._spawn(self._context.scratch, child_id)
        handle = await self._context.for_probes.spawn(spawn)
        link = CodexLink(handle, self._tasks, attached=False)
        try:
            await link.begin(__version__)
            return await self._facts(link)
        finally:
            await link.close()
            await asyncio.shield(self._tasks.spawn(handle.stop(_LADDER), name="end the probe"))

    async def _facts(self, link: CodexLink) -> Provider:
        version = link.version
        try:
            old = numbers(version.split("-")[0]) < numbers(MIN_VERSION)
        except ValueError:
            reason = "It does not say its version."
            return self.provider(state="error", reason=reason, install_hint=INSTALL_HINT)
        if old:
            return self.provider(
                state="too_old",
                version=version,
                reason=f"Version {version} is older than {MIN_VERSION}.",
                install_hint=INSTALL_HINT,
            )
        settings = self._context.settings
        models = configured(await self._models(link), settings.models, settings.default_model)
        account, signed_out = await self._account(link)
        if signed_out:
            return self.provider(
                state="signed_out",
                version=version,
                models=models,
                reason="Nobody is signed in.",
                sign_in_hint=self._flavour.sign_in_hint,
            )
        return self.provider(
            state="ready", available=True, version=version, account=account, models=models
        )

    async def _models(self, link: CodexLink) -> list[Model]:
        if not self._flavour.is_openai:
            # for another server Codex lists OpenAI's models all the same
            return list(self._flavour.models)
        return models_of(await link.request("model/list", {}))

    async def _account(self, link: CodexLink) -> tuple[Account | None, bool]:
        """(who, whether somebody must sign in first)."""
        if not self._flavour.is_openai:
            if key_of(self._context.settings, self._context.environment) is None:
                return None, True
            return Account(label=f"API key in {KEY_NAME}"), False
        answer = await link.request("account/read", {})
        account = object_of(answer, "account")
        if not account:
            return None, true_at(answer, "requiresOpenaiAuth")
        return Account(label=_label(account)), False


def _label(account: Json) -> str:
    kind = text_of(account, "type")
    who = text_of(account, "email") or _KINDS.get(kind, kind or "signed in")
    plan = text_of(account, "planType")
    return f"{who} ({plan})" if plan else who
