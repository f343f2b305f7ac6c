"""Authentication: who asks for something over HTTP, as the store knows them by what they show."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import HTTPConnection

from threadline.core.account import (
    Account,
    AccountRole,
    Actor,
    ApiToken,
    Login,
    TokenScope,
    clean_device,
)
from threadline.core.errors import NotFound, Refused
from threadline.core.person import Viewer
from threadline.core.platform import KNOWN_CALLER
from threadline.core.route import MAIN_PROFILE
from threadline.store import Store
from threadline.store.authorisation import Authority

COOKIE = "threadline"
SAFE_COOKIE = "__Host-threadline"
"""The same over https: no other host and no plain http can set it."""
TOKEN_PREFIX = "tl_"  # noqa: S105 - it tells people and scanners what they have found
CSRF_HEADER = "X-CSRF-Token"
SECRET_LIMIT = 200
"""Characters; what is longer is no secret of ours."""
SECRET_BYTES = 32
_AUTHORITY = "threadline.authority"
MEMBER_SCOPES = frozenset({TokenScope.READ, TokenScope.WRITE})


LOGIN_HINT = "Log in, or send a token: `Authorization: Bearer tl_…`"


class NotLoggedIn(Refused):
    """Nobody is logged in here, or no longer."""

    status = 401
    headers: ClassVar[Mapping[str, str]] = {"WWW-Authenticate": 'Bearer realm="threadline"'}
    """What goes with the answer."""


class Caller(Struct, frozen=True, kw_only=True):
    """Somebody who asks, and what they may do by what they showed."""

    account: Account
    scopes: frozenset[TokenScope]
    login: Login | None = None
    token: ApiToken | None = None

    @property
    def is_owner(self) -> bool:
        """Whether the installation is theirs."""
        return self.account.role is AccountRole.OWNER

    @property
    def may_administer(self) -> bool:
        """Whether they may do everything: an owner, unless their token says less."""
        return self.may(TokenScope.ADMIN)

    def may(self, scope: TokenScope) -> bool:
        """Tell whether they may do what a scope stands for; only an owner may administer."""
        return scope in self.scopes and (self.is_owner or scope in MEMBER_SCOPES)

    @property
    def actor(self) -> Actor:
        """Who acts, for the audit log: the account, and the token if one was shown."""
        token = None if self.token is None else self.token.key
        return Actor(account=self.account.key, token=token)

    def knows(self, profile: str) -> bool:
        """Tell whether a profile is one of theirs."""
        return self.account.knows(profile)

    def asker(self, profile: str = MAIN_PROFILE) -> Viewer:
        """Answer as whom they look at the conversations of a profile; one of theirs."""
        if not self.knows(profile):
            raise NotFound("There is no such profile", id=profile[:60])
        return replace(self.account.asker(profile), token=self.actor.token)


def authority_of(connection: HTTPConnection) -> Authority:
    """Return what is checked in each transaction of a request; at first it refuses everything."""
    found = connection.scope.get(_AUTHORITY)
    if not isinstance(found, Authority):
        found = connection.scope[_AUTHORITY] = Authority(NotLoggedIn(hint=LOGIN_HINT))
    return found


def new_secret(prefix: str = "") -> str:
    """Draw a secret that nobody guesses."""
    return prefix + secrets.token_urlsafe(SECRET_BYTES)


def hash_secret(secret: str) -> str:
    """Make of a secret what the store may keep of it; it is random, so nothing slows this down."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def csrf_of(secret: str) -> str:
    """Make of a login's secret the word that goes with each change; it tells nothing of it."""
    return hmac.new(secret.encode("utf-8", "surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def cookie_name(connection: HTTPConnection) -> str:
    """Say which cookie holds a login: over https only one that no neighbouring host can set."""
    return SAFE_COOKIE if connection.scope.get("scheme") == "https" else COOKIE


def login_secret(connection: HTTPConnection) -> str | None:
    """Find the secret of a browser's login."""
    found = connection.cookies.get(cookie_name(connection))
    return found if found and len(found) <= SECRET_LIMIT else None


def bearer_secret(connection: HTTPConnection) -> str | None:
    """Find the token that a program shows; None: it shows none, an empty one: one that is odd."""
    header = connection.headers.get("authorization")
    if header is None:
        return None
    kind, _, secret = header.partition(" ")
    fits = kind.lower() == "bearer" and len(secret.strip()) <= SECRET_LIMIT
    return secret.strip() if fits else ""


def browser_name(connection: HTTPConnection) -> str:
    """Say how a browser calls itself, in one short line."""
    return clean_device(connection.headers.get("user-agent", ""))


async def find_visitor(store: Store, connection: HTTPConnection) -> Caller | None:
    """Find out who asks; a token that is shown counts alone, so a wrong one is nobody."""
    shown, secret = bearer_secret(connection), login_secret(connection)
    visitor = None
    if shown is not None:
        visitor = await _by_token(store, shown)
    elif secret is not None:
        visitor = await _by_login(store, secret)
    if visitor is not None:
        connection.scope[KNOWN_CALLER] = True
    return visitor


async def _by_token(store: Store, secret: str) -> Caller | None:
    if not secret.startswith(TOKEN_PREFIX):
        return None
    token = await store.find_token(hash_secret(secret))
    if token is None:
        return None
    return Caller(account=token.account, scopes=token.scopes, token=token)


async def _by_login(store: Store, secret: str) -> Caller | None:
    login = await store.find_login(hash_secret(secret))
    if login is None:
        return None
    is_owner = login.account.role is AccountRole.OWNER
    scopes = frozenset(TokenScope) if is_owner else MEMBER_SCOPES
    return Caller(account=login.account, scopes=scopes, login=login)
