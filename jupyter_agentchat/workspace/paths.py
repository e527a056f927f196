"""The only door to files: a path is followed to where it really leads, then compared with its root.

Whole path components are compared, never strings (`/data` is no prefix of `/database`), after
symlinks were followed. The answer holds for the moment of the call: whoever can swap a directory
for a link in between could have written there anyway.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import BadRequest, Forbidden


def resolve_inside(root: Path, path: str | Path) -> Path:
    """The real path of `path`, which lies in `root` or is `root` itself.

    A relative `path` starts at `root`; an absolute one must lead into it; `""` is `root`. The file
    need not exist. Raises BadRequest for what is no path (NUL, lone surrogates, a loop of links, a
    name too long) and Forbidden for what leads out, by `..`, as an absolute path or through a link.
    Rule: security, workspace row.
    """
    text = os.fspath(path)
    if "\0" in text:
        raise BadRequest("A path must not contain NUL.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadRequest("A path must be valid Unicode.") from None
    top = Path(_follow(os.fspath(root)))
    real = Path(_follow(os.path.join(top, text)))  # noqa: PTH118 - "//etc" must stay as it is
    if not real.is_relative_to(top):
        raise Forbidden("This path leads out of the folder. Use one below it.", path=text)
    return real


def relative_to_root(root: Path, path: str | Path) -> str:
    """`path` as it is written below `root`, with `/` between names; `""` for `root` itself.

    Where the path leads counts, not how it was spelled. Raises as `resolve_inside`.
    """
    relative = resolve_inside(root, path).relative_to(_follow(os.fspath(root))).as_posix()
    return "" if relative == "." else relative


@contextmanager
def folder_inside(root: Path, path: str, *, make: bool = False) -> Iterator[int]:
    """An open descriptor of the folder that holds `path` (relative to `root`), for `dir_fd`.

    Every step is opened without following links, so nobody can lead it out in between. `make`
    creates what is missing on the way. Raises Forbidden where a link (or a file) stands on the
    way, BadRequest for what is no plain relative path, FileNotFoundError and other OSError.
    """
    names = path.split("/")
    if "\0" in path or any(name in ("", ".", "..") for name in names):
        raise BadRequest("This is not a path below a folder.", path=path)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = os.open(root, flags)
    try:
        for name in names[:-1]:
            try:
                if make and not _is_there(name, handle):
                    os.mkdir(name, 0o777, dir_fd=handle)
                below = os.open(name, flags | os.O_NOFOLLOW, dir_fd=handle)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise Forbidden("A link or a file is in the way.", path=path) from error
                raise
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def _is_there(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _follow(path: str) -> str:
    """Follow every link of `path`, also where its end does not exist."""
    try:
        return os.path.realpath(path, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        # what exists of it is followed, a dangling link too: it counts as where it points
        return os.path.realpath(path)
    except OSError as error:
        if error.errno == errno.EACCES:
            raise Forbidden("This path leads through a folder that may not be entered.") from error
        raise BadRequest(f"This is not a usable path ({error.strerror}).") from error
