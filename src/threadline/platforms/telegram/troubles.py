"""Troubles: what can go wrong with a call to the Bot API, told without the token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from aiogram import exceptions as said

from threadline.core.errors import PlatformError


class Flooded(PlatformError):
    """Telegram wants a pause."""

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
        raise Flooded(timedelta(seconds=error.retry_after)) from None
    except (said.TelegramUnauthorizedError, said.TelegramNotFound):
        raise PlatformError(
            "Telegram does not know this token", hint="Ask @BotFather for the bot's token again"
        ) from None
    except said.TelegramConflictError as error:
        raise _contested(error.message) from None
    except (said.TelegramBadRequest, said.TelegramForbiddenError) as error:
        raise Declined(f"Telegram refused: {error.message[:200]}") from None
    except said.TelegramNetworkError as error:
        raise PlatformError(f"Telegram cannot be reached ({_cause(error)})") from None
    except said.ClientDecodeError:
        raise PlatformError("Telegram said something that cannot be read") from None
    except said.TelegramAPIError as error:
        raise PlatformError(f"Telegram has a fault ({type(error).__name__})") from None


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
