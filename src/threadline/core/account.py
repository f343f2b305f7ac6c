"""Accounts: who uses the web app and the HTTP API, how they prove it, and what they may do."""

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from msgspec import Struct

from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import LOCAL
from threadline.core.errors import Invalid
from threadline.core.person import Viewer
from threadline.core.revision import revision_of
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import checked_count, checked_id, checked_text, clean_title, unfit

AccountKey = NewType("AccountKey", int)
LoginKey = NewType("LoginKey", int)
TokenKey = NewType("TokenKey", int)
PasskeyKey = NewType("PasskeyKey", int)
ShareId = NewType("ShareId", str)

LINK_LASTS = timedelta(minutes=15)
"""How long a one-time link logs in."""
LOGIN_LASTS = timedelta(days=30)
"""How long somebody stays logged in who does not come back."""
PROOF_LASTS = timedelta(minutes=10)
"""How long after a login, or another proof, new ways to log in may be created."""
OUTCOMES_LAST = timedelta(hours=24)
"""How long it is known what came of a request."""
OUTCOME_PATIENCE = timedelta(minutes=5)
"""After so long nobody is at a request any more that has not come to an end: none lasts longer."""
UNDER_WAY = 0
ACCOUNTS_LIMIT = 1000
LOGINS_LIMIT = 50
"""Browsers that are logged in with one account; one more logs out the one not seen for longest."""
TOKENS_LIMIT = 100
PASSKEYS_LIMIT = 20
SHARES_LIMIT = 100
"""Pages of one conversation."""
NAME_LIMIT = 60
DEVICE_LIMIT = 200
OWNER_NAME = "owner"
TERMINAL_CHAT = "terminal"
"""The chat of the owner, at the terminal and in the web app."""

_MEMBER = "account-"
_KEY_DIGITS = 18
_HASH = re.compile(r"[0-9a-f]{64}")


class AccountRole(StrEnum):
    """What an account is to the installation."""

    OWNER = "owner"
    """Sees and may do everything."""
    MEMBER = "member"
    """Sees what is theirs, and speaks for themselves."""


class TokenScope(StrEnum):
    """What somebody may do who shows a token; a login of the web app may do all of it."""

    READ = "read"
    WRITE = "write"
    """Speak, and change conversations."""
    ADMIN = "admin"
    """People, platforms, jobs of everybody, settings, accounts, and what lets a conversation reach
    further: tools, folders, servers of models, leave for always. Only an owner's token has it.
    """


class LoginWay(StrEnum):
    """How a user proves who they are."""

    LINK = "link"
    PASSWORD = "password"  # noqa: S105 - the name of a way, no secret
    PASSKEY = "passkey"
    TOKEN = "token"  # noqa: S105


class Actor(Struct, frozen=True, kw_only=True):
    """Who does something that is written down."""

    account: AccountKey | None = None
    """None: somebody at the machine itself, who needs no account there."""
    token: TokenKey | None = None
    """The API token that was used; None: a browser, a chat, or the machine itself."""


class Account(Struct, frozen=True, kw_only=True):
    """Somebody who may use the web app."""

    key: AccountKey
    name: str
    role: AccountRole
    profile: str | None
    """The profile that it belongs to; None: all of them."""
    made_at: datetime
    ended_at: datetime | None = None
    has_password: bool = False

    @property
    def revision(self) -> str:
        """Name the state that it is in: what somebody can change about it."""
        return revision_of(self.key, self.name)

    @property
    def sender(self) -> Sender:
        """As whom they speak."""
        if self.role is AccountRole.OWNER:
            return Sender(id=OWNER_NAME, name=self.name)
        return Sender(id=f"{_MEMBER}{self.key}", name=self.name)

    @property
    def actor(self) -> Actor:
        """Who it was, where they did something that is written down."""
        return Actor(account=self.key)

    @property
    def chat(self) -> str:
        """Where they speak."""
        return TERMINAL_CHAT if self.role is AccountRole.OWNER else f"{_MEMBER}{self.key}"

    def place(self, thread: str | None = None) -> Address:
        """Answer the address of one of their conversations; each has a thread of its own."""
        return Address(platform=LOCAL, kind=Kind.DM, chat=self.chat, thread=thread)

    def knows(self, profile: str) -> bool:
        """Tell whether a profile is one of theirs."""
        own = self.profile
        return own is None or canonical_profile(own) == canonical_profile(profile)

    def asker(self, profile: str = MAIN_PROFILE) -> Viewer:
        """Answer as whom they look at conversations."""
        sees_all = self.role is AccountRole.OWNER
        return Viewer(address=self.place(), sender=self.sender, profile=profile, sees_all=sees_all)


