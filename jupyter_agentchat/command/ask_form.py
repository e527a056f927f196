"""An ask as a dialogue of lines: what to show, and what a typed line means. Pure."""

from __future__ import annotations

from .rest import Json

DIFF_LINES = 400


class Unclear(Exception):
    """The line is no answer; the message says what would be one."""


class AskForm:
    """One ask put to a person. An empty line never answers; the end of input denies."""

    def __init__(self, ask: Json) -> None:
        self.ask_id = str(ask["ask_id"])
        self.is_question = ask.get("kind") == "question"
        self._ask = ask
        self._options: list[Json] = list(ask.get("options") or [])
        self._questions: list[Json] = list(ask.get("questions") or [])
        self._answers: dict[str, list[str]] = {}

    @property
    def secret(self) -> bool:
        """Whether what is typed now must not be shown."""
        page = self._page
        return bool(page and page.get("secret"))

    @property
    def _page(self) -> Json | None:
        left = len(self._answers)
        return self._questions[left] if left < len(self._questions) else None

    def intro(self) -> str:
        """What is asked, with everything a person needs to judge it."""
        ask = self._ask
        lines = [str(ask.get("title"))]
        if ask.get("detail"):
            lines.append(str(ask["detail"]))
        command = (ask.get("input") or {}).get("command")
        if command:
            lines += [f"  {line}" for line in str(command).split("\n")]
        if ask.get("plan"):
            lines.append(str(ask["plan"]))
        for diff in ask.get("diffs") or []:
            lines += _diff_lines(diff)
        return "\n".join(lines)

    def choices(self) -> str:
        """The question on the present page, if there is one, and the numbered choices."""
        page = self._page
        lines: list[str] = []
        if page is not None:
            place = f"({len(self._answers) + 1}/{len(self._questions)}) "
            lines.append(f"{place if len(self._questions) > 1 else ''}{page.get('question')}")
        for number, choice in enumerate(self._choices(), 1):
            more = f": {choice['description']}" if choice.get("description") else ""
            lines.append(f"  {number}  {choice.get('label')}{more}")
        return "\n".join(lines)

    def prompt(self) -> str:
        """How to answer, in front of the cursor."""
        page = self._page
        if page is None:
            return "number, or n and a reason to deny:"
        if not self._choices():
            return "answer:"
        what = "numbers" if page.get("multi_select") else "number"
        return f"{what}{', or words of your own' if page.get('allow_other', True) else ''}:"

    def feed(self, line: str | None) -> Json | None:
        """The answer as REST takes it; None when another page follows. Raises Unclear."""
        if line is None:
            return {"decision": "deny"}
        text = line.strip()
        if not text:
            raise Unclear("Nothing was chosen.")
        page = self._page
        if page is None:
            return self._decide(text)
        self._answers[str(page["id"])] = self._chosen(page, text)
        return None if self._page else {"decision": "answered", "answers": self._answers}

    def _choices(self) -> list[Json]:
        page = self._page
        return self._options if page is None else list(page.get("options") or [])

    def _decide(self, text: str) -> Json:
        if text.isdecimal() and 0 < int(text) <= len(self._options):
            option = self._options[int(text) - 1]
            return {"decision": option["decision"], "option_id": option["id"]}
        word, _, reason = text.partition(" ")
        if word.lower() in ("n", "no", "deny"):
            return {"decision": "deny", **({"message": reason.strip()} if reason.strip() else {})}
        raise Unclear(f"Type a number from 1 to {len(self._options)}, or n to deny.")

    def _chosen(self, page: Json, text: str) -> list[str]:
        labels = [str(choice["label"]) for choice in page.get("options") or []]
        numbers = text.replace(",", " ").split()
        if labels and all(number.isdecimal() for number in numbers):
            if any(not 0 < int(number) <= len(labels) for number in numbers):
                raise Unclear(f"The choices are 1 to {len(labels)}.")
            if len(numbers) > 1 and not page.get("multi_select"):
                raise Unclear("Only one choice is possible.")
            return [labels[int(number) - 1] for number in dict.fromkeys(numbers)]
        if labels and not page.get("allow_other", True):
            raise Unclear(f"Type a number from 1 to {len(labels)}.")
        return [text]


def _diff_lines(diff: Json) -> list[str]:
    patch = diff.get("patch")
    if patch:
        lines = str(patch).rstrip("\n").split("\n")
    else:
        lines = [f"{diff.get('change')} {diff.get('path')}"]
        lines += [f"-{line}" for line in str(diff.get("old") or "").splitlines()]
        lines += [f"+{line}" for line in str(diff.get("new") or "").splitlines()]
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], f"({len(lines) - DIFF_LINES} more lines)"]
    return lines
