"""Projects: directories below the server root, and the scratch directories of loose chats."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ..errors import BadRequest, NotFound
from ..protocol.resources import Project
from ..store.base import ChatRecord, Store
from ..workspace.paths import relative_to_root, resolve_inside
from .policies import Policies


class Projects:
    """Names to directories and back. `path` on the wire is relative, `""` is the root itself."""

    def __init__(self, store: Store, policies: Policies) -> None:
        self._store = store
        self._root = policies.server_root
        self._loose = policies.loose_root

    def resolve(self, path: str) -> Path:
        """The real directory of a project. Raises BadRequest, Forbidden, NotFound."""
        directory = resolve_inside(self._root, path)
        if not directory.is_dir():
            raise NotFound("There is no such folder.", path=path)
        return directory

    def name(self, project_path: str | None) -> str | None:
        """`path` relative to the root, or None when loose or elsewhere."""
        if project_path is None:
            return None
        directory = Path(project_path)
        if directory != self._root and not directory.is_relative_to(self._root):
            return None
        return relative_to_root(self._root, project_path)

    def is_here(self, record: ChatRecord) -> bool:
        """Whether the chat belongs to this server root (loose chats belong everywhere)."""
        return record.loose or self.name(record.project_path) is not None

    def directory(self, record: ChatRecord) -> Path:
        """Where the chat's agent works; from the record only. Raises NotFound when it is gone."""
        if record.project_path is None:
            scratch = self._loose / record.chat.id
            scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
            return scratch
        directory = Path(record.project_path)
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
        directory = resolve_inside(self._root, path)
        await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
        self._store.add_project(str(directory))
        return next(p for p in self.list(username) if p.path == self.name(str(directory)))

    def elsewhere(self) -> int:
        """How many chats belong to folders outside this server root."""
        return sum(n for path, n in self._store.projects() if self.name(path) is None)
