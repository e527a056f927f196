"""What every store owes: checks that any implementation runs, with no test framework needed.

A store's tests bring a factory that makes an empty store, and run each check of SUITE with it:

    @pytest.mark.parametrize("check", SUITE, ids=lambda check: check.__name__)
    def test_store(check): check(lambda: MyStore(...))

A check closes what it makes; ConformanceError says what does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .conformance_chats import CHATS
from .conformance_log import LOG
from .conformance_queue import QUEUE
from .conformance_runs import RUNS
from .conformance_samples import ConformanceError, Factory
from .conformance_search import SEARCH
from .conformance_trash import TRASH

__all__ = ["SUITE", "ConformanceError", "Factory"]

SUITE: Final[tuple[Callable[[Factory], None], ...]] = (
    *LOG,
    *CHATS,
    *RUNS,
    *QUEUE,
    *SEARCH,
    *TRASH,
)
