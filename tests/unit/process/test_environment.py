"""What a child inherits: what its work needs, and no credential of the server."""

from __future__ import annotations

import pytest

from jupyter_agentchat.process.environment import build_environment, clean_search_path

NEEDED = dict.fromkeys(
    (
        *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "USER", "LOGNAME"),
        *("SHELL", "TZ", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "SSL_CERT_FILE"),
        *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CONDA_PREFIX"),
        *("VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"),
        *("NVIDIA_VISIBLE_DEVICES", "MODULEPATH", "LMOD_DIR", "LOADEDMODULES", "SLURM_JOB_ID"),
        *("OMP_NUM_THREADS", "JULIA_DEPOT_PATH", "R_LIBS"),
    ),
    "/value",
)
SECRET = dict.fromkeys(
    (
        *("JUPYTERHUB_API_TOKEN", "JUPYTERHUB_SERVICE_URL", "JPY_API_TOKEN", "JUPYTER_TOKEN"),
        *("CONFIGPROXY_AUTH_TOKEN", "KERNEL_ID", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"),
        *("CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_MESSAGING_SOCKET"),
        *("AGENTCHAT_CHILD", "AWS_CONTAINER_AUTHORIZATION_TOKEN"),
    ),
    "canary",
)
UNKNOWN = {"OPENAI_API_KEY": "k", "GITHUB_TOKEN": "k", "LD_PRELOAD": "/x.so", "PS1": "$", "LC": "x"}


def test_what_the_users_code_needs_is_passed_and_nothing_else() -> None:
    assert build_environment(NEEDED | SECRET | UNKNOWN) == NEEDED


def test_a_provider_gets_its_own_variables_by_name_or_pattern() -> None:
    source = {"ANTHROPIC_API_KEY": "a", "ANTHROPIC_MODEL": "m", "CLAUDE_CONFIG_DIR": "/c"}
    built = build_environment(
        source | UNKNOWN, pass_names=("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "NOT_SET")
    )
    assert built == source


@pytest.mark.parametrize("name", sorted(SECRET))
def test_a_denied_variable_is_denied_to_everybody_who_asks(name: str) -> None:
    asked = build_environment(SECRET, pass_names=("*", name), extra={name: "canary"})
    assert asked == {}


def test_values_set_by_the_admin_win_over_inherited_ones_and_ours_over_both() -> None:
    built = build_environment(
        {"LANG": "C", "TERM": "xterm", "TZ": "UTC"},
        extra={"TERM": "vt100", "MY_SETTING": "1", "TZ": "CET"},
        fixed={"TERM": "dumb", "CLAUDE_CODE_ENTRYPOINT": "sdk-py"},
    )
    assert built == {
        "LANG": "C",
        "TERM": "dumb",
        "TZ": "CET",
        "MY_SETTING": "1",
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    }


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (".:/usr/bin", "/usr/bin"),
        ("/usr/bin:", "/usr/bin"),
        ("::/a::/b:", "/a:/b"),
        ("node_modules/.bin:/a:./b:../c:~/d", "/a"),
        ("", ""),
    ],
)
def test_search_paths_never_lead_into_the_project(value: str, cleaned: str) -> None:
    assert clean_search_path(value) == cleaned
    built = build_environment({"PATH": value, "LD_LIBRARY_PATH": value, "PYTHONPATH": value})
    names = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH")
    assert built == (dict.fromkeys(names, cleaned) if cleaned else {})


def test_the_source_is_not_changed() -> None:
    source = {"PATH": "/a:.", "JPY_API_TOKEN": "x"}
    build_environment(source, fixed={"A": "b"})
    assert source == {"PATH": "/a:.", "JPY_API_TOKEN": "x"}
