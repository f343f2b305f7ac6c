"""The settings of a webhook."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr, field_validator

LEAST_SECRET = 16
"""Characters: a shorter secret can be tried out."""
MOST_BODY = 25_000_000
"""Bytes."""


class WebhookSettings(BaseModel):
    """What the owner decides about one webhook."""

    # A mistake is told without the value beside it, which may be a secret.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    secret: SecretStr
    """Shared with whoever calls; signs what we send too."""
    former_secrets: tuple[SecretStr, ...] = ()
    """Taken as well, while callers change over to a new one."""
    callback: HttpUrl | None = None
    """Where answers are sent; without it they are fetched."""
    senders: Literal["trusted", "checked"] = "trusted"
    """Whether whoever signs answers for the senders, or each of them has to be let in."""
    body_limit: Annotated[int, Field(ge=1_000, le=MOST_BODY)] = 1_000_000
    """How many bytes a request may have."""
    text_limit: Annotated[int, Field(ge=64, le=1_000_000)] = 100_000
    """How many characters one message to the callback may have."""
    timeout_seconds: Annotated[float, Field(gt=0, le=30)] = 10
    """How long the callback may take."""

    @field_validator("secret", "former_secrets")
    @classmethod
    def _is_long(
        cls, given: SecretStr | tuple[SecretStr, ...]
    ) -> SecretStr | tuple[SecretStr, ...]:
        for secret in given if isinstance(given, tuple) else (given,):
            if len(secret.get_secret_value()) < LEAST_SECRET:
                raise ValueError(f"a secret has at least {LEAST_SECRET} characters")
        return given

    @property
    def keys(self) -> tuple[str, ...]:
        """All secrets that are taken, the one we sign with first."""
        return tuple(one.get_secret_value() for one in (self.secret, *self.former_secrets))
