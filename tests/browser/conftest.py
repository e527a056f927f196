"""A real JupyterLab with our extension in its own process, driven in Chromium.

pytest-jupyter's event loop fixtures clash with Playwright's synchronous API, so they are replaced
here; Playwright lives per module (a session-wide one would poison the server tests that follow).
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tests.conftest import ROOT
from tests.fakes.fake_anthropic import FakeAnthropic
from tests.server.conftest import script

TOKEN = "browser-test"
OUR_SCRIPTS = "extensions/jupyter-agentchat"
PICTURES = ROOT / "docs" / "img"
SCENARIO_AGENT = ROOT / "tests" / "fakes" / "scenario_agent.py"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--font-render-hinting=none",
]  # fmt: skip
expect.set_options(timeout=20_000)  # a busy machine is no failure; no test waits for time
AXE = ROOT / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
DARK, CONTRAST = "JupyterLab Dark", "JupyterLab Dark High Contrast"
QUIET = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}


@pytest.fixture(autouse=True)
def jp_asyncio_loop() -> Iterator[None]:
    """No loop of pytest-jupyter's here."""
    yield None


@pytest.fixture(autouse=True)
def jp_server_cleanup() -> Iterator[None]:
    """Nor its clean-up."""
    yield


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


class Lab:
    """One JupyterLab: `root` is its folder, `home` everything else of it."""

    def __init__(self, home: Path, env: dict[str, str], traits: dict[str, Any]) -> None:
        self.home, self.root, self.log = home, home / "demand-model", home / "lab.log"
        self.root.mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._env = env
        (home / "overrides.json").write_text(json.dumps(QUIET))
        scenario = {"kind": "native", "command": [sys.executable, str(SCENARIO_AGENT)]}
        settings = traits.pop("provider_settings", None) or {"scenario": scenario}
        traits = {"data_dir": str(home / "chats"), "provider_settings": settings, **traits}
        (home / "config.json").write_text(json.dumps({"AgentChatApp": traits}))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--expose-app-in-browser"),
            *("--ip=127.0.0.1", f"--port={self.port}", "--ServerApp.port_retries=0"),
            *(f"--config={self.home / 'config.json'}", f"--ServerApp.root_dir={self.root}"),
            f"--IdentityProvider.token={TOKEN}",
            f"--LabApp.app_settings_dir={self.home}",
            *(["--allow-root"] if os.getuid() == 0 else []),
        ]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                env={"PATH": os.environ["PATH"], "HOME": str(self.home), **self._env},
                cwd=self.home,
                stdout=log,
                stderr=log,
            )
        for _ in range(1200):
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"{self.url}/api/status?token={TOKEN}", timeout=2).close()  # noqa: S310 - our own URL
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError(self.log.read_text()[-3000:])

    def call(self, route: str, body: Any = None) -> Any:
        """GET one of our REST routes; POST with a body."""
        request = urllib.request.Request(  # noqa: S310 - our own URL
            f"{self.url}/agentchat/api/{route}",
            headers={"Authorization": f"token {TOKEN}"},
            data=None if body is None else json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own URL
            return json.loads(answer.read() or b"null")

    def new_chat(self, *runs: list[Any], **fields: Any) -> str:
        """A chat with the scenario agent that has played these runs."""
        chat = str(self.call("chats", {"provider": "scenario", "project": "", **fields})["id"])
        for steps in runs:
            self.play(chat, *steps)
        return chat

    def play(self, chat: str, *steps: Any, wait: str = "idle") -> None:
        """Let the agent perform the steps; `wait` is the state to wait for ("" for none)."""
        body = {"client_id": uuid.uuid4().hex, "text": script(*steps)}
        self.call(f"chats/{chat}/prompts", body)
        for _ in range(1500):
            if not wait or self.call(f"chats/{chat}")["state"] == wait:
                return
            time.sleep(0.02)
        raise AssertionError(f"the chat does not become {wait}")

    def events(self, chat: str, kind: str) -> list[dict[str, Any]]:
        """Events of a type."""
        events = self.call(f"chats/{chat}/events?limit=2000")["events"]
        return [event for event in events if event["type"] == kind]

    def wait_layout(self, word: str) -> None:
        """Until Lab itself has saved its layout (it does so a second or two after a change)."""
        folder = self.home / ".jupyter" / "lab" / "workspaces"
        for _ in range(400):
            if any(word in path.read_text() for path in folder.glob("*.jupyterlab-workspace")):
                return
            time.sleep(0.05)
        raise AssertionError(f"Lab saves no layout with {word} in {folder}")

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)


@pytest.fixture
def fake_anthropic() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as fake:
        yield fake


MakeLab = Callable[..., Lab]


