"""Whatever an agent writes: nothing of it runs, nothing is fetched, nothing of ours is replaced."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error, Route, expect

from tests.browser.conftest import Lab, MakeScreen, Screen
from tests.browser.payloads import PAYLOADS, everywhere, permission, plan, question

pytestmark = pytest.mark.timeout(240)

STRANGERS = """
  () => {
    // a form's fields can take the place of its own properties: ask the prototype
    const own = name => Object.getOwnPropertyDescriptor(Element.prototype, name);
    const attributesOf = it => own('attributes').get.call(it);
    const found = [];
    for (const root of document.querySelectorAll('.ac-root, .jp-Dialog')) {
      const bad = 'script, iframe, object, embed, form:not(.ac-question), style, link, meta, base, '
        + 'foreignObject, use, [srcdoc], [formaction], [name^=hacked], marquee, video, audio';
      for (const it of root.querySelectorAll(bad)) {
        const ours = own('closest').value.call(it, '.ac-diff, mjx-container');
        if (!ours) found.push(it.outerHTML.slice(0, 200));
      }
      for (const it of root.querySelectorAll('*')) {
        for (const {name, value} of attributesOf(it)) {
          const words = ['title', 'aria-label'].includes(name) || name.startsWith('data-ac');
          const active = /^\\s*(javascript|vbscript|data:text)/i.test(value) && !words;
          if (/^on/i.test(name) || active) {
            found.push(`${name}=${value.slice(0, 100)} on ${it.tagName}`);
          }
        }
      }
    }
    const ids = [...document.querySelectorAll('[id^=hacked], #jupyterapp')].map(it => it.outerHTML);
    const shown = getComputedStyle(document.body).display !== 'none';
    return {found, ids, hacked: window.hacked ?? 0, shown, app: typeof window.jupyterapp.commands};
  }
"""
CLEAN = {"found": [], "ids": [], "hacked": 0, "shown": True, "app": "object"}


def watch(screen: Screen) -> list[str]:
    """Requests to other hosts than Lab's; none is let through."""
    foreign: list[str] = []

    def on_route(route: Route) -> None:
        if urlsplit(route.request.url).netloc == urlsplit(screen.lab.url).netloc:
            route.continue_()
        else:
            foreign.append(route.request.url)
            route.abort()

    screen.page.route(lambda url: not url.startswith((screen.lab.url, "data:", "blob:")), on_route)
    return foreign


def open_all(screen: Screen) -> None:
    """Unfold everything that is folded."""
    screen.page.evaluate(
        """async () => {
          for (let round = 0; round < 4; round++) {
            const folded = document.querySelectorAll('.ac-thread [aria-expanded=false]');
            for (const it of folded) it.click();
            await new Promise(done => setTimeout(done, 0));
            await new Promise(done => requestAnimationFrame(done));
          }
        }"""
    )


BARE = """<body><div class="ac-root"></div>
<script>window.jupyterapp = {commands: {}}</script></body>"""


def test_the_detector_sees_a_payload_that_is_not_cleaned(lab: Lab, make_screen: MakeScreen) -> None:
    """The control: put into a bare page as they are, payloads run, fetch and leave strangers."""
    context = make_screen(lab).page.context
    fetched: list[str] = []
    context.on("request", lambda request: fetched.append(request.url))
    context.route("**/*", lambda route: route.abort())
    seen = ran = 0
    for text in PAYLOADS:
        page = context.new_page()
        page.set_content(BARE)
        assert page.evaluate(STRANGERS) == CLEAN
        try:
            page.evaluate("text => document.querySelector('.ac-root').innerHTML = text", text)
            page.wait_for_timeout(20)
            found = page.evaluate(STRANGERS)
        except Error:
            found = "it has navigated"
        seen += found != CLEAN
        ran += isinstance(found, str) or found["hacked"] != 0
        page.close()
    # the others are Markdown, LaTeX or of a scheme: harmless until something renders them
    assert seen >= len(PAYLOADS) // 3, seen
    assert ran >= 3
    assert fetched


def test_no_payload_runs_or_is_fetched_in_any_view_of_a_turn(
    lab: Lab, make_screen: MakeScreen
) -> None:
    assert len(PAYLOADS) >= 40
    screen = make_screen(lab)
    foreign = watch(screen)
    size = 10
    for start in range(0, len(PAYLOADS), size):
        part = PAYLOADS[start : start + size]
        chat = lab.new_chat(
            *([step for n, text in enumerate(part) for step in everywhere(text, n)],),
            title=part[0][:100],
        )
        lab.play(chat, {"fail": part[1]})
        if start == 0:
            screen.open_chat(chat)
        else:
            screen.command("agentchat:open-chat", id=chat, main=True)
        thread = screen.thread
        expect(thread).to_contain_text("Words after.")
        open_all(screen)
        for block in thread.locator(".ac-markdown, .ac-tool").all()[::5]:
            block.scroll_into_view_if_needed()
        assert screen.page.evaluate(STRANGERS) == CLEAN, part
    screen.command("agentchat:open-panel")
    expect(screen.page.get_by_role("list", name="Chats")).to_be_visible()
    assert screen.page.evaluate(STRANGERS) == CLEAN
    assert foreign == []


def test_no_payload_runs_in_asks_questions_and_plans(lab: Lab, make_screen: MakeScreen) -> None:
    screen = make_screen(lab)
    foreign = watch(screen)
    chat = lab.new_chat()
    screen.open_chat(chat)
    steps = []
    for text in PAYLOADS:
        steps += [permission(text), question(text), plan(text)]
    lab.play(chat, *steps, wait="waiting")
    for n, text in enumerate(PAYLOADS):
        ask = screen.page.locator(".ac-asks")
        deny = ask.get_by_role("button", name=re.compile("^Deny( N)?$"))
        expect(deny).to_be_visible()
        assert screen.page.evaluate(STRANGERS) == CLEAN, text
        deny.click()
        expect(ask.get_by_role("form", name="Question")).to_be_visible()
        assert screen.page.evaluate(STRANGERS) == CLEAN, text
        ask.get_by_role("button", name="Do not answer").click()
        refuse = ask.get_by_role("button", name=re.compile("^No( N)?$"))
        expect(refuse).to_be_visible()
        assert screen.page.evaluate(STRANGERS) == CLEAN, (n, text)
        refuse.click()
    screen.wait_idle()
    assert screen.page.evaluate(STRANGERS) == CLEAN
    assert foreign == []


def test_a_remote_picture_is_loaded_by_a_click_alone(lab: Lab, make_screen: MakeScreen) -> None:
    chat = lab.new_chat([{"say": "![a plot](http://pictures.example/plot.png)"}])
    screen = make_screen(lab)
    foreign = watch(screen)
    screen.open_chat(chat)
    load = screen.thread.get_by_role("button", name="Load picture from pictures.example")
    expect(load).to_be_visible()
    assert foreign == []
    load.click()
    expect(load).to_have_count(0)
    assert foreign == ["http://pictures.example/plot.png"]
