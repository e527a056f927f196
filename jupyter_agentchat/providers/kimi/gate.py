"""What a run may do unasked, as it goes on: its permission, and what was allowed for good."""

from __future__ import annotations

from typing import Literal

from ...protocol.tools import AskOption
from ...protocol.words import Permission
from .replies import decide
from .translate import OpenAsk, Places, is_plan, open_approval
from .wire import Json, text_of


class Gate:
    """Decides on the approvals of one run. `rules` are the chat's, and last longer than a run."""

    def __init__(self, permission: Permission, rules: set[str], places: Places) -> None:
        self.permission = permission
        self._rules = rules
        self._places = places
        self._plans: set[str] = set()

    def asked(self, payload: Json) -> Literal["ask", "allow", "deny"]:
        """Who answers an approval that is asked for: a person, or the permission."""
        if is_plan(payload):
            self._plans.add(text_of(payload, "approval_id"))
        rule = open_approval(payload, None, self._places).rule
        return decide(payload, self.permission, frozenset(self._rules), rule, self._places)

    def allowed(self, opened: OpenAsk, option: AskOption) -> None:
        """A person has allowed something."""
        self.permission = option.leads_to or self.permission
        if option.scope == "chat":
            self._rules.add(opened.rule)

    def resolved(self, payload: Json) -> None:
        """An approval is over. An approved plan leads on, also where an earlier server has passed
        the approval on: to what exactly only that one knew, so that here it is the least."""
        is_planned = text_of(payload, "approval_id") in self._plans
        approved = text_of(payload, "decision") == "approved"
        if is_planned and approved and self.permission == "read_only":
            self.permission = "ask"
