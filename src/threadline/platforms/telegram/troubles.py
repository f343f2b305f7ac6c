"""Troubles: what can go wrong with a call to the Bot API, told without the token."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from aiogram import exceptions as said

from threadline.core.errors import PlatformError
from threadline.core.secrecy import HIDDEN

_LONGEST = 86_400
"""Seconds."""
_SHOWN = 200
_TOKEN = re.compile(r"\d+:[\w-]{20,}")


class Flooded(PlatformError):
    """Telegram wants a pause."""

    retry_after: timedelta

    def __init__(self, retry_after: timedelta) -> None:
        """Know how long it shall be."""
        super().__init__(f"Telegram wants a pause of {retry_after.total_seconds():g} s")
        self.retry_after = retry_after


class Declined(PlatformError):
    """Telegram will not do this, however often it is asked."""


class Contested(PlatformError):
    """Somebody else fetches what the bot is told: another program, or a webhook."""


@asynccontextmanager
async def told() -> AsyncIterator[None]:
    """Make a `PlatformError` of whatever a call raises.

    What the SDK says may hold an address with the token in it, so that its words stay here.
    """
    try:
        yield
    except said.TelegramRetryAfter as error:
        raise Flooded(pause_of(error)) from None
    except (said.TelegramUnauthorizedError, said.TelegramNotFound):
        raise PlatformError(
            "Telegram does not know this token", hint="Ask @BotFather for the bot's token again"
        ) from None
    except said.TelegramConflictError as error:
        raise _contested(error.message) from None
    except (said.TelegramBadRequest, said.TelegramForbiddenError) as error:
        raise Declined(f"Telegram refused: {plain(error.message)}") from None
    except said.TelegramNetworkError as error:
        raise PlatformError(f"Telegram cannot be reached ({_cause(error)})") from None
    except said.ClientDecodeError:
        raise PlatformError("Telegram said something that cannot be read") from None
    except said.TelegramAPIError as error:
        raise PlatformError(f"Telegram has a fault ({type(error).__name__})") from None


def pause_of(error: said.TelegramRetryAfter) -> timedelta:
    """Answer for how long Telegram wants a pause; nobody waits longer than a day."""
    return timedelta(seconds=min(error.retry_after, _LONGEST))


def plain(words: str) -> str:
    """Repeat what a server said, in short, and without a token that it may quote."""
    return _TOKEN.sub(HIDDEN, words)[:_SHOWN]


def _contested(words: str) -> Contested:
    if "webhook" in words.lower():
        return Contested(
            "A webhook is set for this bot, so that it cannot be polled",
            hint='Call deleteWebhook of the Bot API once, or set mode = "webhook"',
        )
    return Contested(
        "Another program polls for this bot",
        hint="Stop the other one, or give each an own bot: a token serves one program",
    )


def _cause(error: said.TelegramNetworkError) -> str:
    return type(error.__cause__ or error).__name__
