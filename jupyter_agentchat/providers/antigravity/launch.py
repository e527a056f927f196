"""How `agy` is started for a turn: arguments, environment, the prompt's line. Pure.

Without a terminal it cannot ask: a call that needs permission is denied by it, unless all are
allowed beforehand. So only `full` lets it act, which the interface says.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ...errors import ProviderError
from ...process.environment import build_environment
from ...protocol.resources import ProjectLoad, RunRequest
from ..settings import ProviderSettings
from .wire import Json

PROVIDER: Final = "antigravity"
NAME: Final = "Antigravity"
PASSED: Final = ("ANTIGRAVITY_*", "GEMINI_API_KEY", "GOOGLE_*")
LOADED: Final = {
    ".antigravity": "settings",
    ".agents": "settings",
    ".gemini": "settings",
    "AGENTS.md": "instructions",
    "GEMINI.md": "instructions",
}
"""What it takes from a project, as far as its makers say."""

_MODEL: Final = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,150}")
_EFFORTS: Final = ("low", "medium", "high", "max")
_ID: Final = re.compile(r"[A-Za-z0-9][\w.:-]{0,150}")
_FILES_PER_FOLDER: Final = 200


class NotTrustedHere(ProviderError):
    """It would load the project's configuration, and nobody has said yes to it."""

    event_code = "not_trusted"


def arguments(request: RunRequest, settings: ProviderSettings) -> list[str]:
    """The arguments behind the program's name. Never a prompt, never a secret.

    Values stand in one token with their flag. Raises ProviderError for what cannot be a name.
    """
    args = ["--input-format=stream-json", "--output-format=stream-json"]
    model = request.model or settings.default_model
    if model and model != "default":
        if request.effort in _EFFORTS and not model.endswith(_EFFORTS):
            model = f"{model}-{request.effort}"
        args.append(f"--model={_checked('model', model, _MODEL)}")
    if request.provider_session_id is not None:
        args.append(f"--conversation={_checked('session id', request.provider_session_id, _ID)}")
    if request.permission == "full":
        args.append("--dangerously-skip-permissions")
    return args


def environment(source: Mapping[str, str], settings: ProviderSettings) -> dict[str, str]:
    """The whole environment of the program and of what it runs."""
    return build_environment(
        source, pass_names=(*PASSED, *settings.pass_env), extra=dict(settings.env)
    )


def prompt_line(request: RunRequest) -> str:
    """The prompt; a transcript stands before it in a block of its own. Images go by their path."""
    texts = [request.transcript, request.prompt] if request.transcript else [request.prompt]
    texts += [
        f"Attached image: {one.path}"
        for one in request.attachments
        if one.kind == "image" and one.path not in request.prompt
    ]
    message: Json = {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}
    return json.dumps({"event": "user", "message": message}, ensure_ascii=False)


def project_loads(directory: Path, top: Path) -> list[ProjectLoad]:
    """What `directory` and its parents up to `top` would make it load; reads names only."""
    found: list[ProjectLoad] = []
    above = [one for one in directory.parents if one.is_relative_to(top)]
    for place in (directory, *above):
        for name, kind in LOADED.items():
            for path in _files(place / name):
                shown = os.path.relpath(path, directory)
                found.append(ProjectLoad(agent=PROVIDER, kind=kind, path=shown))
    return found


def refuse_untrusted(cwd: Path) -> None:
    """Raises NotTrustedHere: it cannot be told to leave a project's own alone."""
    top = next((one for one in (cwd, *cwd.parents) if (one / ".git").exists()), cwd)
    if loads := project_loads(cwd, top):
        raise NotTrustedHere(
            f"{NAME} would load {loads[0].path}, and cannot be started without it.",
            hint="Trust this folder, or choose another agent.",
        )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.exists() else []
    found: list[Path] = []
    for parent, folders, files in os.walk(path):
        folders.sort()
        for name in sorted(files):
            if len(found) == _FILES_PER_FOLDER:
                return [*found, path]
            found.append(Path(parent, name))
    return found


def _checked(what: str, value: str, pattern: re.Pattern[str]) -> str:
    if not pattern.fullmatch(value):
        raise ProviderError(
            f"This {what} cannot be given to {NAME}: {value[:80]!r}.",
            hint=f"Choose another {what}." if what == "model" else "Start a new chat.",
        )
    return value
