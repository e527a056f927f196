"""The guided tour: five scenes, each saying what a part of the interface is as it uses it."""

from __future__ import annotations

from .acts import (
    Memory,
    change_file,
    folder_name,
    list_files,
    read_file,
    run_python_version,
    search_word,
)
from .look import Survey, pick_file, pick_word
from .note import FILES, KEYS, NEXT, TICKED, UNTICKED, Change, compose, free_name
from .stage import Stage
from .wire import Body

_LOOK, _ASK, _WRITE, _EDIT, _LEAVE = (
    "Look around this folder",
    "Ask what brings you here",
    "Write a small note, if you allow it",
    "Change one line of it",
    "Say where everything is",
)

COMMANDS = """\
- `read FILE` shows a file of this folder
- `search WORD` looks for a word in it
- `show a diff` proposes a change to my note
- `ask me something` opens the question form
- `slow` writes for a minute, so that you can practise Stop
- `fail` shows what an error looks like
- `tour` starts over"""


class Checklist:
    """The tour's plan, shown anew whenever a scene begins or ends."""

    def __init__(self, stage: Stage, *texts: str) -> None:
        self._stage = stage
        self._texts = list(texts)
        self._done = 0

    def begin(self) -> None:
        """The next scene is in progress."""
        self._show(current=self._done)

    def end(self, said: str | None = None) -> None:
        """The present scene is over; `said` replaces its text where it went another way."""
        if said is not None:
            self._texts[self._done] = said
        self._done += 1
        self._show(current=None)

    def _show(self, current: int | None) -> None:
        self._stage.plan(
            (text, "completed" if n < self._done else "in_progress" if n == current else "pending")
            for n, text in enumerate(self._texts)
        )


def guided_tour(stage: Stage, memory: Memory) -> None:
    """Play the whole tour. Raises CancelledError when the person stops it."""
    checklist = Checklist(stage, _LOOK, _ASK, _WRITE, _EDIT, _LEAVE)
    checklist.begin()
    _welcome(stage)
    found = _look_around(stage)
    checklist.end()
    checklist.begin()
    reason, keep = _ask_back(stage)
    checklist.end()
    checklist.begin()
    written = _write_note(stage, memory, compose(reason, _names(found), keep))
    checklist.end(None if written else "Write a small note (not written)")
    checklist.begin()
    edited = written is not None and _edit_note(stage, memory, written)
    checklist.end(None if edited else "Change one line of it (not changed)")
    checklist.begin()
    _farewell(stage)
    checklist.end()


def _welcome(stage: Stage) -> None:
    stage.think(
        "Somebody is new here. I will first look at what is in their folder, then show each part "
        "of the interface at the moment I use it. I am a script and this thought was written "
        "beforehand; with a real agent you would read its own reasoning in this place."
    )
    stage.say(
        "Welcome. I am the **Tour**: a script, not a model. I need no account and no network, and "
        "I cost nothing. What I do is real all the same: the files are yours, the command runs, "
        "and what I write stays on your disk.\n\n"
        "- **Reasoning** is the folded line above this text. Open it at any time, also while it "
        "is still growing.\n"
        "- **The checklist** by the message box is my plan; it ticks itself off as I go.\n"
        "- **Stop** ends me at any moment, and so does Escape. Nothing said so far is lost.\n\n"
        f"First I look around `{folder_name(stage.cwd)}`."
    )


def _look_around(stage: Stage) -> Survey:
    found = list_files(stage)
    told = [_tell_files(found)]
    entry = pick_file(found)
    text = read_file(stage, entry.path)[0] if entry else None
    if text is not None:
        count = len(text.lines)
        told.append(
            f"- `{text.path}` has {count} line{'' if count == 1 else 's'}"
            + ("." if text.whole else " in the part that I read.")
        )
        word = pick_word(text.text)
        if word is not None:
            hits, more = search_word(stage, word, found)
            places = len({hit.path for hit in hits})
            told.append(
                f"- The word `{word}` stands in {'at least ' if more else ''}{len(hits)} "
                f"line{'' if len(hits) == 1 else 's'} of {places} file{'' if places == 1 else 's'}."
            )
    ran = run_python_version(stage)
    if ran.exit_code == 0:
        told.append(f"- The command answered `{ran.text}`. It changes nothing, so I did not ask.")
    else:
        told.append("- The command failed. A failed call stays in sight, as this one does.")
    stage.say(
        "Those lines are **tool cards**: one for each thing an agent does. Calls that follow each "
        "other share one line; open it, then open a card, to see exactly what went in and what "
        "came out. File names in them open in JupyterLab. What I learned:\n\n"
        + "\n".join(told)
        + _table(found)
    )
    return found


def _tell_files(found: Survey) -> str:
    if not found.files:
        return "- There is no file here yet, so there was nothing to read or to search."
    files, folders = len(found.files), found.folders
    return (
        f"- {'At least ' if found.partial else ''}{files} file{'' if files == 1 else 's'} and "
        f"{folders} folder{'' if folders == 1 else 's'}, hidden and generated ones left out."
    )


