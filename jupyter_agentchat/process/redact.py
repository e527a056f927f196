"""Masks what looks like a credential in text that leaves a process: stderr tails and traces."""

from __future__ import annotations

import re

MASK = "[redacted]"

_NAME = (
    r"(?:api[-_]?key|access[-_]?key(?:[-_]?id)?|secret(?:[-_]?key)?|private[-_]?key|"
    r"password|passwd|credentials?|token|jwt)"
)
_VALUE = r"[^\s\"'\\,;&{}\[\]()<>]"

# (pattern, replacement): each begins with a fixed word and repeats one class of characters, so
# that time is linear and a hostile line cannot make the search slow
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # cookies: the whole value up to the end of the line
    (re.compile(r"(?i)(cookie[\"']?\s{0,4}:\s{0,4})[^\r\n]+"), rf"\1{MASK}"),
    # Authorization: Bearer …, Authorization: token …, a bare "Bearer …"
    (
        re.compile(
            r"(?i)(authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:\w{1,20}\s+)?)[^\s\"'\\,;]{4,}"
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s{1,4}[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {MASK}"),
    # https://user:password@host
    (re.compile(r"(://[^\s/:@]{0,100}):[^\s/@]{1,200}@"), rf"\1:{MASK}@"),
    # ?token=…&code=…
    (re.compile(r"(?i)([?&](?:key|auth|code|sig|signature)=)[^\s&\"'#<>]+"), rf"\1{MASK}"),
    # ANTHROPIC_API_KEY=…, "api_key": "…", ?access_token=…
    (
        re.compile(rf"(?i)({_NAME}\\?[\"']?\s{{0,4}}[:=]\s{{0,4}}\\?[\"']?){_VALUE}{{4,}}"),
        rf"\1{MASK}",
    ),
    (re.compile(rf"([A-Z0-9]_(?:KEY|PAT|PASS|AUTH)=[\"']?){_VALUE}+"), rf"\1{MASK}"),
    # well-known shapes
    (re.compile(r"\b(sk|pk|rk)-[A-Za-z0-9_-]{8,}"), rf"\1-{MASK}"),
    (re.compile(r"\b(gh[opsur]_|github_pat_|glpat-|hf_|xox[a-z]-)[A-Za-z0-9_-]{8,}"), rf"\1{MASK}"),
    (re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{12,}"), rf"\1{MASK}"),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{20,}"), MASK),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]{4,}"), MASK),
)


def redact(text: str) -> str:
    """`text` with tokens, keys, passwords and cookies masked; the rest unchanged.

    A net with known holes, not a promise: it knows shapes (`Bearer …`, `?token=…`, `…_KEY=…`,
    `sk-…`), not secrets. What must not leak is kept out of the child's environment instead.
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
