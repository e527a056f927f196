"""The conversation's id as the CLI tells it: new, moved by a clearing, or as before. Pure."""

from __future__ import annotations

from ....protocol.events import EventBody, Notice, Session


class Conversation:
    """What is known of it in one run."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._known: tuple[str, str] | None = None

    def is_called(self, session_id: str, model: str) -> list[EventBody]:
        """Its id and model stand in a line; nothing when that is no news."""
        if not session_id or (session_id, model) == self._known:
            return []
        self._known = (session_id, model)
        return [
            Session(provider=self._provider, provider_session_id=session_id, model=model or None)
        ]

    def moved(self, session_id: str) -> list[EventBody]:
        """Its id stands in a line without its model: news only when it is another."""
        known, model = self._known or ("", "")
        return self.is_called(session_id, model) if known and session_id != known else []

    def cleared(self, session_id: str) -> list[EventBody]:
        """It was begun anew under another id."""
        text = "The conversation was cleared: Claude no longer knows what stands above."
        notice = Notice(level="info", code="conversation_reset", text=text)
        return [*self.moved(session_id), notice]
