"""Accounts: who may use the API, and what they log in with."""

from typing import Self

from pydantic import Field

from threadline.core.account import (
    NAME_LIMIT,
    Account,
    AccountRole,
    ApiToken,
    AuditEntry,
    Login,
    Passkey,
    TokenScope,
)
from threadline.web.auth.passwords import PASSWORD_MOST
from threadline.web.resources.schemas.bodies import REVISION, Moment, RequestBody, ResponseBody

Name = Field(min_length=1, max_length=NAME_LIMIT, examples=["Ada"])
PASSWORD = Field(
    max_length=PASSWORD_MOST,
    description="At least ten characters, and none of those that everybody guesses.",
    examples=["three words of yours"],
)


class AccountView(ResponseBody):
    """Somebody who may use the web app."""

    key: int
    name: str
    role: AccountRole
    profile: str | None = Field(description="The profile that they belong to; null: all of them.")
    has_password: bool
    made_at: Moment
    revision: str = REVISION

    @classmethod
    def from_account(cls, account: Account) -> "AccountView":
        """Tell who that is."""
        return cls(
            key=account.key,
            name=account.name,
            role=account.role,
            profile=account.profile,
            has_password=account.has_password,
            made_at=account.made_at,
            revision=account.revision,
        )


class MeView(ResponseBody):
    """Who asks, and what they may do."""

    account: AccountView
    sender_id: str = Field(description="As whom they speak: the `sender_id` of their messages.")
    scopes: list[TokenScope]
    login: int | None = Field(description="The key of this login; null: a token asks.")
    csrf: str | None = Field(
        description="Send this as `X-CSRF-Token` with everything that changes something; null: a "
        "token asks, which needs none."
    )


class PasswordLoginRequest(RequestBody):
    """Who wants to log in, and how they prove it."""

    name: str = Name
    password: str = Field(max_length=PASSWORD_MOST, examples=["three words of yours"])


class PasswordChangeRequest(RequestBody):
    """A new password."""

    new: str = PASSWORD
    old: str | None = Field(
        default=None,
        max_length=PASSWORD_MOST,
        description="The one until now, if there is one.",
    )
    end_tokens: bool = Field(default=False, description="Revoke all your tokens, too.")


class PasswordProofRequest(RequestBody):
    """The password of an account that is logged in."""

    password: str = Field(max_length=PASSWORD_MOST, examples=["three words of yours"])


class LoginView(ResponseBody):
    """A browser that is logged in."""

    key: int
    device: str = Field(description="How it calls itself.")
    is_this: bool = Field(description="Whether it is the one that asks.")
    made_at: Moment
    seen_at: Moment
    expires_at: Moment

    @classmethod
    def from_login(cls, login: Login, own: Login | None) -> "LoginView":
        """Tell of a login, as seen from another one."""
        return cls(
            key=login.key,
            device=login.device,
            is_this=own is not None and own.key == login.key,
            made_at=login.made_at,
            seen_at=login.seen_at,
            expires_at=login.expires_at,
        )


class LoginsEndedView(ResponseBody):
    """How many browsers were logged out."""

    ended: int


class TokenRequest(RequestBody):
    """A token that somebody wants."""

    name: str = Field(min_length=1, max_length=NAME_LIMIT, examples=["backup script"])
    scopes: list[TokenScope] = Field(
        min_length=1, max_length=len(TokenScope), description="What it may do, and nothing else."
    )
    days: int | None = Field(
        default=None,
        ge=1,
        le=3650,
        description="For how long it is worth something; null: always, or "
        "as long as the token that creates it.",
    )


class TokenView(ResponseBody):
    """A token with which programs use the API."""

    key: int
    name: str
    scopes: list[TokenScope]
    made_at: Moment
    used_at: Moment | None
    expires_at: Moment | None

    @classmethod
    def from_token(cls, token: ApiToken) -> "TokenView":
        """Tell of a token what may be told."""
        return cls(
            key=token.key,
            name=token.name,
            scopes=sorted(token.scopes),
            made_at=token.made_at,
            used_at=token.used_at,
            expires_at=token.expires_at,
        )


class NewTokenView(TokenView):
    """A token that was just made."""

    token: str | None = Field(
        description="Keep it: it is shown once. Null: the same request was answered before.",
        examples=["tl_…"],
    )

    def without_secret(self) -> Self:
        """Tell the same to whoever asks again."""
        return self.model_copy(update={"token": None})


class AccountRequest(RequestBody):
    """A member who may use the web app from now on."""

    name: str = Name
    profile: str | None = Field(
        default=None,
        pattern="^[a-z0-9][a-z0-9_-]{0,63}$",
        description="The profile they belong to; null: all of them.",
    )


class AccountRenameRequest(RequestBody):
    """Another name."""

    name: str = Name


class LinkView(ResponseBody):
    """A link that logs in once."""

    link: str | None = Field(
        description="Give it to whoever is to log in; it is shown once. Null: the same request was "
        "answered before.",
        examples=["http://127.0.0.1:8642/login?link=…"],
    )
    expires_at: Moment

    def without_secret(self) -> Self:
        """Tell the same to whoever asks again."""
        return self.model_copy(update={"link": None})


class AuditView(ResponseBody):
    """An administrative act."""

    id: int
    at: Moment
    account: str = Field(description="Who did it.")
    act: str = Field(examples=["token.made"])
    subject: str
    detail: str
    token: int | None = Field(
        description="The key of the token that was used; null: a browser, a chat or the terminal."
    )
    times: int = Field(description="How often: failed logins of a quarter of an hour are counted.")

    @classmethod
    def from_entry(cls, entry: AuditEntry) -> "AuditView":
        """Tell what was done."""
        return cls(
            id=entry.id,
            at=entry.at,
            account=entry.account,
            act=entry.act,
            subject=entry.subject,
            detail=entry.detail,
            token=entry.token,
            times=entry.times,
        )


class PasskeyView(ResponseBody):
    """A passkey on a device of somebody."""

    key: int
    name: str
    made_at: Moment
    used_at: Moment | None

    @classmethod
    def from_passkey(cls, passkey: Passkey) -> "PasskeyView":
        """Tell of a passkey what may be told."""
        return cls(
            key=passkey.key, name=passkey.name, made_at=passkey.made_at, used_at=passkey.used_at
        )


class PasskeyQuestionView(ResponseBody):
    """What a browser needs to make a passkey, or to sign with one."""

    challenge: str = Field(description="Send it back with the answer.")
    options: dict[str, object] = Field(
        description="For `navigator.credentials`, binary values in base64url."
    )


class PasskeyAnswerRequest(RequestBody):
    """What a browser made of it."""

    challenge: str = Field(max_length=200)
    credential: dict[str, object] = Field(
        description="What `navigator.credentials` gave, as its `toJSON()` writes it."
    )


class PasskeyMadeView(PasskeyAnswerRequest):
    """A passkey that a browser made."""

    name: str = Field(min_length=1, max_length=NAME_LIMIT, examples=["Ada's phone"])
