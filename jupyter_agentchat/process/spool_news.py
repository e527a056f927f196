"""Who is told when a file of a run directory changes: the start that waits, then the reader.

Where the kernel does not tell (see `tail`), nobody is told, and whoever listens looks by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .tail import DirectoryWatch


class SpoolNews:
    """One watch for all children of a launcher. Not thread safe; one loop."""

    def __init__(self) -> None:
        self._watch = DirectoryWatch()
        self._marks: dict[str, int | None] = {}
        self._listeners: dict[str, Callable[[str], None]] = {}

    def __contains__(self, child_id: str) -> bool:
        """Whether somebody listens to this child, also one that is just starting."""
        return child_id in self._listeners

    @property
    def works(self) -> bool:
        """Whether all that happens is told."""
        return self._watch.works

    def listen(self, child_id: str, directory: Path, on_change: Callable[[str], None]) -> bool:
        """Tell `on_change` from now on, in place of an earlier listener: `DirectoryWatch.add`.

        False when the kernel tells nothing of this directory.
        """
        self._listeners[child_id] = on_change
        if self._marks.get(child_id) is None:
            self._marks[child_id] = self._watch.add(
                directory, lambda name: self._tell(child_id, name)
            )
        return self._marks[child_id] is not None

    def forget(self, child_id: str) -> None:
        """Tell of this child no longer. Idempotent."""
        self._listeners.pop(child_id, None)
        self._watch.remove(self._marks.pop(child_id, None))

    def close(self) -> None:
        """Tell nothing any longer."""
        self._listeners.clear()
        self._marks.clear()
        self._watch.close()

    def _tell(self, child_id: str, name: str) -> None:
        listener = self._listeners.get(child_id)
        if listener is not None:
            listener(name)
