"""No path leads out of the folder it was given for."""

from __future__ import annotations

import os
import random
from itertools import product
from pathlib import Path

import pytest

from jupyter_agentchat.errors import BadRequest, Forbidden, Refused
from jupyter_agentchat.workspace.paths import relative_to_root, resolve_inside


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """`tmp/root` with links in every direction, and siblings whose names begin alike."""
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "file.txt").write_text("inside")
    (root / "ünï code.txt").write_text("inside")
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "root-twin").mkdir()
    (tmp_path / "root-twin" / "secret.txt").write_text("outside")
    (root / "link-in").symlink_to("sub")
    (root / "link-out").symlink_to(tmp_path)
    (root / "link-file-out").symlink_to(tmp_path / "secret.txt")
    (root / "link-dangling-out").symlink_to(tmp_path / "not-there" / "x")
    (root / "link-dangling-in").symlink_to("not-there")
    (root / "sub" / "link-up").symlink_to("../..")
    (root / "loop-a").symlink_to("loop-b")
    (root / "loop-b").symlink_to("loop-a")
    return root


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("", ""),
        (".", ""),
        ("file.txt", "file.txt"),
        ("sub//deep/", "sub/deep"),
        ("sub/../file.txt", "file.txt"),
        ("link-in/deep", "sub/deep"),
        ("link-in/../file.txt", "file.txt"),
        ("link-dangling-in", "not-there"),
        ("new/folder/file", "new/folder/file"),
        ("file.txt/../sub", "sub"),
        ("ünï code.txt", "ünï code.txt"),
        ("...", "..."),
        ("-rf", "-rf"),
        ("~", "~"),
        ("$HOME/%2e%2e/x", "$HOME/%2e%2e/x"),
        ("..\\..\\x", "..\\..\\x"),
        ("line\nbreak", "line\nbreak"),
    ],
)
def test_a_path_inside_is_found_where_it_really_lies(root: Path, path: str, leads_to: str) -> None:
    assert resolve_inside(root, path) == root / leads_to
    assert relative_to_root(root, path) == leads_to


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../root-twin/secret.txt",
        "../secret.txt",
        "sub/../../secret.txt",
        "new/../../secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "/proc/self/root/etc",
        "link-out",
        "link-out/secret.txt",
        "link-file-out",
        "link-dangling-out",
        "link-in/../../secret.txt",
        "sub/link-up/secret.txt",
        "file.txt/../../secret.txt",
    ],
)
def test_a_path_that_leads_out_is_forbidden(root: Path, path: str) -> None:
    with pytest.raises(Forbidden):
        resolve_inside(root, path)


@pytest.mark.parametrize(
    "path", ["a\0b", "\0", "\ud800", "loop-a", "loop-a/../../secret.txt", "x" * 5000]
)
def test_what_is_no_path_is_a_bad_request(root: Path, path: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        resolve_inside(root, path)
    assert refusal.value.status == 400


def test_an_absolute_path_into_the_root_is_fine(root: Path) -> None:
    assert resolve_inside(root, root / "file.txt") == root / "file.txt"
    assert relative_to_root(root, str(root)) == ""


def test_a_sibling_with_the_same_beginning_is_outside(root: Path) -> None:
    with pytest.raises(Forbidden):
        resolve_inside(root, str(root) + "-twin/secret.txt")


def test_the_whole_disk_may_be_the_root() -> None:
    assert resolve_inside(Path("/"), "/etc/../usr") == Path("/usr").resolve()
    assert resolve_inside(Path("/"), "../../..") == Path("/")
    assert relative_to_root(Path("/"), "/") == ""
    assert relative_to_root(Path("/"), "/proc/version") == "proc/version"


def test_a_root_behind_a_link_is_the_folder_it_points_to(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert resolve_inside(tmp_path / "alias", "file.txt") == root / "file.txt"
    assert relative_to_root(tmp_path / "alias", root / "sub") == "sub"


def test_whatever_is_accepted_is_inside_and_whatever_is_inside_is_accepted(root: Path) -> None:
    """Two thousand paths put together from nasty pieces, judged by the kernel's own view."""
    pieces = [
        "..", ".", "", "sub", "deep", "file.txt", "link-in", "link-out", "link-up", "root",
        "root-twin", "secret.txt", "loop-a", "link-dangling-out", "new", str(root), "/",
    ]  # fmt: skip
    shuffled = random.Random(7)
    paths = ["/".join(pair) for pair in product(pieces, pieces)]
    paths += ["/".join(shuffled.choices(pieces, k=shuffled.randint(3, 6))) for _ in range(2000)]
    for path in paths:
        expected = root / path
        try:
            found = resolve_inside(root, path)
        except Refused:
            if expected.exists():
                assert not expected.resolve().is_relative_to(root), path
            continue
        assert found.is_relative_to(root), path
        assert os.path.realpath(found) == str(found), path
        if expected.exists():
            assert found.samefile(expected), path