@pytest.fixture
def make_lab(tmp_path: Path) -> Iterator[MakeLab]:
    """Start labs; all are stopped at the end of the test."""
    labs: list[Lab] = []

    def make(env: dict[str, str] | None = None, **traits: Any) -> Lab:
        home = tmp_path / f"lab{len(labs)}"
        home.mkdir()
        lab = Lab(home, env or {}, traits)
        labs.append(lab)
        lab.start()
        return lab

    yield make
    for lab in labs:
        lab.stop()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A Lab for all tests that need none of their own; its chats add up."""
    lab = Lab(tmp_path_factory.mktemp("lab"), {}, {})
    lab.start()
    yield lab
    lab.stop()


class Screen:
    """A page with Lab in it, and where our things are, found by role and name."""

    def __init__(self, page: Page, lab: Lab) -> None:
        self.page, self.lab = page, lab
        self.errors: list[str] = []
        page.on("pageerror", self._note_error)

    def _note_error(self, error: Any) -> None:
        """Keep what was not caught. JupyterLab itself does not catch a layout it cannot save."""
        text = error.stack or str(error)
        labs_own = "Failed to fetch" in text and OUR_SCRIPTS not in text
        if not labs_own:
            self.errors.append(text)

    def open(self, *, reset: bool = True) -> None:
        """Load Lab and wait until it is restored (only then are commands registered)."""
        query = f"token={TOKEN}&reset" if reset else ""
        self.page.goto(f"{self.lab.url}/lab?{query}")
        self.page.wait_for_function("() => window.jupyterapp !== undefined", timeout=60_000)
        self.page.evaluate("async () => { await window.jupyterapp.restored; }")

    def open_chat(self, chat: str, *, main: bool = True) -> None:
        """Load Lab and show a chat that exists."""
        self.open()
        self.command("agentchat:open-chat", id=chat, main=main)
        expect(self.page.locator(f".jp-AgentChat[data-chat-id='{chat}']").last).to_be_visible()

    def reload(self) -> None:
        self.page.reload()
        self.page.wait_for_function("() => window.jupyterapp !== undefined", timeout=60_000)
        self.page.evaluate("async () => { await window.jupyterapp.restored; }")

    def command(self, name: str, **args: Any) -> None:
        self.page.evaluate(
            "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }",
            [name, args],
        )

    @property
    def thread(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation").locator("visible=true")

    @property
    def ask(self) -> Locator:
        return self.page.get_by_role("alertdialog")

    @property
    def chat(self) -> Locator:
        return self.page.locator(".jp-AgentChat:visible").last

    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message", exact=True).last

    def send(self, text: str) -> None:
        self.composer().fill(text)
        expect(self.page.get_by_role("button", name="Send", exact=True).last).to_be_enabled()
        self.composer().press("Enter")

    def wait_idle(self) -> None:
        expect(self.page.locator(".jp-AgentChat[data-running=false]").last).to_be_visible(
            timeout=60_000
        )

    def close_labs_dialog(self) -> None:
        """Lab's own "Server Connection Error", which covers everything."""
        button = self.page.locator(".jp-Dialog").get_by_role("button", name="Close")
        if button.is_visible():
            button.click()

    def allow(self, name: str = "Allow once") -> None:
        """Press the button of the ask once it is no longer inert."""
        button = self.ask.get_by_role("button", name=re.compile(f"^{name}"))
        expect(button).to_be_enabled()
        button.click()

    def theme(self, name: str) -> None:
        """Another theme of JupyterLab, once its colours are there."""
        self.page.evaluate(
            """async name => {
              await window.jupyterapp.commands.execute('apputils:change-theme', {theme: name});
            }""",
            name,
        )
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)

    def check_accessibility(self, *included: str) -> None:
        """axe finds nothing in these parts of the page (JupyterLab itself has findings)."""
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.add_script_tag(path=AXE)
        found = self.page.evaluate(
            """async included => {
              const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
              const values = [...levels, 'best-practice'];
              const result = await axe.run(
                {include: included.map(selector => [selector])},
                {runOnly: {type: 'tag', values}},
              );
              const say = node => `${node.html.slice(0, 160)} ${node.failureSummary}`;
              return result.violations.map(found => [found.id, found.nodes.map(say)]);
            }""",
            list(included),
        )
        assert found == []

    def picture(self, name: str) -> None:
        """Take a screenshot; with PICTURES=write (`make pictures`) it becomes the docs' one."""
        folder = PICTURES if os.environ.get("PICTURES") == "write" else self.lab.home
        self.page.mouse.move(0, 0)
        self.page.screenshot(path=folder / name, animations="disabled")


def start_chat(screen: Screen) -> str:
    """A chat with the scenario agent, open in the main area; its id."""
    screen.open()
    screen.command("agentchat:new-chat", provider="scenario", main=True)
    expect(screen.composer()).to_be_visible()
    return str(screen.chat.get_attribute("data-chat-id"))


MakeScreen = Callable[..., Screen]


@pytest.fixture
def make_screen(browser: Browser) -> Iterator[MakeScreen]:
    """Open pages; every page must end without an uncaught error."""
    contexts: list[BrowserContext] = []
    screens: list[Screen] = []

    def make(lab: Lab, *, width: int = 1280, height: int = 800) -> Screen:
        context = browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=1.5
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        screen = Screen(context.new_page(), lab)
        screens.append(screen)
        return screen

    yield make
    errors = [error for screen in screens for error in screen.errors]
    for context in contexts:
        context.close()
    assert errors == []
