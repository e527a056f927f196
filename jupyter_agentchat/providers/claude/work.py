"""Whether a CLI works, and what in the background, as it says itself. Pure."""

from __future__ import annotations

from .wire import Json, objects_of, text_of


class Work:
    """What one process does, at the newest line that was read."""

    def __init__(self) -> None:
        self.going_on = False
        """It says that it works, or waits for an answer."""
        self.tasks: dict[str, str] = {}
        """Its helpers and background commands that are at work, by their ids: what they do."""

    def __bool__(self) -> bool:
        return self.going_on or bool(self.tasks)

    def note(self, message: Json) -> None:
        """Take in a `system` line."""
        match text_of(message, "subtype"):
            case "session_state_changed":
                self.going_on = text_of(message, "state") != "idle"
            case "background_tasks_changed":
                self.tasks = {
                    text_of(task, "task_id"): text_of(task, "description")
                    for task in objects_of(message, "tasks")
                }
