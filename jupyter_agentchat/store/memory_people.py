"""What persons decided, marked, drafted and named, in memory; and the blobs."""

from __future__ import annotations

from ..errors import NotFound, Stale
from .memory_runs import InMemory
from .records import DraftRecord, PersonMarks, TrustRecord
from .rows import blob_id_of


class MemoryPeople(InMemory):
    """Trust, projects, selections, blobs and marks of a ChatStore, drafts of a QueueStore."""

    _trust: dict[tuple[str, str], TrustRecord]
    _projects: set[str]
    _selections: dict[str, dict[str, object]]

    def marks(self, chat_id: str, username: str) -> PersonMarks:
        return self.log(chat_id).marks.get(username, PersonMarks())

    def save_marks(self, chat_id: str, username: str, marks: PersonMarks) -> None:
        self.written(chat_id).marks[username] = marks

    def draft(self, chat_id: str, username: str) -> DraftRecord:
        return self.log(chat_id).drafts.get(username, DraftRecord())

    def save_draft(
        self, chat_id: str, username: str, text: str, attachments_json: str, revision: int
    ) -> int:
        drafts = self.written(chat_id).drafts
        present = drafts.get(username, DraftRecord()).revision
        if revision != present:
            raise Stale("This draft was changed elsewhere meanwhile.", revision=present)
        drafts[username] = DraftRecord(text, attachments_json, revision + 1)
        return revision + 1

    def trust(self, username: str, path: str) -> TrustRecord | None:
        self.check_open()
        return self._trust.get((username, path))

    def save_trust(self, record: TrustRecord) -> None:
        self.check_writable()
        self._trust[record.username, record.path] = record

    def projects(self) -> list[tuple[str, int]]:
        self.check_open()
        counts = dict.fromkeys(self._projects, 0)
        for log in self.visible():
            path = log.record.project_path
            if path is not None:
                counts[path] = counts.get(path, 0) + 1
        return sorted(counts.items())

    def add_project(self, path: str) -> None:
        self.check_writable()
        self._projects.add(path)

    def selection(self, username: str) -> dict[str, object]:
        self.check_open()
        return dict(self._selections.get(username, {}))

    def save_selection(self, username: str, selection: dict[str, object]) -> None:
        self.check_writable()
        self._selections[username] = dict(selection)

    def put_blob(self, chat_id: str, data: bytes, mime: str) -> str:
        self.check_writable()
        blob_id = blob_id_of(data, mime)
        self.log(chat_id).blobs[blob_id] = (data, mime)
        return blob_id

    def blob(self, chat_id: str, blob_id: str) -> tuple[bytes, str]:
        try:
            return self.log(chat_id).blobs[blob_id]
        except KeyError:
            raise NotFound("There is no such blob.", chat_id=chat_id, blob_id=blob_id) from None
