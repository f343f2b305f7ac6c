"""Hooks as a user would write them: some listen, some misbehave."""

import asyncio
import threading

from threadline.core.message import Message
from threadline.gateway.hooks import DeliveryFailed, SessionStarted, TurnFinished
from threadline.store.sessions.session_end import Ending

told: list[str] = []
"""What the hooks here were told, one word for each."""
raised: list[str] = []
released = threading.Event()


def session_started(news: SessionStarted) -> None:
    """Note that a session began."""
    told.append(f"started {news.session.title}")


async def turn_finished(news: TurnFinished) -> None:
    """Note how a turn ended."""
    told.append(f"turn {news.turn.state}")


def delivery_failed(news: DeliveryFailed) -> None:
    """Note what never arrived."""
    told.append(f"lost on {news.delivery.platform}")


def session_ended(ending: Ending, transcript: list[Message]) -> None:
    """Note what a session that ended had been about."""
    told.append(f"ended with {len(transcript)} lines")


def raises(news: object, *more: object) -> None:
    """Break."""
    raised.append(type(news).__name__)
    raise RuntimeError("the hook broke")


async def hangs(news: object) -> None:
    """Never come back."""
    raised.append("hanging")
    await asyncio.Event().wait()


def blocks(news: object) -> None:
    """Not come back on a thread, until the test lets it."""
    raised.append("blocking")
    released.wait(30)
