"""The settings of a Telegram bot."""

import re
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    SecretStr,
    field_validator,
    model_validator,
)

TELEGRAM = "https://api.telegram.org"
MOST_DOWNLOAD = 25 * 1024 * 1024
"""Bytes: what an attachment may have at the most."""

_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{20,100}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{16,256}")


class TelegramSettings(BaseModel):
    """What the owner decides about one bot."""

    # A mistake is told without the value beside it, which may be a secret.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    token: SecretStr
    """What BotFather gave out for the bot."""
    mode: Literal["polling", "webhook"] = "polling"
    """Whether we ask Telegram for news, or Telegram calls us."""
    webhook_url: HttpUrl | None = None
    """Where Telegram calls us: the public address of `/platforms/<name>/updates`."""
    webhook_secret: SecretStr | None = None
    """What Telegram says with each call, so that nobody else can."""
    api_url: HttpUrl = HttpUrl(TELEGRAM)
    """Where the Bot API is; another address is for an own server of it."""
    account: str = ""
    """Which of our bots this is, where several serve one installation."""
    groups: Literal["mention", "all"] = "mention"
    """What is answered in groups: what is said to the bot, or everything."""
    channels: Literal["off", "mention", "all"] = "mention"
    """The same for posts in channels, or nothing at all."""
    observe: bool = False
    """Whether what is not said to the bot is kept as context, or left out."""
    download_limit: Annotated[int, Field(ge=0, le=MOST_DOWNLOAD)] = 20_000_000
    """How many bytes a file may have that is fetched."""

    @field_validator("token")
    @classmethod
    def _is_token(cls, given: SecretStr) -> SecretStr:
        if not _TOKEN.fullmatch(given.get_secret_value()):
            raise ValueError(
                "a token is digits, a colon and at least 20 letters, as BotFather said"
            )
        return given

    @field_validator("webhook_secret")
    @classmethod
    def _is_secret(cls, given: SecretStr | None) -> SecretStr | None:
        if given is not None and not _SECRET.fullmatch(given.get_secret_value()):
            raise ValueError("a secret has 16 to 256 of A-Z, a-z, 0-9, _ and -")
        return given

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.mode == "webhook" and (self.webhook_url is None or self.webhook_secret is None):
            raise ValueError("a webhook needs webhook_url and webhook_secret")
        return self

    @property
    def secret(self) -> str:
        """What Telegram proves itself with; empty in a bot that is not called."""
        return self.webhook_secret.get_secret_value() if self.webhook_secret else ""
