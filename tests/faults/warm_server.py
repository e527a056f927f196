"""Starts Jupyter servers fast enough to kill a thousand of them: imports once, forks for each.

Reads a line of JSON per server on stdin, `{argv, env, log, clock}`, and answers with its pid. What
is forked is the whole `ServerApp` with our extension, every other extension switched off. It
differs from `jupyter server` in that its imports are done; every tenth case of the killer runs
against the real thing.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import pkgutil
import signal
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn

from tests.faults import clock

PR_SET_PDEATHSIG = 1
WARM = (
    "jupyter_server.serverapp",
    "jupyter_server.extension.application",
    "jupyter_agentchat.extension",
    "jupyter_agentchat.assembly",
    "jupyter_agentchat.providers.native.adapter",
)
OTHER_EXTENSIONS = (
    *("jupyterlab", "jupyter_lsp", "jupyter_server_terminals", "notebook_shim"),
    *("jupyter_server_mathjax", "nbclassic"),
)


def warm() -> None:
    """Import what a server imports until its first request."""
    for name in WARM:
        importlib.import_module(name)
    handlers = importlib.import_module("jupyter_agentchat.handlers")
    for module in pkgutil.iter_modules(handlers.__path__):
        importlib.import_module(f"jupyter_agentchat.handlers.{module.name}")


def serve(order: dict[str, Any]) -> NoReturn:
    """In the fork: become a server, in a session and an environment of its own."""
    os.setsid()
    # a server whose test was killed is nobody's: it ends with the process that forked it
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.closerange(3, 64)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["env"]["HOME"])
    if order.get("clock"):
        clock.follow(Path(order["clock"]))
    from jupyter_server.serverapp import ServerApp

    code = 1
    try:
        ServerApp.launch_instance(order["argv"])
        code = 0
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Fork servers until the input ends."""
    warnings.simplefilter("ignore")
    clock.install()
    warm()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    os.write(1, b"ready\n")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            serve(json.loads(line))
        os.write(1, f"{pid}\n".encode())


if __name__ == "__main__":
    main()
