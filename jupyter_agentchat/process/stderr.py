"""The end of what a child said on stderr, kept for its last words."""

from __future__ import annotations

import re

from .redact import redact

KEPT_BYTES = 16 * 1024
"""How much of it is kept at least, if there was that much."""

_HALF_WORD = re.compile(r"^\S{0,256}\s?")


class StderrTail:
    """A bounded tail. `cut` says that something stood before what is fed first."""

    def __init__(self, *, cut: bool = False) -> None:
        self._bytes = bytearray()
        self._cut = cut

    def feed(self, data: bytes) -> None:
        """Add what was read."""
        self._bytes += data
        if len(self._bytes) > 2 * KEPT_BYTES:
            del self._bytes[:-KEPT_BYTES]
            self._cut = True

    def text(self, limit_chars: int) -> str:
        """Its end, redacted first and cut then, so that no half secret is left."""
        text = self._bytes.decode("utf-8", "replace")
        if self._cut:
            text = _HALF_WORD.sub("", text)
        return redact(text)[-limit_chars:]
