"""The twin of the SQLite store that keeps nothing: for tests, and as the shortest description of
what a store does. Passes the same suite.
"""

from __future__ import annotations

import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..errors import Busy, NotFound, StorageError
from ..protocol.base import now
from ..protocol.events import User
from ..protocol.words import Outcome
from . import pages
from .base import (
    ChatRecord,
    ChildRecord,
    Draft,
    EventPage,
    Lease,
    RunRecord,
    StoredEvent,
    StoreHealth,
    TrustRecord,
)
from .rows import Range, Row, to_row
from .sqlite_chats import MAX_LIST, next_cursor, read_cursor
from .sqlite_people import blob_id_of
from .sqlite_runs import refuse_overtaken
