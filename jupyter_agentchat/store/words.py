"""What a search compares: the words of a text, of a query, and the snippet around what matched.

A word is a run of letters and digits, without case and accents. Where writing has no spaces between
words (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) each character is a word, and so is each emoji:
any part of such a text is found. Both stores cut texts here, so that both find the same; a change
of these rules needs a new `RULES`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final

RULES: Final = "1"
"""Names these rules: an index that was made by others is made anew."""

MAX_INDEXED: Final = 50_000
"""Characters of one event that are indexed: a pasted log must not hold up its append."""
MAX_QUERY_WORDS: Final = 32
MAX_HITS: Final = 200
SNIPPET_BEFORE: Final = 40
SNIPPET_AFTER: Final = 160
"""Characters shown around the first match."""
SNIPPET_FIRST_LOOK: Final = 2_000

MARK_ON: Final = "\ue000"
MARK_OFF: Final = "\ue001"

_ACCENTS: Final = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f"
_INDIC: Final = "\u0900-\u0963\u0966-\u0dff"
"""Letters with their vowel signs, which `\\w` does not have."""
_SINGLE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao; Burmese; Khmer
    "\u2190-\u24ff\u25a0-\u2bff\U0001f000-\U0001faff"  # signs and emoji, without box drawing
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(f"[{_SINGLE}]|(?:[^\\W_{_SINGLE}]|[{_ACCENTS}{_INDIC}])+")
_STRIP: Final = re.compile(f"[{_ACCENTS}]")
_MARKS: Final = re.compile(f"[{MARK_ON}{MARK_OFF}]")

Phrase = tuple[str, ...]
"""Words that must follow each other."""


def plain(text: str) -> str:
    """`text` without case and accents."""
    if text.isascii():
        return text.lower()
    text = _STRIP.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFKC", text).casefold()


def words(text: str) -> list[str]:
    """The words of `text`, in order, as they are compared; of its first MAX_INDEXED characters."""
    return _WORD.findall(plain(text[:MAX_INDEXED]))


def phrases(query: str) -> list[Phrase]:
    """What a person typed, as phrases that must all be there; the last word may be a beginning.

    What stands together without a space must stand together: `/src/app.py` is three words in a row.
    Signs that are no words mean nothing: no text is an error, and none reaches the index as syntax.
    """
    found: list[Phrase] = []
    left = MAX_QUERY_WORDS
    for part in query[:MAX_INDEXED].split():
        phrase = tuple(words(part)[:left])
        if phrase:
            found.append(phrase)
            left -= len(phrase)
        if left <= 0:
            break
    return found


def match_expression(wanted: Sequence[Phrase]) -> str:
    """`wanted` for FTS5. Words have no quotes in them, so that nothing can end its string."""
    strings = [f'"{" ".join(phrase)}"' for phrase in wanted]
    return " AND ".join(strings) + " *"


def matches(wanted: Sequence[Phrase], found: Sequence[str]) -> bool:
    """Whether a text of the words `found` has every phrase; what FTS5 does for the other store."""
    return all(any(_places(wanted, index, found)) for index in range(len(wanted)))


def _places(wanted: Sequence[Phrase], index: int, found: Sequence[str]) -> Iterator[range]:
    """Where phrase `index` of `wanted` stands in `found`."""
    phrase = wanted[index]
    *whole, last = phrase
    is_prefix = index == len(wanted) - 1
    for at in range(len(found) - len(whole)):
        end = found[at + len(whole)]
        if not (end.startswith(last) if is_prefix else end == last):
            continue
        if all(found[at + n] == word for n, word in enumerate(whole)):
            yield range(at, at + len(phrase))


def snippet(text: str, wanted: Sequence[Phrase]) -> str:
    """A line of `text` around the first match, the words that match between U+E000 and U+E001."""
    text = _MARKS.sub(" ", text)
    # a long text is rarely read to its end
    spans = _spans(text[:SNIPPET_FIRST_LOOK], wanted) or _spans(text[:MAX_INDEXED], wanted)
    first = spans[0][0] if spans else 0
    start = _at_a_border(text, max(first - SNIPPET_BEFORE, 0), first)
    end = min(first + SNIPPET_AFTER, len(text))
    parts, at = [], start
    for low, high in spans:
        if high > end:
            break
        parts += [text[at:low], MARK_ON, text[low:high], MARK_OFF]
        at = high
    parts.append(text[at:end])
    line = " ".join("".join(parts).split())
    return ("… " if start else "") + line + (" …" if end < len(text) else "")


def _at_a_border(text: str, start: int, first: int) -> int:
    """Behind the first space from `start` on, so that the snippet begins with a whole word."""
    if start == 0:
        return 0
    space = text.find(" ", start, first)
    return start if space < 0 else space + 1


def _spans(text: str, wanted: Sequence[Phrase]) -> list[tuple[int, int]]:
    """Where the words of `wanted` stand, from the first on."""
    places = [(found.start(), found.end()) for found in _WORD.finditer(text)]
    found = [plain(text[low:high]) for low, high in places]
    hits = {
        at for index in range(len(wanted)) for run in _places(wanted, index, found) for at in run
    }
    return [places[at] for at in sorted(hits)]


def text_of(kind: str, body_json: str) -> str:
    """What of an event is searched; "" for all others, and for a body that cannot be read."""
    if kind not in ("user", "assistant_text", "tool_use_start"):
        return ""
    try:
        body = json.loads(body_json)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    return _searched(kind, body)


def _searched(kind: str, body: dict[str, Any]) -> str:
    if kind == "tool_use_start":
        given = body.get("input")
        path = given.get("path") if isinstance(given, dict) else None
        title = _text(body.get("title"))
        path = _text(path)
        return title if path in title else f"{title} {path}".strip()
    if kind == "assistant_text" and not body.get("final"):
        return ""
    return _text(body.get("text"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
