"""The admin's settings are read from where the admin guide says they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Rest


@pytest.fixture
def own_config_file(jp_config_dir: Path) -> None:
    """The file of the admin guide, with a limit in it."""
    file = jp_config_dir / "jupyter_agentchat_config.py"
    file.write_text('c.AgentChatApp.max_permission = "ask"\n')


async def test_a_limit_in_the_config_file_of_ours_holds(own_config_file: None, rest: Rest) -> None:
    assert (await rest.ok("GET", "status"))["policies"]["max_permission"] == "ask"


async def test_a_wrong_setting_does_not_keep_the_server_from_starting_and_stopping(
    jp_configurable_serverapp: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    extensions = {"jupyter_agentchat": True, "jupyter_server_terminals": True}
    wrong = {"claude": {"command": "not a list"}}
    server = jp_configurable_serverapp(
        config={
            "ServerApp": {
                "jpserver_extensions": extensions,
                "reraise_server_extension_failures": False,
            },
            "AgentChatApp": {"provider_settings": wrong},
        }
    )
    manager = server.extension_manager
    await manager.start_all_extensions()
    await manager.stop_all_extensions()
    assert manager.extension_apps["jupyter_agentchat"]
    told = caplog.text + capfd.readouterr().err
    assert "command must be a list of texts (agent claude)" in told
    assert "failed starting" not in told
