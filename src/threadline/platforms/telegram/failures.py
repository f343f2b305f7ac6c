"""Failures: what Telegram said when it did not take a message, and what that means for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiogram import exceptions as said
from aiohttp import ClientConnectorError, ServerDisconnectedError

from threadline.core.delivery import SendOutcome
from threadline.core.platform import SendFailed
from threadline.platforms.telegram.troubles import pause_of, plain

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
    except said.TelegramAPIError as error:
        words = f"Telegram could not take it ({type(error).__name__})"
        raise SendFailed(words, outcome=SendOutcome.REJECTED) from None
    except TimeoutError:
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
    if isinstance(cause, ClientConnectorError):
        return SendFailed("Telegram cannot be reached", outcome=SendOutcome.REJECTED)
    what = "broke off" if isinstance(cause, ServerDisconnectedError) else "did not answer"
    return SendFailed(f"Telegram {what}", outcome=SendOutcome.AMBIGUOUS)
