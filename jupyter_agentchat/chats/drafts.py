"""What a person has typed in a chat and not sent: one draft per person, on every device."""

from __future__ import annotations

import logging

from pydantic import TypeAdapter, ValidationError

from ..errors import TooLarge
from ..protocol.base import DEFERRED
from ..protocol.controls import Draft, DraftUpdate
from ..protocol.resources import Attachment
from ..store.base import Store
from .access import Caller

log = logging.getLogger(__name__)

ATTACHMENTS_LIMIT_BYTES = 256 * 1024
_ATTACHMENTS: TypeAdapter[list[Attachment]] = TypeAdapter(list[Attachment], config=DEFERRED)


class Drafts:
    """See the module. Every method raises NotFound for a chat that is not there."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, chat_id: str, caller: Caller) -> Draft:
        """The person's draft; revision 0 and empty when nothing was kept."""
        self._store.chat(chat_id)
        kept = self._store.draft(chat_id, caller.username)
        try:
            attachments = _ATTACHMENTS.validate_json(kept.attachments_json)
        except ValidationError as error:
            # of another version: the text is what must not be lost
            log.warning("chat=%s: a draft's attachments are left out: %s", chat_id, error)
            attachments = []
        return Draft(text=kept.text, attachments=attachments, revision=kept.revision)

    def put(self, chat_id: str, caller: Caller, update: DraftUpdate) -> Draft:
        """Replace the draft that the person saw. Raises Stale (`details.revision`), TooLarge."""
        self._store.chat(chat_id)
        attachments = _ATTACHMENTS.dump_json(update.attachments).decode()
        if len(attachments) > ATTACHMENTS_LIMIT_BYTES:
            raise TooLarge("Too many attachments.", limit_bytes=ATTACHMENTS_LIMIT_BYTES)
        revision = self._store.save_draft(
            chat_id, caller.username, update.text, attachments, update.revision
        )
        return Draft(text=update.text, attachments=update.attachments, revision=revision)
