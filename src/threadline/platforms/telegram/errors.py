"""Errors: what can go wrong with a call to the Bot API, told without the token."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from aiogram import exceptions as said
from aiohttp import (
    ClientConnectorError,
    ConnectionTimeoutError,
    ServerDisconnectedError,
    ServerFingerprintMismatch,
)

from threadline.core.delivery import SendOutcome
from threadline.core.errors import PlatformError
from threadline.core.platform import SendFailed
from threadline.core.redaction import HIDDEN
from threadline.platforms.telegram.aiogram_session import Unavailable

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
async def to_platform_error() -> AsyncIterator[None]:
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


_DEAD = (
    "chat not found",
    "user not found",
    "user is deactivated",
    "peer_id_invalid",
    "group chat was deactivated",
    "group chat was deleted",
    "bot is not a member",
    "have no rights to send",
    "not enough rights to send",
    "chat_write_forbidden",
    "topic_deleted",
    "message thread not found",
)
_BEFORE_SENDING = (ClientConnectorError, ConnectionTimeoutError, ServerFingerprintMismatch)
"""Refused, not found, not trusted, or not there in time: no request was written."""
_UNCHANGED = "message is not modified"
_UNREADABLE = ("can't parse entities", "entity_", "entities_too_long")


@asynccontextmanager
async def explained() -> AsyncIterator[None]:
    """Say of whatever goes wrong how it leaves the message; no sentence names the token."""
    try:
        yield
    except said.TelegramRetryAfter as error:
        raise SendFailed(
            "Telegram wants a pause", outcome=SendOutcome.REJECTED, retry_after=pause_of(error)
        ) from None
    except (said.TelegramForbiddenError, said.TelegramBadRequest, said.TelegramNotFound) as error:
        raise _refusal(error) from None
    except said.TelegramUnauthorizedError:
        raise SendFailed(
            "Telegram does not know the bot's token (any more)", outcome=SendOutcome.REJECTED
        ) from None
    except said.TelegramEntityTooLarge:
        raise SendFailed("The file is too large", outcome=SendOutcome.REJECTED) from None
    except (said.TelegramNetworkError, said.ClientDecodeError) as error:
        raise _silence(error) from None
    except Unavailable:
        words = "Telegram is unavailable for the moment"
        raise SendFailed(words, outcome=SendOutcome.REJECTED) from None
    except said.TelegramServerError as error:
        # It failed on its way through Telegram: the message may have been sent before that.
        words = f"Telegram failed: {plain(error.message)}"
        raise SendFailed(words, outcome=SendOutcome.AMBIGUOUS) from None
    except said.TelegramAPIError as error:
        words = f"Telegram could not take it ({type(error).__name__})"
        raise SendFailed(words, outcome=SendOutcome.REJECTED) from None
    except OSError:  # A time-out is one too.
        raise SendFailed("Telegram did not answer", outcome=SendOutcome.AMBIGUOUS) from None


def is_unreadable(error: said.TelegramBadRequest) -> bool:
    """Tell whether Telegram stumbled over the styles of a text, and not over the text."""
    words = error.message.lower()
    return any(sign in words for sign in _UNREADABLE)


def is_unchanged(error: said.TelegramBadRequest) -> bool:
    """Tell whether a message reads already as it should."""
    return _UNCHANGED in error.message.lower()


def _refusal(error: said.TelegramAPIError) -> SendFailed:
    words = error.message.lower()
    is_dead = isinstance(error, said.TelegramForbiddenError) or any(sign in words for sign in _DEAD)
    outcome = SendOutcome.DEAD if is_dead else SendOutcome.REJECTED
    return SendFailed(f"Telegram refused: {plain(error.message)}", outcome=outcome)


def _silence(error: Exception) -> SendFailed:
    cause = error.__cause__
    if isinstance(cause, _BEFORE_SENDING):
        return SendFailed("Telegram cannot be reached", outcome=SendOutcome.REJECTED)
    what = "broke off" if isinstance(cause, ServerDisconnectedError) else "did not answer"
    return SendFailed(f"Telegram {what}", outcome=SendOutcome.AMBIGUOUS)
