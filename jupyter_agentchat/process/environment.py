"""Builds a child's environment from an allow-list; nothing is inherited by default.

The server's own environment holds, under JupyterHub, tokens that let their bearer act as the user.
Patterns are names in which a final `*` stands for anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

ALLOWED = (
    *("PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL", "TZ"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT"),
    # what the user's own code needs when the agent runs it
    *("CONDA_*", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH", "CUDA_*", "NVIDIA_*"),
    *("MODULEPATH", "LMOD_*", "LOADEDMODULES", "SLURM_*", "OMP_*", "JULIA_*", "R_*"),
)
"""Names that every child gets."""

DENIED = (
    *("JUPYTERHUB_*", "JPY_*", "JUPYTER_TOKEN", "CONFIGPROXY_AUTH_TOKEN", "KERNEL_*"),
    # tokens that clouds hand to a machine or pod, not to a person
    *("AWS_CONTAINER_AUTHORIZATION_TOKEN*", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("IDENTITY_HEADER", "MSI_SECRET"),
    # an agent's marks: a CLI that sees them believes that it runs inside another one
    *("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT"),
    *("CLAUDE_CODE_MESSAGING_*", "AGENTCHAT_CHILD"),
)
"""Names that are never taken from outside, whoever asks for them."""

_PATH_LISTS = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")


def build_environment(
    source: Mapping[str, str],
    *,
    pass_names: Iterable[str] = (),
    extra: Mapping[str, str] | None = None,
    fixed: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The whole environment of a child; pure.

    `source` is what may be passed on (the server's environment), `pass_names` patterns beside
    `ALLOWED` (a provider's documented variables, an admin's additions), `extra` values that an
    admin or a user set. `DENIED` wins over these three. `fixed` holds constants of our own code
    and has the last word. Relative and empty entries are cut out of search paths: they would mean
    the project's directory. A list that becomes empty is left out.
    Rule: security.md §6.
    """
    patterns = (*ALLOWED, *pass_names)
    built = {name: value for name, value in source.items() if _matches(name, patterns)}
    built.update(extra or {})
    built = {name: value for name, value in built.items() if not _matches(name, DENIED)}
    built.update(fixed or {})
    for name in _PATH_LISTS:
        cleaned = clean_search_path(built.pop(name, ""))
        if cleaned:
            built[name] = cleaned
    return built


def clean_search_path(value: str) -> str:
    """`value`, a list of directories joined by colons, with its absolute entries only."""
    entries = (entry for entry in value.split(":") if PurePosixPath(entry).is_absolute())
    return ":".join(entries)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
