"""A server that can be killed: appends to a store and says on stdout what was acknowledged.

Run as `python -m tests.unit.store.writer DATA_DIR`. Each line on stdin, `CHAT SEED COUNT`, forks a
writer of the store (the imports are paid once); its first line on stdout is its pid. COUNT 0 means
without end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

from jupyter_agentchat.store.base import Draft
from jupyter_agentchat.store.conformance_samples import delta, final, prompt
from jupyter_agentchat.store.sqlite import open_store


def say(**what: object) -> None:
    os.write(1, (json.dumps(what) + "\n").encode())  # one write: lines of two writers never mix


def write(data_dir: Path, chat_id: str, seed: int, count: int) -> None:
    random = Random(seed)
    store = open_store(data_dir)
    item, first, text, written = f"{seed}.0", 0, "", 0
    while not count or written < count:
        kind = random.choices(["delta", "final", "user"], weights=[8, 1, 1])[0]
        draft: Draft
        if kind == "delta":
            piece = f"<{seed}.{written}>"
            text += piece
            draft = delta(item, piece)
        elif kind == "final":
            replaces = (first, 2**40) if first else None
            draft = final(item, text, replaces)
        else:
            draft = prompt(f"{seed}.{written}", f"{seed}.{written}")
        event = store.append(chat_id, [draft], durable=kind == "user")[0]
        say(seq=event.seq, body=event.body_json)
        written += 1
        if kind == "delta":
            first = first or event.seq
        elif kind == "final":
            item, first, text = f"{seed}.{written}", 0, ""
    store.close()


def serve(data_dir: Path, work: Callable[[Path, str, int, int], None]) -> None:
    """Fork one server for each line on stdin."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    for line in sys.stdin:
        chat_id, seed, count = line.split()
        pid = os.fork()
        if pid == 0:
            say(pid=os.getpid())
            try:
                work(data_dir, chat_id, int(seed), int(count))
                say(done=os.getpid())
            except BaseException:
                say(failed=traceback.format_exc())
                raise
            finally:
                os._exit(0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), write)
