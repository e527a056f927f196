"""A stored message on its way into the running turn, and what is said when it is not taken."""

from __future__ import annotations

import asyncio
import logging

from ..errors import AgentChatError, SteerUnsupported
from ..process.tasks import TaskOwner
from ..protocol.events import Notice, User
from .driver import Driver

log = logging.getLogger(__name__)

NOT_TAKEN = "The agent did not take this message into its turn. Send it again, or queue it."


async def deliver(driver: Driver, user: User, owner: TaskOwner) -> None:
    """Write the message to the agent, also when the caller is cancelled meanwhile.

    Raises SteerUnsupported when the agent did not take it; the thread was told before.
    """
    # not a part of the request: a page that closes now must not keep the message from the agent
    writing = owner.spawn(_write(driver, user), name=f"steer {driver.run_id}")
    await asyncio.wait({writing})
    if writing.cancelled() or writing.exception() is not None or not writing.result():
        raise SteerUnsupported(NOT_TAKEN, run_id=driver.run_id, text=user.text)


async def _write(driver: Driver, user: User) -> bool:
    taken = False
    try:
        taken = await driver.steer(user.text, user.attachments)
    except (AgentChatError, TimeoutError) as error:
        log.info("run=%s: a message was not taken: %s", driver.run_id, error)
    finally:
        if not taken:
            _say_not_taken(driver)
    return taken


def _say_not_taken(driver: Driver) -> None:
    try:
        driver.commit([Notice(level="warning", code="steer_not_taken", text=NOT_TAKEN)], None)
    except AgentChatError as error:
        log.warning("run=%s: a message was not taken, unsaid: %s", driver.run_id, error)
