"""Errors of providers, as plain sentences.

What a provider sends with an error may quote a key or a conversation: none of it is passed on.
"""

import re
from enum import StrEnum

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from threadline.core.errors import AgentError, ContextFull, ThreadlineError

_TOO_LARGE = 413
_TOO_EARLY = frozenset({408, 409, 425})
"""What a provider says when the same request may work a moment later."""
_WORDS = 200
_SECONDS = re.compile(r"\d{1,6}(\.\d{1,9})?s")
_CODE = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
_FULL = re.compile(
    r"context (length|window|size)|maximum context|prompt is too long|input is too long"
    r"|too many (input )?tokens|exceeds? the (available |maximum )?(context|number of tokens)",
    re.IGNORECASE,
)


class Remedy(StrEnum):
    """What may help when a model did not answer."""

    WAIT = "wait"
    """The same request may work later."""
    ANOTHER = "another"
    """This model will not answer, but another one may."""
    NONE = "none"
    """Asking anybody else would be no better."""


class EmptyAnswer(Exception):
    """A model ended its answer, and had said nothing."""


class BrokenOff(Exception):
    """The stream of an answer ended before the answer did."""


class CutShort(Exception):
    """A model had to stop before it could say or do anything."""


def remedy_for(error: BaseException) -> Remedy:
    """Tell what may help after an error."""
    if is_context_full(error) or isinstance(error, ContentFilterError | UserError | CutShort):
        return Remedy.NONE
    match error:
        case ThreadlineError():
            return Remedy.ANOTHER
        case ModelQuotaExceededError():
            return Remedy.ANOTHER
        case (
            ModelRateLimitError()
            | ModelUnavailableError()
            | ModelServerError()
            | ModelConnectionError()
            | ModelRequestTimeout()
        ):
            return Remedy.WAIT
        case ModelHTTPError(status_code=status) if status in _TOO_EARLY:
            return Remedy.WAIT
        case ModelRequestRejectedError() | ModelHTTPError():
            return Remedy.ANOTHER
        case _:
            # A stream that broke off, or that nobody could read.
            return Remedy.WAIT


def wait_asked_by(error: BaseException) -> float | None:
    """Tell how many seconds a provider asked to wait for."""
    if not isinstance(error, ModelAPIError):
        return None
    return _delay_in(error.body) if error.retry_after is None else error.retry_after


def is_context_full(error: BaseException) -> bool:
    """Tell whether a model was given more than it can read at once."""
    if isinstance(error, ModelContextWindowExceededError | ContextFull):
        return True
    if not isinstance(error, ModelAPIError):
        return False
    if isinstance(error, ModelHTTPError) and error.status_code == _TOO_LARGE:
        return True
    # Servers that one runs oneself say it in their own words.
    is_about_request = isinstance(error, ModelRequestRejectedError | ModelServerError)
    return is_about_request and _FULL.search(str(error.body)[:2000]) is not None


def plain_error(error: BaseException, model: str) -> AgentError:
    """Say in a plain sentence why a model did not answer."""
    if isinstance(error, AgentError):
        return error
    if isinstance(error, ThreadlineError):
        return AgentError(error.message, id=error.id, hint=error.hint)
    if is_context_full(error):
        said = f"The conversation is longer than {model} can read at once"
        return ContextFull(said, hint="/compress makes room")
    said, hint = _explain(error, model)
    return AgentError(said, hint=hint)


def _explain(error: BaseException, model: str) -> tuple[str, str | None]:
    match error:
        case ModelAuthenticationError():
            provider = model.partition(":")[0]
            hint = f"Look at `providers.{provider}.api_key` in the configuration"
            return f"The provider of {model} did not accept the key", hint
        case ModelNotFoundError():
            return f"The provider knows no model called {model}", "/model chooses another one"
        case ModelQuotaExceededError():
            return f"The account for {model} has no credit left", "Its provider sells more"
        case ModelRateLimitError():
            return f"{model} is asked too often just now", "Please try again later"
        case ModelOverloadedError():
            return f"{model} is overloaded just now", "Please try again later"
        case ModelUnavailableError():
            return f"{model} is not available just now", "Please try again later"
        case ModelServerError():
            return f"The provider of {model} failed{_status(error)}", "Please try again later"
        case _:
            return _explain_rest(error, model)


def _explain_rest(error: BaseException, model: str) -> tuple[str, str | None]:
    match error:
        case ModelTimeoutError() | ModelRequestTimeout():
            return f"{model} did not answer in time", "Please try again later"
        case BrokenOff() | ModelConnectionError(in_stream=True):
            return f"The connection to {model} broke off in the middle of its answer", None
        case ModelConnectionError():
            return f"{model} cannot be reached", "Is its address right, and does it run?"
        case ContentFilterError():
            return f"{model} declined to answer this", "Put it differently, or ask another model"
        case ModelRequestRejectedError() | ModelHTTPError():
            return f"{model} did not take the request{_status(error)}", None
        case EmptyAnswer():
            return f"{model} said nothing", "Please try again"
        case CutShort():
            hint = "`max_tokens` among the options of the model says how much that is"
            return f"{model} used up what it may say before it came to an answer", hint
        case UserError():
            return f"{model} cannot be asked like this: {str(error)[:_WORDS]}", None
        case ModelAPIError() | UnexpectedModelBehavior():
            return f"{model} sent an answer that cannot be read", "Please try again"
        case _:
            return f"{model} could not be asked ({type(error).__name__})", None


def _delay_in(body: object) -> float | None:
    """Find what Google writes into the body of an error, where others have a header."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and _SECONDS.fullmatch(delay):
            return float(delay.removesuffix("s"))
    return None


def _status(error: BaseException) -> str:
    """Name the status and the code of an error, which are a provider's words but no secrets."""
    told = [str(error.status_code)] if isinstance(error, ModelHTTPError) else []
    code = error.provider_error_code if isinstance(error, ModelAPIError) else None
    if code is not None and _CODE.fullmatch(code):
        told.append(code)
    return f" ({' '.join(told)})" if told else ""
