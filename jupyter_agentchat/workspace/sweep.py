"""What is removed from the checkpoint store: contents that nothing names, then the oldest ones.

A record whose contents are removed stays: a rewind names each file that it cannot put back.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from .objects import Objects
from .records import Records, digests_in, project_name, read_json
from .snapshot import Limits

log = logging.getLogger(__name__)

UNUSED_TREE_S: Final = 30 * 24 * 3600.0
FILL: Final = 0.8
"""Of the total limit: so that the next sweep is not due at once."""


def sweep(folder: Path, records: Records, objects: Objects, limits: Limits) -> int:
    """Bring the store below its limits; how many contents were removed. Raises OSError.

    What rewinds have noted and the newest snapshots come first, then records, the newest first.
    """
    wanted: set[str] = set()
    total = lost = 0
    per_project: dict[str, int] = {}
    files = [(path, path.parent.name) for path in records.prune_trees(UNUSED_TREE_S)]
    files += [(path, "") for path in folder.glob("rewinds/**/*.json")]
    files += [(path, _project_of(path)) for path in reversed(records.change_files())]
    for path, project in files:
        own = digests_in(path) - wanted
        size = sum(objects.size(digest) for digest in own)
        in_project = per_project.get(project, 0) + size
        if total + size > FILL * limits.total_bytes or in_project > limits.project_bytes:
            lost += 1
            continue
        wanted |= own
        total += size
        per_project[project] = in_project
    removed = objects.remove_except(wanted)
    if lost and removed:
        log.warning(
            "checkpoints: %d old contents of %d runs were removed to stay within the limits; a "
            "rewind names the files that it cannot put back",
            removed,
            lost,
        )
    return removed


def _project_of(path: Path) -> str:
    data = read_json(path)
    root = data.get("root") if data else None
    return project_name(root) if isinstance(root, str) else ""
