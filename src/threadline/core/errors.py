"""Errors: how an error is told over HTTP (RFC 9457)."""

import math
from datetime import timedelta
from typing import ClassVar

SENTENCE_LIMIT = 500
"""Characters."""


class ThreadlineError(Exception):
    """Something went wrong."""

    status: ClassVar[int] = 500
    """The HTTP status it becomes."""
    chat: ClassVar[str] = "Sorry, something went wrong here. Please try again."
    """What a person in a chat is told; details may be secret, so it names none."""
    retry_after: timedelta | None = None
    """After what time the same request may succeed; None: waiting does not help."""

    def __init__(
        self, message: str = "", *, id: str | None = None, hint: str | None = None
    ) -> None:
        """Say what happened (else the class's own docstring does), to which id, and what to do."""
        super().__init__(message)
        self.message = message or type(self).__doc__ or type(self).__name__
        self.id = id
        self.hint = hint

    def __str__(self) -> str:
        """Read as one or two sentences: what happened (id). What to do."""
        about = f" ({self.id})" if self.id else ""
        advice = f" {_sentence(self.hint)}" if self.hint else ""
        return _sentence(self.message.rstrip(".") + about) + advice


class NotFound(ThreadlineError):
    """Nothing is known by this id."""

    status = 404
    chat = "I could not find that."


class Conflict(ThreadlineError):
    """The state of things does not allow this now."""

    status = 409
    chat = "That is not possible just now. Please look again and retry."


class Stale(Conflict):
    """This was changed by somebody else in the meantime."""

    status = 412


class ReadOnly(Conflict):
    """This session was imported, and is read-only."""

    chat = "This conversation was imported and is read-only. /branch continues it in a copy."


class LeaseLost(Conflict):
    """This worker no longer holds the turn, so it may write nothing.

    It cancels the agent and stores only what was spent; another process recovers the turn.
    """

    chat = "This answer is being given elsewhere."


class Refused(ThreadlineError):
    """This is not allowed."""

    status = 403
    chat = "You are not allowed to do that here."


class QueueFull(Refused):
    """Too many messages are waiting in this conversation."""

    status = 429
    chat = "Too many messages are waiting here. Please send that again after the next answer."
    retry_after = timedelta(seconds=10)


class CapReached(Refused):
    """As much has been spent as may be."""

    status = 402
    chat = "As much has been spent here as may be. Please try again later."


class Invalid(ThreadlineError):
    """This value cannot be used."""

    status = 422
    chat = "I could not read that. Please check it and try again."


class TooLarge(Invalid):
    """This has more bytes than may be sent."""

    status = 413
    chat = "That is too large for me. Please send less at once."


class TooSlow(Invalid):
    """The request took too long."""

    status = 408


class PlatformError(ThreadlineError):
    """A chat platform did not do what it was asked to."""

    status = 502
    chat = "The chat platform did not take that. Please try again later."


class AgentError(ThreadlineError):
    """The agent could not answer."""

    status = 502
    chat = "I could not come up with an answer. Please try again."


class ContextFull(AgentError):
    """The conversation is longer than the model can read at once."""

    chat = "This conversation has become too long for the model. /compress makes room."


class StorageError(ThreadlineError):
    """The database could not do its work."""

    status = 503
    chat = "I cannot reach my memory just now. Please try again in a moment."
    retry_after = timedelta(seconds=5)


class Damaged(StorageError):
    """The database is damaged."""


class Misplaced(StorageError):
    """The open database is no longer the one that its path or URL names."""


class ConfigError(ThreadlineError):
    """The configuration cannot be used."""

    chat = "I am not set up correctly. Please tell the person who runs me."


def sentence_of(error: BaseException) -> str:
    """Say in a short sentence what went wrong; fit to be stored, whatever the error says or does.

    Errors of our family speak for themselves; others are named first.
    """
    name = type(error).__name__
    try:
        text = str(error)
    except Exception as worse:  # noqa: BLE001 - the error shall be recorded, though it cannot speak
        text = f"it cannot say why ({type(worse).__name__})"
    else:
        name = "" if isinstance(error, ThreadlineError) else name
    told = ": ".join(filter(None, (name, text[:SENTENCE_LIMIT])))[:SENTENCE_LIMIT]
    return told.encode("utf-8", "replace").decode().replace("\0", "")


def retry_header(after: timedelta | None) -> dict[str, str]:
    """Return the `Retry-After` header for a delay, in whole seconds; none for None."""
    return {} if after is None else {"Retry-After": str(max(1, math.ceil(after.total_seconds())))}


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


PROBLEM_TYPE = "application/problem+json"
"""The media type of such an answer."""


def problem_of(error: ThreadlineError, status: int | None = None) -> dict[str, object]:
    """Say in plain values what went wrong, under the error's own status or a nearer one."""
    told: dict[str, object] = {
        "type": "about:blank",
        "title": type(error).__name__,
        "status": status or error.status,
        "detail": fit(error.message),
    }
    if error.id:
        told["id"] = fit(error.id)
    if error.hint:
        told["hint"] = fit(error.hint)
    return told


def fit(text: str) -> str:
    """Leave out what cannot be written: half a surrogate pair can be sent, but not answered."""
    return text.encode("utf-8", "replace").decode()
