"""Who asks, and what they may. The door (handlers) authenticates; here stand the rules.

Approvals, raises and trust cannot be given by a bearer token (an agent could hold one), unless the
admin allows it: `allow_token_approvals`. It is a guard, not a wall; see docs/admin-guide.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import Forbidden
from ..protocol.resources import Author


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated person. Without a Hub everyone is the one owner.

    `may_execute` is asked for where an approval is possible with a lesser right (see `person` in
    handlers/base.py).
    """

    username: str
    name: str
    by_token: bool = False
    may_execute: bool = True

    @property
    def author(self) -> Author:
        return Author(username=self.username, name=self.name)


OWNER = Caller("owner", "You")


def require_person(caller: Caller, *, allow_tokens: bool, what: str) -> None:
    """Raise Forbidden when `what` is asked for with a bearer token, or by who may run no agent."""
    if not caller.may_execute:
        raise Forbidden(f"{what} needs the right to run agents here.")
    if caller.by_token and not allow_tokens:
        raise Forbidden(
            f"{what} needs a browser session, not a token.",
            hint="Answer in JupyterLab, or ask the admin for allow_token_approvals.",
        )
