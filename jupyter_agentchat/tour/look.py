"""Looks at the workspace: a bounded walk, reading a file, searching for a word. Changes nothing."""

from __future__ import annotations

import itertools
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import Refused
from ..workspace.paths import resolve_inside

SKIPPED = frozenset(
    {"node_modules", "__pycache__", "site-packages", "venv", "env", "target", "build", "dist"}
)
"""Folders that hold what machines wrote; hidden ones are skipped as well."""

_WORTH_READING = (".md", ".rst", ".txt", ".py", ".r", ".jl", ".toml", ".csv", ".json", ".ipynb")

MAX_FILES = 2_000
_MAX_DEPTH = 4
_MAX_PER_FOLDER = 500
_DEADLINE_S = 1.5
_READ_LIMIT = 262_144
_SHOWN_LINES = 200
_MAX_HITS = 40
_LINE_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the workspace; `path` is relative to it, `size` in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What a walk saw. `partial` says that there was more than it was allowed to look at."""

    files: tuple[Entry, ...]
    folders: int
    partial: bool

    def kinds(self) -> list[tuple[str, int]]:
        """File name endings with their counts, the most frequent first."""
        counts = Counter(Path(entry.path).suffix or "(none)" for entry in self.files)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file. `whole` is false when only its beginning was read."""

    path: str
    text: str
    whole: bool

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def shown(self) -> str:
        """The first lines, with a last line that says what was left out."""
        lines = self.lines
        head = "\n".join(lines[:_SHOWN_LINES])
        if len(lines) > _SHOWN_LINES:
            return f"{head}\n(the first {_SHOWN_LINES} lines)"
        return head if self.whole else f"{head}\n(the first {_READ_LIMIT // 1024} KiB)"


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that holds the word; `line` counts from 1."""

    path: str
    line: int
    text: str


def survey(root: Path, check: Callable[[], None]) -> Survey:
    """Walk `root`, breadth first and in order of names, until a bound is reached.

    `check` is called between folders and may raise to end the walk. Links are not followed.
    """
    deadline = time.monotonic() + _DEADLINE_S
    files: list[Entry] = []
    folders, partial = 0, False
    level = [root]
    for depth in range(_MAX_DEPTH):
        below: list[Path] = []
        for folder in level:
            check()
            if len(files) >= MAX_FILES or time.monotonic() > deadline:
                return Survey(tuple(files[:MAX_FILES]), folders, partial=True)
            found, cut = _list_folder(folder)
            partial = partial or cut
            for item in found:
                if item.is_dir(follow_symlinks=False):
                    folders += 1
                    below.append(Path(item.path))
                elif (file := _as_file(item, root)) is not None:
                    files.append(file)
        level = below
        partial = partial or (depth == _MAX_DEPTH - 1 and bool(below))
    return Survey(tuple(files[:MAX_FILES]), folders, partial or len(files) > MAX_FILES)


def _list_folder(folder: Path) -> tuple[list[os.DirEntry[str]], bool]:
    """The visible entries in order of names, and whether there were too many to look at."""
    try:
        with os.scandir(folder) as entries:
            found = list(itertools.islice(entries, _MAX_PER_FOLDER + 1))
    except OSError:
        return [], True
    visible = [item for item in found[:_MAX_PER_FOLDER] if _is_shown(item)]
    return sorted(visible, key=lambda item: item.name), len(found) > _MAX_PER_FOLDER


def _as_file(item: os.DirEntry[str], root: Path) -> Entry | None:
    try:
        size = item.stat(follow_symlinks=False).st_size
    except OSError:  # gone meanwhile
        return None
    if not item.is_file(follow_symlinks=False):
        return None
    return Entry(Path(item.path).relative_to(root).as_posix(), size)


def _is_shown(entry: os.DirEntry[str]) -> bool:
    """Neither hidden, nor written by machines, nor named in a way that no text can carry."""
    return not entry.name.startswith(".") and entry.name not in SKIPPED and entry.name.isprintable()


def read_text(root: Path, path: str) -> Text:
    """The text of a file below `root`, 256 KiB of it at most.

    Raises OSError with a sentence for a person when there is none, or it is not text.
    """
    try:
        real = resolve_inside(root, path)
    except Refused as refusal:
        raise OSError(0, refusal.message) from refusal
    # opened first and looked at then: a pipe by that name must not hold us
    handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:  # noqa: PTH123 - a descriptor has no Path
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "This is not a regular file.")
        raw = file.read(_READ_LIMIT + 1)
    whole = len(raw) <= _READ_LIMIT
    try:
        text = raw[:_READ_LIMIT].decode("utf-8", "strict" if whole else "ignore")
    except UnicodeDecodeError:
        raise OSError(0, "This file is not text (UTF-8).") from None
    if "\0" in text:
        raise OSError(0, "This file is not text (it holds NUL bytes).")
    return Text(path, text, whole)


def search(
    root: Path, entries: tuple[Entry, ...], word: str, check: Callable[[], None]
) -> tuple[list[Hit], bool]:
    """Lines that hold `word` (case does not matter), and whether the search was cut short."""
    deadline = time.monotonic() + _DEADLINE_S
    wanted = word.casefold()
    hits: list[Hit] = []
    for entry in entries:
        check()
        if len(hits) >= _MAX_HITS or time.monotonic() > deadline:
            return hits[:_MAX_HITS], True
        if entry.size <= _READ_LIMIT:
            hits.extend(_search_file(root, entry.path, wanted))
    return hits[:_MAX_HITS], len(hits) > _MAX_HITS


def _search_file(root: Path, path: str, wanted: str) -> Iterator[Hit]:
    try:
        lines = read_text(root, path).lines
    except OSError:
        return
    for number, line in enumerate(lines, 1):
        if wanted in line.casefold():
            yield Hit(path, number, line.strip()[:_LINE_LIMIT])


def pick_file(found: Survey) -> Entry | None:
    """A file worth reading first: a README, else text or code; nothing empty or huge."""

    ranked = [
        (rank, entry)
        for entry in found.files
        if 0 < entry.size <= _READ_LIMIT and (rank := _rank(entry)) is not None
    ]
    return min(ranked, key=lambda pair: pair[0])[1] if ranked else None


def _rank(entry: Entry) -> tuple[int, int, str] | None:
    """Where a file stands in the order of interest; None when it is of none."""
    name = Path(entry.path).name.lower()
    suffix = Path(name).suffix
    if name != "readme" and suffix not in _WORTH_READING:
        return None
    kind = 0 if name.startswith("readme") else 1 + _WORTH_READING.index(suffix)
    return kind, entry.path.count("/"), entry.path


def pick_word(text: str) -> str | None:
    """A word of `text` worth searching for: among the longer ones the most frequent."""
    words = Counter(re.findall(r"[A-Za-z]{5,20}", text[:20_000]))
    return min(words, key=lambda word: (-words[word], word), default=None)