class Login(Struct, frozen=True, kw_only=True):
    """One browser that is logged in."""

    key: LoginKey
    account: Account
    device: str
    """How its browser calls itself, cleaned and shortened."""
    made_at: datetime
    seen_at: datetime
    expires_at: datetime
    proven_at: datetime
    """When its user last showed a password, a passkey or a login link."""


class ApiToken(Struct, frozen=True, kw_only=True):
    """A token with which programs use the HTTP API. The token itself is shown once."""

    key: TokenKey
    account: Account
    name: str
    scopes: frozenset[TokenScope]
    made_at: datetime
    used_at: datetime | None
    expires_at: datetime | None


class Passkey(Struct, frozen=True, kw_only=True):
    """A key that lies on a device of somebody, and logs them in."""

    key: PasskeyKey
    account: Account
    name: str
    credential: bytes
    public_key: bytes
    sign_count: int
    made_at: datetime
    used_at: datetime | None


class AuditEntry(Struct, frozen=True, kw_only=True):
    """One administrative act: who did what to what, and when. It holds no secret and no words."""

    id: int
    at: datetime
    account: str
    act: str
    """As `token.made`, `settings.changed`, `person.forgotten`."""
    subject: str
    detail: str = ""
    token: TokenKey | None = None
    """The API token that was used; None: a browser, a chat, or the machine itself."""
    times: int = 1
    """How often it happened; failed logins within one period share an entry."""


class Share(Struct, frozen=True, kw_only=True):
    """A page of a conversation that anybody can read who knows its address, until it is revoked."""

    id: ShareId
    session_id: str
    title: str
    made_at: datetime
    revoked_at: datetime | None
    size: int


class RequestOutcome(Struct, frozen=True, kw_only=True):
    """What came of a request that makes something, kept so that it makes nothing twice."""

    request_hash: str
    """What was asked: the same key for something else is a mistake. Empty: that was forgotten."""
    status: int
    """The HTTP status; 0 while it is under way."""
    answer: str
    at: datetime

    @property
    def is_under_way(self) -> bool:
        """Whether somebody is still at it."""
        return self.status == UNDER_WAY

    @property
    def is_forgotten(self) -> bool:
        """Whether it came to something of which nobody is told any more."""
        return not self.is_under_way and not self.request_hash


class KnownRequest(Struct, frozen=True, kw_only=True):
    """A request that is known again if it comes again: whose it is, its key, and what it asks."""

    account: AccountKey
    key: str
    request_hash: str
    session_id: SessionId | None = None
    """The conversation of which alone its answer tells; None: it may tell of any."""

    def __post_init__(self) -> None:
        """Refuse a key that could not be kept, and words where a hash belongs."""
        checked_account_key(self.account)
        checked_id(self.key, "idempotency key")
        checked_secret_hash(self.request_hash)
        if self.session_id is not None:
            checked_session_id(self.session_id)


def clean_account_name(name: object) -> str:
    """Take the name of an account: one line that can be told from all others."""
    checked = clean_title(checked_text(name, "name"), NAME_LIMIT)
    if not checked:
        raise unfit(name, "name", f"1 to {NAME_LIMIT} characters that can be seen")
    return checked


def checked_account_key(value: object) -> AccountKey:
    """Take what may be the key of an account."""
    return AccountKey(checked_count(value, "account", 1))


def member_of(platform: str, sender_id: str) -> AccountKey | None:
    """Tell which member's account speaks as a sender; None: it is nobody of the web app."""
    number = sender_id.removeprefix(_MEMBER)
    if platform != LOCAL or number == sender_id or not (number.isascii() and number.isdigit()):
        return None
    return AccountKey(int(number)) if len(number) <= _KEY_DIGITS else None


def checked_secret_hash(value: object) -> str:
    """Take the hash of a secret, and never the secret itself by mistake."""
    if isinstance(value, str) and _HASH.fullmatch(value):
        return value
    # What it is must not be shown: it may be the secret.
    raise Invalid("Of a secret only the hash is kept", hint="Give 64 hexadecimal digits")


def clean_device(told: object) -> str:
    """Make one short line of how a browser calls itself."""
    return clean_title(told if isinstance(told, str) else "", DEVICE_LIMIT) or "unknown"
