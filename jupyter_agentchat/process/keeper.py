"""The line of shell that keeps an agent alive, and its input open, when the server is gone.

Three processes stand around an agent, each with the marker of its child in the environment:
- the *keeper* starts the agent in a session of its own, waits for it and writes how it ended;
- the *holder* keeps the other end of the agent's input open. TERM to it is the end of input once
  nobody else has the input open. When no server has touched the file `alive` for a number of ticks
  it ends the agent: TERM, five seconds later KILL;
- the agent itself, in the foreground of the keeper, or it would ignore SIGINT and SIGQUIT.

Who they are stands in the files `keeper`, `holder` and `pid` as lines of /proc/PID/stat, written by
themselves or the keeper: pid and start time are on disk even if the server dies while it starts
them. An `exit` file counts only with its newline. Names of variables are odd since the agent
inherits those that its environment has already. Rule: reattach.md section 1.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .identity import has_proc
from .launcher import Spawn
from .sweep import MARKER

SHELL = "/bin/sh"
_TOOLS = ("setsid", "sleep", "rm")

# Both helpers are forks of the keeper's shell, not shells of their own: a start costs two programs
# less. kill -0: when the keeper was killed and nobody ended us, do not outlive the agent, and never
# signal a number that may be somebody else's by now.
_HOLDER = """
trap 'kill $! 2>/dev/null; exit 0' TERM
PATH=$_ac_p
i=0
while [ $i -lt $_ac_n ]; do
  sleep $_ac_t 3>&- &
  wait $! || exit 1
  read -r p x <"$_ac_d/pid" && kill -0 $p 2>/dev/null || exit 0
  if rm "$_ac_d/alive" 2>/dev/null; then i=0; else i=$((i+1)); fi
done
exec 3>&-
kill -TERM -$p
sleep 5 &
wait $!
kill -KILL -$p
"""
# The input is opened first: with the file `pid` on disk its end can be delivered. `self` is the
# fork, where $$ would be the keeper. It gets its session a moment later, from setsid: see
# `leads_session`.
_AGENT = """
exec <"$_ac_i"
read -r _ac_x </proc/self/stat; echo "$_ac_x" >"$_ac_d/pid"
exec "$_ac_s" "$@"
"""
_KEEPER = f"""
_ac_d=$1 _ac_i=$2 _ac_n=$3 _ac_t=$4 _ac_p=$5 _ac_s=$6; shift 6
trap : TERM INT HUP
read -r _ac_x </proc/$$/stat; echo "$_ac_x" >"$_ac_d/keeper"
({_HOLDER}) 3<>"$_ac_i" & _ac_h=$!
read -r _ac_x </proc/$_ac_h/stat; echo "$_ac_x" >"$_ac_d/holder"
({_AGENT})
_ac_r=$?
echo $_ac_r >"$_ac_d/exit"
kill $_ac_h 2>/dev/null
exit $_ac_r
"""


def start_keeper(
    spawn: Spawn, directory: Path, out: int, err: int, *, ticks: int, tick_s: float
) -> subprocess.Popen[bytes]:
    """Start a keeper that starts what `spawn` says, with the run directory `directory`.

    `out` and `err` are descriptors for the agent. After `ticks` ticks of `tick_s` seconds without
    an `alive` file the agent is ended. Raises OSError. Blocks for about a millisecond, like
    asyncio's own starts: one in a thread could not be cancelled.
    """
    tools = _tools_path()
    setsid = shutil.which("setsid", path=tools)
    if setsid is None:
        raise FileNotFoundError(errno.ENOENT, "setsid is not installed")
    source = str(directory / "in") if spawn.stdin == "pipe" else os.devnull
    return subprocess.Popen(  # noqa: S603 - a list, and its program was checked
        [
            *(SHELL, "-c", _KEEPER, "sh", str(directory), source),
            *(str(max(1, ticks)), f"{tick_s:g}", tools, setsid),
            *spawn.argv,
        ],
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        cwd=spawn.cwd,
        env={**spawn.env, MARKER: spawn.child_id},
        start_new_session=True,
        close_fds=True,
    )


def leads_session(pid: int) -> bool:
    """Whether the agent `pid` has its session by now, or is gone (or may not be asked): from then
    on its group is its own to signal."""
    try:
        return os.getsid(pid) == pid
    except (ProcessLookupError, PermissionError):
        return True


def spool_supported(root: Path | None = None) -> str | None:
    """Why agents cannot be kept over a restart here, in words for a person; None when they can.

    With `root`, the launcher's, its file system is tried as well; the directory is made for that.
    """
    if not sys.platform.startswith("linux") or not has_proc():
        return "Agents are kept over a restart on Linux only."
    missing = [tool for tool in _TOOLS if not shutil.which(tool, path=_path())]
    if not os.access(SHELL, os.X_OK):
        missing.append(SHELL)
    if missing:
        return f"To keep agents over a restart, {', '.join(missing)} must be installed."
    if root is not None:
        return _refuses_pipes(root)
    return None


def _refuses_pipes(root: Path) -> str | None:
    probe = root / f".probe-{os.getpid()}"
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.mkfifo(probe, 0o600)
        probe.unlink()
    except OSError as error:
        return f"The directory {root} cannot hold what keeps an agent running: {error.strerror}."
    return None


def _path() -> str:
    return os.pathsep.join((*os.defpath.split(os.pathsep), *os.environ.get("PATH", "").split(":")))


def _tools_path() -> str:
    """Where the keeper's own tools lie: never the agent's PATH, which a project may shape."""
    found = [shutil.which(tool, path=_path()) for tool in _TOOLS]
    return os.pathsep.join(dict.fromkeys(str(Path(tool).parent) for tool in found if tool))
