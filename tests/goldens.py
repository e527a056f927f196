"""Golden events: what our translators make of the recordings in tests/transcripts.

    python -m tests.goldens            say which goldens differ
    python -m tests.goldens --rewrite  write them anew; the diff is reviewed like code

A recording is `<provider>/<cli version>/<scenario>.jsonl` with lines `{dir: in|out|err, ms, line}`;
its golden is `<scenario>.events.json`: a list of runs, each a list of event bodies.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.providers.claude.translate import Translator, Turn, steer_uuid
from jupyter_agentchat.providers.claude.unhosted import wakes
from jupyter_agentchat.providers.claude.wire import Json, parse
from tests.acp_replay import acp_runs
from tests.codex_replay import codex_runs
from tests.opencode_replay import opencode_runs

TRANSCRIPTS = Path(__file__).parent / "transcripts"

Runs = list[list[EventBody]]


@dataclass(frozen=True)
class Recorded:
    """One line of a recording; `dir` is from the agent's side."""

    dir: str
    line: str


def recordings(provider: str) -> list[Path]:
    """The recordings of a provider, in order."""
    return sorted((TRANSCRIPTS / provider).glob("*/*.jsonl"))


def read_recording(path: Path) -> list[Recorded]:
    """The lines of a recording."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [Recorded(line["dir"], line["line"]) for line in lines]


def claude_runs(recorded: list[Recorded]) -> Runs:
    """Replay a recording of Claude Code: every prompt that was sent begins a run.

    One whose uuid follows from the prompt's before is steered into its run. A turn that the CLI
    begins by itself, when the run before is over, is a run as well.
    """
    runs: Runs = []
    translator: Translator | None = None
    prompt = ""
    if not any(item.dir == "in" for item in recorded):
        # print mode: the prompt was an argument
        translator = Translator(Turn("", "/WORKSPACE"))
        runs.append([])
    for item in recorded:
        if item.dir == "in" and (sent := _object(item.line)).get("type") == "user":
            message = sent.get("uuid", "")
            if translator and message in [steer_uuid(prompt, number) for number in range(4)]:
                translator.commands.expect(message)
                continue
            prompt = message
            translator = Translator(Turn(prompt, "/WORKSPACE"))
            runs.append([])
        elif item.dir == "in" and translator is not None:
            answered = _object(item.line).get("response", {}).get("request_id")
            translator.asks.pop(answered, None)
        elif item.dir == "out" and translator is not None:
            said = parse(item.line)
            if translator.finished and said is not None and _begins_a_turn(said):
                translator = Translator(Turn("", "/WORKSPACE", unasked=True))
                runs.append([])
            runs[-1] += translator.feed(item.line)
    return runs


def _begins_a_turn(message: Json) -> bool:
    return wakes(message) or message.get("subtype") == "task_notification"


REPLAYS: dict[str, Callable[[list[Recorded]], Runs]] = {
    "claude": claude_runs,
    "codex": codex_runs,
    "opencode": opencode_runs,
    "acp": lambda recorded: acp_runs([(one.dir, one.line) for one in recorded]),
}


def golden_of(path: Path) -> Path:
    """Where the golden of a recording lies."""
    return path.with_suffix(".events.json")


def render(runs: Runs) -> str:
    """A golden's text: one event a line, so that a diff shows what changed."""
    texts = []
    for run in runs:
        events = ",\n".join("  " + _line(body) for body in run)
        texts.append(f" [\n{events}\n ]")
    return "[\n" + ",\n".join(texts) + "\n]\n" if texts else "[]\n"


def present_text(path: Path) -> str:
    """What the golden of `path` should say by the present code."""
    replay = REPLAYS[path.relative_to(TRANSCRIPTS).parts[0]]
    return render(replay(read_recording(path)))


def main(arguments: list[str]) -> int:
    """Compare or rewrite all goldens; 1 when one differs."""
    differing = []
    for provider in REPLAYS:
        for path in recordings(provider):
            golden, text = golden_of(path), present_text(path)
            if not golden.exists() or golden.read_text("utf-8") != text:
                differing.append(golden)
                if "--rewrite" in arguments:
                    golden.write_text(text, "utf-8")
    for golden in differing:
        print(golden)
    return 0 if "--rewrite" in arguments else min(len(differing), 1)


def _line(body: EventBody) -> str:
    return json.dumps(body.model_dump(mode="json"), ensure_ascii=False)


def _object(line: str) -> dict[str, Any]:
    value = json.loads(line)
    return value if isinstance(value, dict) else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
