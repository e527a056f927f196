"""Slash commands: opencode's own list of commands and skills, and how one is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...errors import ProviderError
from ...protocol.resources import RunRequest
from .link import OpencodeLink
from .permissions import agent_for
from .prompts import command_of
from .wire import Json, as_object, object_of, objects_in, text_of

COMPACT: Final = "compact"
"""A command of opencode's own interface: it is in no list."""
LONGEST_S: Final = 24 * 3600.0
"""A command is answered when its turn has ended, and that ends the run in any case."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a prompt that is a command becomes: the end of the path, and the body."""

    name: str
    end: str
    body: Json

    def refusal(self, error: ProviderError) -> ProviderError:
        """What to say when opencode would not run it: its own answer holds only a number."""
        return ProviderError(f"opencode could not run /{self.name}.", **error.details)


def compacts(request: RunRequest) -> bool:
    """Whether the prompt asks for room in the conversation's memory, and there is one."""
    found = command_of(request.prompt)
    return found is not None and found[0] == COMPACT and bool(request.provider_session_id)


async def listed(link: OpencodeLink, directory: str) -> list[tuple[str, str, str]]:
    """(name, description, source: `command`, `skill`, `mcp`) of all there are in a directory.

    Raises ProviderError.
    """
    answer = await link.call("GET", "/command", directory=directory)
    return [
        (text_of(one, "name"), text_of(one, "description"), text_of(one, "source") or "command")
        for one in objects_in(answer)
        if text_of(one, "name")
    ]


async def command_for(
    link: OpencodeLink, request: RunRequest, session: str, message: str, chosen: Json
) -> Command | None:
    """The command that the prompt is, None when it is words. Raises ProviderError.

    A slash that begins a path, or a name that opencode does not know, is words. `chosen` is the
    model, `message` the id that the prompt gets.
    """
    found = command_of(request.prompt)
    if found is None:
        return None
    name, arguments = found
    if compacts(request):
        model = object_of(chosen, "model") or await _model_of(link, request, session)
        return Command(name, "/summarize", {**model})
    if name not in {one for one, _, _ in await listed(link, request.cwd)}:
        return None
    body: Json = {
        "messageID": message,
        "command": name,
        "arguments": arguments,
        "agent": agent_for(request.permission),
    }
    if model := object_of(chosen, "model"):
        body["model"] = f"{text_of(model, 'providerID')}/{text_of(model, 'modelID')}"
    if text_of(chosen, "variant"):
        body["variant"] = text_of(chosen, "variant")
    return Command(name, "/command", body)


async def _model_of(link: OpencodeLink, request: RunRequest, session: str) -> Json:
    """The model that the conversation has used last."""
    answer = as_object(await link.call("GET", f"/session/{session}", directory=request.cwd))
    model = object_of(answer, "model")
    return {"providerID": text_of(model, "providerID"), "modelID": text_of(model, "id")}
