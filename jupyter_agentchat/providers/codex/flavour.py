"""The providers that this adapter is: Codex itself, and MiniMax through the same program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ...protocol.resources import Model
from ..settings import ProviderSettings

KEY_NAME: Final = "MINIMAX_API_KEY"
KEY_FILE_NAME: Final = "MINIMAX_API_KEY_FILE"
BASE_URL_NAME: Final = "MINIMAX_BASE_URL"
_BASE_URL: Final = "https://api.minimax.io/v1"
_KEY_LIMIT_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Flavour:
    """What differs between the providers: names, who serves the model, what it must be given."""

    id: str
    name: str
    description: str
    sign_in_hint: str
    """The command that signs a person in."""
    sign_in_help: str
    """The sentence for one whose prompt failed for want of it."""
    is_openai: bool = True
    """Signed in by Codex' own login, with OpenAI's catalogue of models."""
    models: tuple[Model, ...] = ()
    pass_names: tuple[str, ...] = field(default=())

    def overrides(self, environment: Mapping[str, str], default_model: str | None) -> list[str]:
        """The `-c` values of this flavour; no secret among them."""
        if self.is_openai:
            return []
        base = environment.get(BASE_URL_NAME) or _BASE_URL
        model = default_model or self.models[0].id
        table = (
            f"model_providers.{self.id}={{name={_toml(self.name)},base_url={_toml(base)},"
            f'wire_api="responses",env_key={_toml(KEY_NAME)},requires_openai_auth=false}}'
        )
        return [table, f"model_provider={_toml(self.id)}", f"model={_toml(model)}"]


CODEX: Final = Flavour(
    id="codex",
    name="Codex",
    description="OpenAI's coding agent, run by its own app server",
    sign_in_hint="codex login",
    sign_in_help="Run `codex login` in a terminal, then send the prompt again.",
    pass_names=("OPENAI_*", "AZURE_OPENAI_API_KEY"),
)

MINIMAX: Final = Flavour(
    id="minimax",
    name="MiniMax",
    description="MiniMax' models, worked by the Codex program",
    sign_in_hint=f"export {KEY_NAME}=...",
    sign_in_help=f"Start the server with {KEY_NAME}, or with the file of {KEY_FILE_NAME}.",
    is_openai=False,
    models=(Model(id="MiniMax-M2", name="MiniMax M2", default=True),),
    pass_names=(KEY_NAME,),
)


def key_of(settings: ProviderSettings, environment: Mapping[str, str]) -> str | None:
    """MiniMax' key: from the settings, the environment, or the file that one of them names.

    Reads a file; None where there is no key.
    """
    for source in (settings.env, environment):
        if source.get(KEY_NAME):
            return source[KEY_NAME]
        if named := source.get(KEY_FILE_NAME):
            try:
                with Path(named).open("rb") as file:
                    key = file.read(_KEY_LIMIT_BYTES).decode("utf-8", "replace").strip()
            except OSError:
                continue
            if key and "\n" not in key:
                return key
    return None


def _toml(text: str) -> str:
    """`text` as a TOML string."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else "?" for char in quoted) + '"'
