"""The admin's rules, read once from the extension's traits and enforced here, on the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import Forbidden
from ..protocol.words import Mode, Permission, stricter


@dataclass(frozen=True, slots=True)
class Policies:
    """What people may choose. None means everything."""

    server_root: Path
    loose_root: Path
    default_provider: str | None = None
    allowed_providers: Sequence[str] | None = None
    allowed_models: Sequence[str] | None = None
    allowed_modes: Sequence[Mode] | None = None
    max_permission: Permission = "full"
    loose_chats: bool = True
    allow_token_approvals: bool = False
    transcript_limit: int = 24_576

    @property
    def first_mode(self) -> Mode:
        """The mode that chats start in: code, or the first that the admin allows."""
        allowed = self.allowed_modes
        return "code" if not allowed or "code" in allowed else allowed[0]

    def allows_model(self, model: str) -> bool:
        return self.allowed_models is None or model in self.allowed_models

    def check(
        self,
        *,
        provider: str | None = None,
        model: str | None = None,
        mode: Mode | None = None,
        permission: Permission | None = None,
    ) -> None:
        """Raise Forbidden for a choice that the admin has not allowed."""
        if (
            provider
            and self.allowed_providers is not None
            and provider not in self.allowed_providers
        ):
            raise Forbidden("This agent is not allowed on this server.", provider=provider)
        if model and not self.allows_model(model):
            raise Forbidden("This model is not allowed on this server.", model=model)
        if mode and self.allowed_modes is not None and mode not in self.allowed_modes:
            raise Forbidden("This mode is not allowed on this server.", mode=mode)
        if permission and stricter(permission, self.max_permission) != permission:
            raise Forbidden(
                "This permission is above what this server allows.",
                permission=permission,
                max_permission=self.max_permission,
            )

    def public(self) -> dict[str, object]:
        """What the interface may know (`status.policies`)."""
        return {
            "default_provider": self.default_provider,
            "allowed_models": list(self.allowed_models)
            if self.allowed_models is not None
            else None,
            "allowed_modes": list(self.allowed_modes) if self.allowed_modes is not None else None,
            "max_permission": self.max_permission,
            "loose_chats": self.loose_chats,
            "allow_token_approvals": self.allow_token_approvals,
        }
