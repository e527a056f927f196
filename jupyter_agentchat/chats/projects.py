"""Projects: directories below the server root, and the scratch directories of loose chats."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ..errors import BadRequest, Forbidden, NotFound, StorageError
from ..protocol.resources import Project
from ..store.base import ChatRecord, Store
from ..workspace.paths import resolve_inside
from .policies import Policies


class Projects:
    """Names to directories and back. `path` on the wire is relative, `""` is the root itself."""

    def __init__(self, store: Store, policies: Policies) -> None:
        self._store = store
        self._root = policies.server_root
        self._loose = policies.loose_root

    def resolve(self, path: str) -> Path:
        """The real directory of a project. Raises BadRequest, Forbidden, NotFound."""
        directory = self.locate(path)
        if not directory.is_dir():
            raise NotFound("There is no such folder.", path=path)
        return directory

    def locate(self, path: str) -> Path:
        """The real path of a project, whether or not it exists. Raises BadRequest, Forbidden."""
        return resolve_inside(self._root, path)

    def name(self, project_path: str | None) -> str | None:
        """`path` relative to the root, or None when loose or elsewhere.

        Names only, no look at the disk: a list must not fail because one folder became a link.
        """
        if project_path is None or not Path(project_path).is_relative_to(self._root):
            return None
        name = Path(project_path).relative_to(self._root).as_posix()
        return "" if name == "." else name

    def is_here(self, record: ChatRecord) -> bool:
        """Whether the chat belongs to this server root (loose chats belong everywhere)."""
        return record.loose or self.name(record.project_path) is not None

    def directory(self, record: ChatRecord) -> Path:
        """Where the chat's agent works; from the record only.

        Raises NotFound when it is gone, BadRequest when it became a link, Forbidden when it lies
        outside this server's root, StorageError when a scratch folder cannot be made.
        """
        if record.project_path is None:
            scratch = self._loose / record.chat.id
            try:
                scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise StorageError(
                    f"The chat's folder cannot be made ({error.strerror}).", path=str(scratch)
                ) from error
            return scratch
        directory = Path(record.project_path)
        if not self.is_here(record):
            raise Forbidden(
                "This chat's folder lies outside the folder of this server.", path=str(directory)
            )
        if not directory.is_dir():
            raise NotFound(
                "The project's folder is gone. Create it again, or start a new chat.",
                path=record.project_path,
            )
        if directory.resolve() != directory:
            # it was replaced by a link since the chat was made
            raise BadRequest(
                "The project's folder is now a link to elsewhere.", path=str(directory)
            )
        return directory

    def list(self, username: str) -> list[Project]:
        """The root and every project with chats, by name."""
        counts = dict(self._store.projects())
        counts.setdefault(str(self._root), 0)
        projects = []
        for path, chats in counts.items():
            name = self.name(path)
            if name is None:
                continue
            trust = self._store.trust(username, path)
            projects.append(
                Project(
                    path=name,
                    name=Path(path).name or "/",
                    chats=chats,
                    exists=Path(path).is_dir(),
                    trusted=trust.trusted if trust else None,
                )
            )
        return sorted(projects, key=lambda project: project.path)

    async def add(self, path: str, username: str) -> Project:
        """Make sure that a project exists, creating the folder if needed."""
        directory = self.locate(path)
        try:
            await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
        except OSError as error:
            raise BadRequest(f"The folder cannot be made ({error.strerror}).", path=path) from error
        self._store.add_project(str(directory))
        return next(p for p in self.list(username) if p.path == self.name(str(directory)))

    def elsewhere(self) -> int:
        """How many chats belong to folders outside this server root."""
        return sum(n for path, n in self._store.projects() if self.name(path) is None)
