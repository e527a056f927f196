"""How opencode is started: arguments and environment. Pure.

What differs between two processes is only whether they may load a project's own configuration: its
plugins and MCP servers run in the process itself. All else is said for each conversation.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ...process.environment import build_environment
from ...process.launcher import Spawn
from ..settings import ProviderSettings
from .permissions import BASE

TRUSTED: Final = "trusted"
UNTRUSTED: Final = "untrusted"
USER: Final = "opencode"
FEED: Final = Path(__file__).with_name("feed.py")

PASSED: Final = (
    *("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "OPENCODE_API_KEY"),
    *("OPENCODE_MODELS_URL", "OPENCODE_DISABLE_*", "OPENCODE_EXPERIMENTAL*"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    # the keys of model providers that its documentation names
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
    *("GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY"),
    *("XAI_API_KEY", "TOGETHER_API_KEY", "FIREWORKS_API_KEY", "CEREBRAS_API_KEY", "HF_TOKEN"),
    *(
        "MOONSHOT_API_KEY",
        "MINIMAX_API_KEY",
        "ZHIPU_API_KEY",
        "DEEPINFRA_API_KEY",
        "NVIDIA_API_KEY",
    ),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"),
    *("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "GOOGLE_APPLICATION_CREDENTIALS"),
    *("GOOGLE_CLOUD_PROJECT", "VERTEX_LOCATION", "AZURE_API_KEY", "AZURE_RESOURCE_NAME"),
    *("AZURE_COGNITIVE_SERVICES_RESOURCE_NAME", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN"),
)
"""opencode's documented variables that the server's environment may hold."""

_UNTRUSTED: Final = {
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    # skills in .claude and .agents do not count as configuration; the person's own are lost as well
    "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
    "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS": "1",
}
_DEFAULTS: Final = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    # servers get the question tool only when somebody says that there is a form to answer
    "OPENCODE_ENABLE_QUESTION_TOOL": "1",
    # where a project has plugins it installs a package; without a network that took two minutes
    "npm_config_fetch_retries": "1",
    "npm_config_fetch_retry_mintimeout": "1000",
}


def build_spawn(
    command: Sequence[str],
    source: Mapping[str, str],
    settings: ProviderSettings,
    *,
    child_id: str,
    secret: str,
    trusted: bool,
) -> Spawn:
    """The shared process. Its directory is none: every request names the one it is about."""
    return Spawn(
        argv=(
            *(sys.executable, "-I", "-S", str(FEED)),
            *(*command, "serve", "--hostname", "127.0.0.1", "--port", "0"),
        ),
        cwd=Path("/"),
        env=environment(source, settings, trusted=trusted, secret=secret),
        child_id=child_id,
    )


def environment(
    source: Mapping[str, str], settings: ProviderSettings, *, trusted: bool, secret: str = ""
) -> dict[str, str]:
    """The whole environment of opencode and of what it runs (security.md §6)."""
    fixed = {
        "OPENCODE_SERVER_USERNAME": USER,
        "OPENCODE_SERVER_PASSWORD": secret,
        "OPENCODE_PERMISSION": json.dumps(BASE),
    }
    if not trusted:
        fixed |= _UNTRUSTED
    return build_environment(
        source,
        pass_names=(*PASSED, *settings.pass_env),
        extra={**_DEFAULTS, **settings.env},
        fixed=fixed,
    )