def _table(found: Survey) -> str:
    kinds = found.kinds()[:4]
    if not kinds:
        return ""
    rows = "\n".join(f"| `{kind}` | {count} |" for kind, count in kinds)
    return f"\n\n| Ending | Files |\n|---|---:|\n{rows}"


def _names(found: Survey) -> list[str]:
    return [entry.path for entry in found.files[:8]]


def _ask_back(stage: Stage) -> tuple[list[str], list[str]]:
    """Why the person is here and what to keep; what was not answered gets a plain default."""
    stage.say(
        "Now I ask **you**. Agents put questions into a form above the message box: choose, or "
        "type an answer of your own, and go back and forth between the pages. I wait as long as "
        "you like; the chat list shows that this chat needs you."
    )
    answer = stage.ask(
        {
            "kind": "question",
            "title": "Two questions for the note",
            "detail": "Your answers decide what I propose to write.",
            "questions": [
                _question("reason", "You", "What brings you here?", False, _REASONS),
                _question("keep", "Note", "What shall the note hold?", True, _KEEPS),
            ],
        }
    )
    if answer.decision != "answered":
        stage.say("You would rather not say, and that is fine. I go on with a short note.")
        return [], [NEXT]
    reason, keep = answer.answers.get("reason", []), answer.answers.get("keep", [])
    stage.say(
        f"Thank you: {', '.join(f'*{item}*' for item in [*reason, *keep]) or 'no choice made'}."
    )
    return reason, keep


def _question(
    name: str, header: str, text: str, several: bool, options: tuple[tuple[str, str], ...]
) -> Body:
    return {
        "id": name,
        "header": header,
        "question": text,
        "multi_select": several,
        "options": [{"label": label, "description": more} for label, more in options],
        "allow_other": True,
    }


_REASONS = (
    ("Analysing data", "Notebooks, tables, plots"),
    ("Writing software", "Packages, tests, reviews"),
    ("Teaching or learning", "Examples, explanations"),
    ("Just looking", "No plan at all"),
)
_KEEPS = (
    (FILES, "Up to eight names"),
    (KEYS, "Send, new line, stop"),
    (NEXT, "One suggestion"),
)


def _write_note(stage: Stage, memory: Memory, text: str) -> Change | None:
    permission = stage.prompt.permission
    change = Change(free_name(stage.cwd), None, text)
    if permission == "read_only":
        stage.say(
            "Next I would write a small note, but this chat is set to **read only**, so I write "
            "nothing. **Permission**, below the message box, is where you change that."
        )
        return None
    if permission != "ask":
        how = "Your **Permission** setting lets agents do this unasked; each card holds its diff."
    elif memory.writes_allowed:
        how = "You have allowed me to write in this chat, so I do not ask again."
    else:
        how = (
            "Before anything happens you see the exact content. *Allow once* is for this one "
            "file, *Allow for this chat* for all I write here, and *Deny* is a fine answer too."
        )
    stage.say(f"Next, a file: I propose a note named `{change.path}`. {how}")
    outcome = change_file(stage, memory, change, "A new file of a few lines. Nothing is replaced.")
    if outcome.status == "completed":
        memory.note = change.path
        return change
    if outcome.status == "denied":
        stage.say("Understood: nothing was written. An agent goes on without it, as I do now.")
    else:
        stage.say(f"That did not work: {outcome.text} The failed card says so as well.")
    return None


def _edit_note(stage: Stage, memory: Memory, written: Change) -> bool:
    again = (
        " You allowed one thing once, so I ask again."
        if stage.prompt.permission == "ask" and not memory.writes_allowed
        else ""
    )
    stage.say(
        f"`{written.path}` is there. One line in it can be ticked off, which is an **edit**: the "
        f"card shows what goes and what comes.{again}"
    )
    change = Change(written.path, written.new, written.new.replace(UNTICKED, TICKED))
    outcome = change_file(stage, memory, change, "One line changes: the tour is ticked off.")
    if outcome.status == "denied":
        stage.say("Understood: the note stays as it is.")
    elif outcome.status == "failed":
        stage.say(f"I did not change it: {outcome.text}")
    return outcome.status == "completed"


def _farewell(stage: Stage) -> None:
    stage.say(
        "That is nearly all of it. The rest you can find by yourself:\n\n"
        "- **Pickers** below the message box: agent, model, mode and permission. The stricter of "
        "mode and permission always wins.\n"
        "- **The footer** of an answer tells its duration, tokens and cost. I used no model, so "
        "only the duration stands below: what is not known is never shown as zero.\n"
        "- **The chat list** keeps every chat. It lives on the server: close this page while an "
        "agent works, come back later, and nothing is missing.\n\n"
        "What next? Choose a real agent in a **new chat** and ask it something about "
        f"`{folder_name(stage.cwd)}`. Or stay with me; I understand a few things:\n\n{COMMANDS}"
    )
