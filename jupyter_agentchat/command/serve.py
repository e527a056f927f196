"""A Jupyter server for one command: `python -P -m jupyter_agentchat.command.serve`, started by us.

Its settings come as one JSON line on stdin (so the token stands in no argv, environment or file);
where it listens goes out as one JSON line on stdout; the end of its input ends it. So it cannot
outlive the command, however that ends. Only our own extension is loaded, and no info file is
written: nobody else finds this server or its token.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from jupyter_server.serverapp import ServerApp


class CommandServer(ServerApp):
    """The ordinary server with a person's and an admin's ordinary configuration, unlisted."""

    def write_server_info_file(self) -> None:
        """Not written: other commands would use a server that is about to go."""

    def write_browser_open_files(self) -> None:
        """Not written: they hold the token."""


def server_arguments(root_dir: str, token: str, *, approvals: bool) -> list[str]:
    """Settings that win over any configuration file; they never leave this process."""
    settings: dict[str, object] = {
        "ServerApp.root_dir": root_dir,
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": 0,
        "ServerApp.sock": "",
        "ServerApp.certfile": "",
        "ServerApp.keyfile": "",
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": os.geteuid() == 0,
        "ServerApp.jpserver_extensions": {"jupyter_agentchat": True},
        "ServerApp.log_level": "WARN",
        "IdentityProvider.token": token,
        "AgentChatApp.allow_token_approvals": approvals,
    }
    return [f"--{name}={value}" for name, value in settings.items()]


def main() -> None:
    """Serve until stdin ends."""
    settings = json.loads(sys.stdin.readline())
    app = CommandServer()
    app.initialize(
        server_arguments(
            settings["root_dir"], settings["token"], approvals=settings["approvals"] is True
        ),
        find_extensions=False,
    )

    def announce() -> None:
        # the callback that binds the port was added before this one
        sys.stdout.write(json.dumps({"url": app.connection_url}) + "\n")
        sys.stdout.flush()

    def leave(_fd: Any, _events: int) -> None:
        app.io_loop.remove_handler(sys.stdin.fileno())
        app.stop()

    app.io_loop.add_callback(announce)
    app.io_loop.add_handler(sys.stdin.fileno(), leave, app.io_loop.READ)
    app.start()


if __name__ == "__main__":
    main()
