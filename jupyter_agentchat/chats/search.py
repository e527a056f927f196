"""Search over everything said in the chats that the caller may see."""

from __future__ import annotations

from ..protocol.controls import SearchHit, SearchResult
from ..store.base import Store
from .projects import Projects

LIMIT = 30
LIMIT_MAX = 100


class Search:
    """See the module."""

    def __init__(self, store: Store, projects: Projects) -> None:
        self._store = store
        self._projects = projects

    def find(self, query: str, *, project: str | None, limit: int) -> SearchResult:
        """Best first. `project` None looks in every chat of this server root, loose ones included.

        Raises Unsupported where the store cannot search, BadRequest and Forbidden for a project
        that is none of ours. An empty query finds nothing.
        """
        if not query.strip():
            return SearchResult(hits=[])
        found = self._store.search(query, project_paths=self._paths(project), limit=limit + 1)
        hits = [
            SearchHit(
                chat_id=hit.chat_id,
                seq=hit.seq,
                title=hit.title,
                snippet=hit.snippet,
                time=hit.time,
            )
            for hit in found[:limit]
        ]
        return SearchResult(hits=hits, more=len(found) > limit)

    def _paths(self, project: str | None) -> list[str | None]:
        if project is not None:
            # a folder that is gone keeps its chats
            return [str(self._projects.locate(project))]
        known = [path for path, _count in self._store.projects()]
        return [None, *(path for path in known if self._projects.name(path) is not None)]
