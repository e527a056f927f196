"""The wheel, installed into an empty environment as a user would: both extensions are on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

# builds the wheel and installs JupyterLab from scratch: about 40 s here, minutes on a slow network
pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).parent.parent.parent
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FRONT_END = "data/share/jupyter/labextensions/jupyter-agentchat/"

# Run inside the new environment: what would not be there without us, and its size.
ADDED = """
import json, re
from importlib.metadata import distribution
from packaging.requirements import Requirement

def closure(root, seen):
    name = re.sub(r"[-_.]+", "-", root).lower()
    if name in seen:
        return seen
    seen.add(name)
    for text in distribution(name).requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            closure(requirement.name, seen)
    return seen

without_us = closure("ipywidgets", closure("jupyterlab", set()))
added = closure("jupyter_agentchat", set()) - without_us
files = [file.locate() for name in added for file in distribution(name).files]
print(json.dumps({"names": sorted(added), "bytes": sum(f.stat().st_size for f in files)}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, installer_environment: dict[str, str]) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT],
        env=installer_environment,
        check=True,
    )
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def run_installed(
    wheel: Path,
    tmp_path_factory: pytest.TempPathFactory,
    installer_environment: dict[str, str],
) -> Callable[..., str]:
    """Run a program of an environment that holds the wheel and JupyterLab; gives all it printed."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run(
        [venv / "bin" / "pip", "install", "-q", f"jupyter_agentchat[lab] @ {wheel.as_uri()}"],
        env=installer_environment,
        check=True,
    )
    home = tmp_path_factory.mktemp("home")

    def run(program: str, *arguments: str) -> str:
        done = subprocess.run(
            [venv / "bin" / program, *arguments],
            env={"HOME": str(home), "PATH": f"{venv / 'bin'}:/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


def test_the_wheel_ships_the_front_end_once_and_small(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = {info.filename: info.file_size for info in archive.infolist()}
    entries = [name for name in files if Path(name).name.startswith("remoteEntry.")]
    assert len(entries) == 1
    assert FRONT_END + "static/" in entries[0]
    assert not [name for name in files if name.startswith("jupyter_agentchat/labextension/")]
    assert not [name for name in files if "node_modules" in name or name.endswith(".map")]
    scripts = sum(size for name, size in files.items() if FRONT_END in name and name[-3:] == ".js")
    assert scripts <= 600_000
    assert wheel.stat().st_size <= 2_000_000


def test_the_wheel_ships_the_protocol_and_the_server_config(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "jupyter_agentchat/protocol/protocol.schema.json" in names
    assert [
        name for name in names if name.endswith("jupyter_server_config.d/jupyter_agentchat.json")
    ]


def test_both_extensions_are_enabled_after_an_install(run_installed: Callable[..., str]) -> None:
    server = run_installed("jupyter", "server", "extension", "list")
    assert "jupyter_agentchat enabled" in _plain(server)
    assert "jupyter_agentchat 0.1.0 OK" in _plain(server)
    lab = run_installed("jupyter", "labextension", "list")
    assert "jupyter-agentchat v0.1.0 enabled OK" in _plain(lab)


def test_jupyter_finds_the_command(run_installed: Callable[..., str]) -> None:
    assert "send" in run_installed("jupyter", "agentchat", "--help")


def test_an_install_adds_few_packages(run_installed: Callable[..., str]) -> None:
    added = json.loads(run_installed("python", "-c", ADDED))
    assert "jupyter-agentchat" in added["names"]
    assert len(added["names"]) <= 9, added["names"]
    # the goal is 15 MB; with every agent it is 16 (docs/performance.md): it must not grow further
    assert added["bytes"] <= 16_500_000


def _plain(text: str) -> str:
    """`text` without colours, and with one space between words."""
    return " ".join(COLOUR.sub("", text).split())
