"""Events, queued prompts, drafts and marks, read straight off the pages of a database whose trees
can no longer be walked.

Each row carries a sum, so what is found here is what was stored, or it is left out. The layout is
that of sqlite.org/fileformat2: b-tree pages, records, overflow chains.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .keyed_rows import TABLES, KeyedRow, is_whole
from .migrations import PAGE_SIZE
from .rows import checksum

EventRow = tuple[str, int, str, str | None, str, str | None, int, str]
"""chat_id, seq, time, run_id, type, item_id, sum, body: as the columns stand on disk."""

HEADER_SIZE: Final = {0x0A: 8, 0x02: 12}
"""By kind of page: a leaf or an inner page of a tree whose rows lie in the key."""

INTEGER_SIZE: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
MAX_LOCAL: Final = (PAGE_SIZE - 12) * 64 // 255 - 23
MIN_LOCAL: Final = (PAGE_SIZE - 12) * 32 // 255 - 23
SHAPE: Final = (str, int, str, str, str, str, int, str)
MAY_BE_NULL: Final = (3, 5)
KEYED_SHAPE: Final = [str, str, int, int, str]


def carve(path: Path) -> Iterator[EventRow]:
    """Every event that is whole on some page of `path`, in no order; older copies may come too.

    Raises OSError. The file must have its log played into it.
    """
    for values in _records(path):
        row = _event(values)
        if row is not None:
            yield row


def carve_keyed(path: Path) -> Iterator[tuple[str, KeyedRow]]:
    """(table, row) of every keyed row that is whole on some page, in no order, as `carve` does."""
    for values in _records(path):
        if [type(value) for value in values] == KEYED_SHAPE:
            row: KeyedRow = values
            yield from ((table, row) for table in TABLES if is_whole(table, row))


def _records(path: Path) -> Iterator[tuple[Any, ...]]:
    with path.open("rb") as file:
        data = memoryview(file.read())
    for page in range(len(data) // PAGE_SIZE):
        start = page * PAGE_SIZE
        header = start + (100 if page == 0 else 0)
        size = HEADER_SIZE.get(data[header])
        if size is None:
            continue
        count = _number(data, header + 3, 2)
        for index in range(min(count, PAGE_SIZE // 2)):
            try:
                cell = start + _number(data, header + size + 2 * index, 2)
                values = _record(_payload(data, cell + (4 if size == 12 else 0)))
            except (IndexError, ValueError, KeyError):
                continue  # not a record, or a broken one
            yield values


def _event(values: tuple[Any, ...]) -> EventRow | None:
    """The event in a record; None when it is another table's row, or not what was stored."""
    if len(values) != len(SHAPE):
        return None
    for index, (value, kind) in enumerate(zip(values, SHAPE, strict=True)):
        if not isinstance(value, kind) and not (value is None and index in MAY_BE_NULL):
            return None
    _, seq, time, run_id, kind_of_event, _, total, body = values
    if checksum(seq, time, run_id, kind_of_event, body) != total:
        return None
    return values


def _payload(data: memoryview, at: int) -> bytes:
    """The whole record of the cell at `at`, overflow pages included."""
    length, at = _varint(data, at)
    if length > len(data):
        raise ValueError(length)
    if length <= MAX_LOCAL:
        return bytes(data[at : at + length])
    local = MIN_LOCAL + (length - MIN_LOCAL) % (PAGE_SIZE - 4)
    if local > MAX_LOCAL:
        local = MIN_LOCAL
    parts = [bytes(data[at : at + local])]
    left, page = length - local, _number(data, at + local, 4)
    while left > 0:
        start = (page - 1) * PAGE_SIZE
        if start < 0:
            raise ValueError(page)
        parts.append(bytes(data[start + 4 : start + 4 + min(left, PAGE_SIZE - 4)]))
        left -= PAGE_SIZE - 4
        page = _number(data, start, 4)
    return b"".join(parts)


def _record(payload: bytes) -> tuple[Any, ...]:
    view = memoryview(payload)
    header, at = _varint(view, 0)
    kinds = []
    while at < header:
        kind, at = _varint(view, at)
        kinds.append(kind)
    values: list[Any] = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        size = INTEGER_SIZE[kind]
        return int.from_bytes(payload[at : at + size], "big", signed=True), at + size
    size = (kind - 12) // 2
    part = payload[at : at + size]
    return (part.decode() if kind % 2 else part), at + size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9


def _number(data: memoryview, at: int, size: int) -> int:
    part = data[at : at + size]
    if len(part) != size:
        raise IndexError(at)
    return int.from_bytes(part, "big")
