"""How OpenAI words what goes wrong, on both of its interfaces."""

from tests.doubles.providers.script import (
    Error,
    Fails,
    OutOfCredit,
    Overloaded,
    RateLimited,
    TooLong,
    Unauthorised,
)
from tests.doubles.providers.wire import Json, Objection, Received, Refusal, status_of

_INVALID = "invalid_request_error"


def key_of(received: Received) -> str | None:
    """Find the key among the headers."""
    scheme, _, key = received.headers.get("authorization", "").partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def error_of(error: Error, key: str = "", param: str = "messages") -> Json:
    """Word an error, without the shell that HTTP gives it."""
    match error:
        case Overloaded():
            text = "The server is currently overloaded with other requests. Please retry later."
            return _error(text, "server_error", None, "server_is_overloaded")
        case RateLimited(retry_after=seconds):
            text = f"Rate limit reached for requests. Please try again in {seconds}s."
            return _error(text, "requests", None, "rate_limit_exceeded")
        case OutOfCredit():
            text = "You exceeded your current quota, please check your plan and billing details."
            return _error(text, "insufficient_quota", None, "insufficient_quota")
        case Unauthorised():
            text = f"Incorrect API key provided: {key}. You can find your API key in your account."
            return _error(text, _INVALID, None, "invalid_api_key")
        case TooLong():
            text = "This model's maximum context length is 128000 tokens. However, your messages"
            text += " resulted in 130000 tokens. Please reduce the length of the messages."
            return _error(text, _INVALID, param, "context_length_exceeded")
        case Fails(status=404):
            return _error("The model does not exist.", _INVALID, "model", "model_not_found")
        case Fails(status=status) if status < 500:
            return _error("The request is not valid.", _INVALID, None, None)
        case Fails():
            text = "The server had an error while processing your request. Sorry about that!"
            return _error(text, "server_error", None, "server_error")


def refuse(error: Error, key: str = "", param: str = "messages") -> Refusal:
    """Write an error as an answer to a request."""
    headers = {}
    if isinstance(error, RateLimited):
        headers = {"retry-after": str(error.retry_after), "x-ratelimit-remaining-requests": "0"}
    body = {"error": error_of(error, key, param)}
    return Refusal(status=status_of(error), body=body, headers=headers)


def object_to(objection: Objection) -> Refusal:
    """Write that a rule was broken."""
    told = _error(objection.message, _INVALID, objection.param, objection.code)
    return Refusal(status=400, body={"error": told})


def unknown(model: str) -> Refusal:
    """Write that there is no such model."""
    text = f"The model `{model}` does not exist or you do not have access to it."
    told = _error(text, _INVALID, None, "model_not_found")
    return Refusal(status=404, body={"error": told})


def _error(message: str, kind: str, param: str | None, code: str | None) -> Json:
    return {"message": message, "type": kind, "param": param, "code": code}
