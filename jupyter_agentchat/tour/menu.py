"""After the tour: a few commands, each doing the real thing, and an honest no to the rest."""

from __future__ import annotations

import re
from collections.abc import Callable

from .acts import Memory, change_file, list_files, read_file, search_word
from .note import NEXT, Change, compose, free_name
from .script import COMMANDS, guided_tour
from .stage import Stage

_SLOW_LINES = 120
_SLOW_S = 0.5

Scene = Callable[[Stage, Memory], None]


class ScriptedFailureError(Exception):
    """The person typed `fail`: the run is to end with an error."""


def find_scene(text: str) -> Scene | None:
    """The scene that `text` names; None when it is none of our commands.

    A line of it is enough, the last one that fits: modes put their policy in front of a prompt.
    """
    for line in reversed(text.splitlines()):
        words = " ".join(line.split()).rstrip("!?")
        for pattern, make in _COMMANDS:
            match = re.fullmatch(pattern, words.removesuffix("."), re.IGNORECASE)
            if match:
                return make(*match.groups())
    return None


def _read(path: str) -> Scene:
    def scene(stage: Stage, memory: Memory) -> None:
        text, outcome = read_file(stage, path)
        if text is None:
            stage.say(f"I could not read `{path}`: {outcome.text}")
        else:
            stage.say(f"`{path}`: {len(text.lines)} lines. The card above holds the text.")

    return scene


def _search(word: str) -> Scene:
    def scene(stage: Stage, memory: Memory) -> None:
        hits, more = search_word(stage, word, list_files(stage))
        if not hits:
            stage.say(f"No line holds `{word}`. I looked at text files up to 256 KiB.")
            return
        count = f"{'At least ' if more else ''}{len(hits)} line{'' if len(hits) == 1 else 's'}"
        stage.say(f"{count} with `{word}`, the first in `{hits[0].path}`.")

    return scene


def _show_diff(stage: Stage, memory: Memory) -> None:
    change = _next_change(stage, memory)
    if stage.prompt.permission == "read_only":
        patch = str(change.diff()["patch"])
        stage.say(
            "This chat is read only, so I only show what I would do. Nothing is written.\n\n"
            f"```diff\n{patch}```"
        )
        return
    outcome = change_file(stage, memory, change, "Asked for with `show a diff`.")
    if outcome.status == "completed":
        memory.note = change.path
        stage.say(f"Done: `{change.path}` now is what the diff shows.")
    elif outcome.status == "denied":
        stage.say("Understood: nothing was written.")
    else:
        stage.say(f"I did not write it: {outcome.text}")


def _next_change(stage: Stage, memory: Memory) -> Change:
    """One more line in the note of this chat; a new note where there is none."""
    if memory.note is not None:
        try:
            old = (stage.cwd / memory.note).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            memory.note = None
        else:
            count = old.count("- A diff was asked for") + 1
            return Change(memory.note, old, f"{old}- A diff was asked for ({count})\n")
    return Change(free_name(stage.cwd), None, compose([], [], [NEXT]))


def _ask(stage: Stage, memory: Memory) -> None:
    answer = stage.ask(
        {
            "kind": "question",
            "title": "One question",
            "questions": [
                {
                    "id": "rhythm",
                    "header": "Work",
                    "question": "How do you like an agent to work?",
                    "options": [
                        {"label": "Ask me first", "description": "Permission: ask"},
                        {"label": "Edit, but ask for commands", "description": "Accept edits"},
                        {"label": "Only read", "description": "Permission: read only"},
                    ],
                }
            ],
        }
    )
    chosen = ", ".join(answer.answers.get("rhythm", []))
    if answer.decision == "answered" and chosen:
        stage.say(f"You said: *{chosen}*. **Permission** below the message box is where to set it.")
    else:
        stage.say("No answer is an answer too.")


def _slow(stage: Stage, memory: Memory) -> None:
    stage.say("I write a line every half second for a minute. Press **Stop** or Escape.")
    for number in range(1, _SLOW_LINES + 1):
        stage.wait(_SLOW_S)
        stage.say(f"Line {number} of {_SLOW_LINES}.")
    stage.say("The minute is over; nobody stopped me.")


def _fail(stage: Stage, memory: Memory) -> None:
    stage.say("This run now fails, because you asked for it.")
    raise ScriptedFailureError


def _help(stage: Stage, memory: Memory) -> None:
    stage.say(f"I understand these, and do them for real:\n\n{COMMANDS}")


def say_no(stage: Stage, memory: Memory) -> None:
    """The answer to everything that is no command of ours."""
    stage.say(
        "I am a script and cannot answer that; a real agent can, in a new chat. This is what I "
        f"understand:\n\n{COMMANDS}"
    )


def _fixed(scene: Scene) -> Callable[..., Scene]:
    return lambda *_groups: scene


_COMMANDS: tuple[tuple[str, Callable[..., Scene]], ...] = (
    (r"(?:please )?read [`'\"]?(.+?)[`'\"]?", _read),
    (r"(?:please )?search (?:for )?[`'\"]?(.+?)[`'\"]?", _search),
    (r"(?:show (?:me )?)?a diff|diff", _fixed(_show_diff)),
    (r"ask(?: me(?: something| a question)?)?", _fixed(_ask)),
    (r"slow", _fixed(_slow)),
    (r"fail", _fixed(_fail)),
    (r"help|what can you do", _fixed(_help)),
    (r"(?:take |start )?(?:the |a )?tour|show me around|start over", _fixed(guided_tour)),
)
