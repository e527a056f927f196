"""Cuts a byte stream into lines and says where each of them ends; does no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

LINE_LIMIT_BYTES = 16 * 1024 * 1024
_HEAD_BYTES = 512


@dataclass(frozen=True, slots=True)
class Line:
    """A complete line without its newline. `end` is the stream offset just behind the newline.

    `repaired` says that the bytes were not valid UTF-8 and hold U+FFFD in place of what was not.
    """

    text: str
    end: int
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Oversize:
    """A line above the limit: `dropped` bytes are gone, reading goes on behind its newline.

    `head` is the first half kilobyte of it, enough to say what kind of message was lost.
    """

    end: int
    dropped: int
    head: str = ""


@dataclass(frozen=True, slots=True)
class Torn:
    """What stood behind the last newline when the stream ended: never a complete message."""

    text: str
    end: int


Frame: TypeAlias = Line | Oversize | Torn


class LineFramer:
    """Incremental splitter on the newline byte.

    Decoding happens a whole line at a time, so a character cut by a chunk border is not damaged.
    Frames are made only when asked for: a chunk with 100,000 tiny lines costs no more memory than
    its bytes. At most `limit_bytes` of an unfinished line are held; time is linear in the input.
    """

    def __init__(self, limit_bytes: int = LINE_LIMIT_BYTES, *, start: int = 0) -> None:
        self._limit = limit_bytes
        self._end = start  # stream offset behind the last frame handed out
        self._pending = bytearray()  # the beginning of an unfinished line
        self._dropped = 0  # bytes lost of the current line; above zero: skip to the newline
        self._head = b""
        self._chunk = b""
        self._pos = 0  # how far the chunk is used

    @property
    def end(self) -> int:
        """The stream offset behind the last frame handed out."""
        return self._end

    @property
    def pending_bytes(self) -> int:
        """Bytes held of a line that has no newline yet."""
        return len(self._pending)

    def feed(self, data: bytes) -> None:
        """Add what was read. Take the frames out before the next call to keep memory bounded."""
        rest = self._chunk[self._pos :]
        self._chunk = rest + data if rest else bytes(data)
        self._pos = 0

    def next(self) -> Frame | None:
        """The next frame, or None when more bytes are needed. Never a `Torn`."""
        newline = self._chunk.find(b"\n", self._pos)
        if newline < 0:
            self._hold(self._chunk[self._pos :])
            self._chunk, self._pos = b"", 0
            return None
        piece = self._chunk[self._pos : newline]
        self._pos = newline + 1
        if not self._pending and not self._dropped and len(piece) <= self._limit:
            self._end += len(piece) + 1
            return _line(piece, self._end)
        self._hold(piece)
        return self._take(newline_bytes=1)

    def frames(self) -> Iterator[Frame]:
        """All frames that what was fed so far gives."""
        while (frame := self.next()) is not None:
            yield frame

    def finish(self) -> Frame | None:
        """What is left at the end of the stream: `Torn`, `Oversize`, or None after a newline.

        Call it when `next` has returned None; calling it again returns None.
        """
        if not self._pending and not self._dropped:
            return None
        frame = self._take(newline_bytes=0)
        return Torn(frame.text, frame.end) if isinstance(frame, Line) else frame

    def _hold(self, piece: bytes) -> None:
        if not self._dropped and len(self._pending) + len(piece) <= self._limit:
            self._pending += piece
            return
        # the head must not depend on how the line was cut into chunks
        self._head += bytes(self._pending[:_HEAD_BYTES])
        self._head += piece[: _HEAD_BYTES - len(self._head)]
        self._dropped += len(self._pending) + len(piece)
        self._pending = bytearray()

    def _take(self, *, newline_bytes: int) -> Line | Oversize:
        self._end += (self._dropped or len(self._pending)) + newline_bytes
        if self._dropped:
            head = self._head.decode("utf-8", "replace")
            frame: Line | Oversize = Oversize(self._end, self._dropped, head)
            self._dropped, self._head = 0, b""
        else:
            frame = _line(self._pending, self._end)
            self._pending = bytearray()
        return frame


def _line(raw: bytes | bytearray, end: int) -> Line:
    try:
        return Line(raw.decode("utf-8"), end)
    except UnicodeDecodeError:
        return Line(raw.decode("utf-8", "replace"), end, repaired=True)
