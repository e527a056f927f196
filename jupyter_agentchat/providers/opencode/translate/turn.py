"""What a translator must know of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ....protocol.events import Notice


@dataclass(frozen=True, slots=True)
class Turn:
    """`session`: the conversation, when it is known before.

    `windows`: context window of each model (`provider/model`). `notices` are told with the first
    line of the run. `servers`: the MCP servers there are. `any_prompt`: the message that begins the
    run is opencode's own and has no id of ours (compaction).
    """

    run_id: str
    cwd: str
    session: str | None = None
    windows: Mapping[str, int] = field(default_factory=dict)
    servers: Collection[str] = ()
    notices: tuple[Notice, ...] = ()
    any_prompt: bool = False
