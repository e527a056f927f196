"""Kernels and agent programs import the package, so importing it must stay light."""

import subprocess
import sys


def test_importing_the_package_does_not_import_the_server() -> None:
    script = (
        "import sys, jupyter_agentchat\n"
        "print(jupyter_agentchat.__version__)\n"
        "print([m for m in ('tornado', 'jupyter_server', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30
    )
    version, heavy = done.stdout.splitlines()
    assert version
    assert heavy == "[]"
