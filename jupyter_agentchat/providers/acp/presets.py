"""The ACP agents that we know by name, and the factories that entry points name.

Gemini CLI and Qwen Code were tried as real programs (tests/agents), and older ones are refused: how
they keep a project's configuration out was shown of these. Of the others only what their makers
document stands here; in a folder that is not trusted they are not started if it holds anything for
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...errors import NotInstalled
from ...process.executable import find_executable
from ..base import AdapterContext
from .adapter import AcpAdapter
from .agents import MODE_NAMES, AcpAgent, Untrusted

_INSTRUCTIONS: Final = {"AGENTS.md": "instructions"}

GEMINI: Final = AcpAgent(
    id="gemini",
    name="Gemini CLI",
    argv=("gemini", "--acp"),
    description="Google's coding agent, over the Agent Client Protocol",
    # it would start itself a second time to give itself more memory
    env={"GEMINI_CLI_NO_RELAUNCH": "true"},
    pass_env=("GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_*"),
    install_hint="npm install -g @google/gemini-cli@0.61.0",
    sign_in_hint="gemini",
    min_version="0.61.0",
    loads={".gemini": "settings", "GEMINI.md": "instructions", ".env": "environment"},
    untrusted=Untrusted(env={"GEMINI_CLI_TRUST_WORKSPACE": "false"}),
    trusted_env={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
)

QWEN: Final = AcpAgent(
    id="qwen",
    name="Qwen Code",
    argv=("qwen", "--acp"),
    description="Alibaba's coding agent, over the Agent Client Protocol",
    env={"QWEN_CODE_NO_RELAUNCH": "true"},
    pass_env=("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_*", "QWEN_HOME"),
    install_hint="npm install -g @qwen-code/qwen-code@0.24.4",
    sign_in_hint="qwen",
    min_version="0.24.4",
    loads={
        ".qwen": "settings",
        "QWEN.md": "instructions",
        **_INSTRUCTIONS,
        ".env": "environment",
        ".mcp.json": "mcp",
    },
    # its safe mode leaves the project's .env to work, its folder trust the project's skills
    untrusted=Untrusted(
        arguments=("--safe-mode",),
        files={
            "QWEN_CODE_SYSTEM_SETTINGS_PATH": '{"security": {"folderTrust": {"enabled": true}}}',
            "QWEN_CODE_TRUSTED_FOLDERS_PATH": '{"/": "DO_NOT_TRUST"}',
        },
    ),
    questions=True,
)

GOOSE: Final = AcpAgent(
    id="goose",
    name="Goose",
    argv=("goose", "acp"),
    description="Goose, over the Agent Client Protocol",
    pass_env=("GOOSE_*", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"),
    install_hint="See the installation page of Goose.",
    sign_in_hint="goose configure",
    modes={**MODE_NAMES, "full": (*MODE_NAMES["full"], "auto")},
    loads={".goosehints": "instructions", ".goose": "settings", **_INSTRUCTIONS},
)

OPENCODE: Final = AcpAgent(
    id="opencode-acp",
    name="opencode (ACP)",
    argv=("opencode", "acp"),
    description="opencode by its ACP mode; the agent “opencode” can do more",
    env={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
    pass_env=("OPENCODE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
    install_hint="npm install -g opencode-ai@1.18.33",
    sign_in_hint="opencode auth login",
    loads={
        ".opencode": "settings",
        "opencode.json": "settings",
        "opencode.jsonc": "settings",
        **_INSTRUCTIONS,
    },
)

KIMI: Final = AcpAgent(
    id="kimi-acp",
    name="Kimi Code (ACP)",
    argv=("kimi", "acp"),
    description="Kimi Code by its ACP mode; the agent “kimi” can do more",
    pass_env=("KIMI_*",),
    install_hint="npm install -g @moonshot-ai/kimi-code@2.1.0",
    sign_in_hint="kimi login",
    loads={".kimi-code": "settings", **_INSTRUCTIONS},
    questions=True,
)

CLAUDE: Final = AcpAgent(
    id="claude-acp",
    name="Claude Code (ACP)",
    argv=("claude-agent-acp",),
    description="Claude Code by its ACP bridge; the agent “claude” can do more",
    pass_env=("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"),
    install_hint="npm install -g @agentclientprotocol/claude-agent-acp@0.101.0",
    sign_in_hint="claude auth login",
    loads={".claude": "settings", "CLAUDE.md": "instructions", ".mcp.json": "mcp", **_INSTRUCTIONS},
)

CODEX: Final = AcpAgent(
    id="codex-acp",
    name="Codex (ACP)",
    argv=("codex-acp",),
    description="Codex by its ACP bridge; the agent “codex” can do more",
    pass_env=("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME"),
    install_hint="npm install -g @zed-industries/codex-acp",
    sign_in_hint="codex login",
    # its "auto" writes in the workspace without asking
    modes={**MODE_NAMES, "accept_edits": (*MODE_NAMES["accept_edits"], "auto")},
    loads={".codex": "settings", **_INSTRUCTIONS},
)

_ALL: Final = (GEMINI, QWEN, GOOSE, OPENCODE, KIMI, CLAUDE, CODEX)


def presets() -> Mapping[str, AcpAgent]:
    """Every agent that we know by name, by its id."""
    return {agent.id: agent for agent in _ALL}


def found_presets(environment: Mapping[str, str]) -> list[AcpAgent]:
    """Those whose program lies on the PATH of `environment`. Touches the file system."""
    found: list[AcpAgent] = []
    for agent in _ALL:
        try:
            find_executable(agent.argv[0], environment.get("PATH", ""))
        except NotInstalled:
            continue
        found.append(agent)
    return found


def gemini(context: AdapterContext) -> AcpAdapter:
    """The provider `gemini`."""
    return AcpAdapter(context, GEMINI)


def qwen(context: AdapterContext) -> AcpAdapter:
    """The provider `qwen`."""
    return AcpAdapter(context, QWEN)


def goose(context: AdapterContext) -> AcpAdapter:
    """The provider `goose`."""
    return AcpAdapter(context, GOOSE)
