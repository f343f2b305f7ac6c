"""Authorisation of a request: what its user may do is asked in each transaction of the request."""

from collections.abc import Callable, Collection
from functools import wraps
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar, cast

from threadline.core.access import SenderAccess
from threadline.core.account import Account, ApiToken, KnownRequest, Login
from threadline.core.errors import NotFound, StorageError, ThreadlineError
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.database.port import Database, Transaction, write_keyed
from threadline.database.wrapper import DatabaseWrapper
from threadline.store.accounts import idempotency
from threadline.store.accounts.logins import find_live_login
from threadline.store.accounts.tokens import find_live_token
from threadline.store.people import grants
from threadline.store.people.grants import StandingChanged
from threadline.store.people.visibility import is_shown

P = ParamSpec("P")
T = TypeVar("T")

Condition: TypeAlias = Callable[[Transaction], None]
"""Raises what the user of a request is told if they may not do what the request asks for."""


class Authority:
    """The login or token of one request, and the conditions under which it may go on.

    A login, a token or a session can be taken from its user at any moment. Each transaction of the
    request begins with `check`, so that nothing is read or written after that.
    """

    def __init__(self, refusal: ThreadlineError) -> None:
        """Refuse everything with `refusal` until it is known who asks."""
        self._refusal = refusal
        self._credential: Login | ApiToken | None = None
        self._conditions: list[Condition] = []

    @property
    def account(self) -> Account | None:
        """The account of the user, or None before it is known who asks."""
        return None if self._credential is None else self._credential.account

    def rely_on(self, credential: Login | ApiToken) -> None:
        """Go on for as long as a login or a token is valid, and may do no less than now."""
        self._credential = credential

    def require(self, condition: Condition) -> None:
        """Check one more condition in every transaction from now on."""
        self._conditions.append(condition)

    def check(self, tx: Transaction) -> None:
        """Raise if the user of the request may not go on."""
        if not _is_valid(tx, self._credential):
            raise self._refusal
        for condition in self._conditions:
            condition(tx)


class RequestDatabase(DatabaseWrapper):
    """A database in the name of a user, which `unchecked` takes off again."""


class AuthorisedDatabase(RequestDatabase):
    """A database for one request or message: each transaction begins with the same check."""

    def __init__(self, database: Database, check: Condition) -> None:
        """Use a database in the name of a user."""
        super().__init__(database)
        self._check = check

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a verb after the check, in one transaction."""
        return await self.wrapped.write(self._checked(verb), *args, **kwargs)

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query after the check, in one transaction."""
        return await self.wrapped.read(self._checked(query), *args, **kwargs)

    def _checked(
        self, verb: Callable[Concatenate[Transaction, P], T]
    ) -> Callable[Concatenate[Transaction, P], T]:
        @wraps(verb)
        def checked(tx: Transaction, /, *args: P.args, **kwargs: P.kwargs) -> T:
            self._check(tx)
            return verb(tx, *args, **kwargs)

        return checked


def unchecked(database: Database) -> Database:
    """Return the same database without the checks of a request.

    For what was decided and has to be finished, whatever becomes of the user's rights.
    """
    while isinstance(database, RequestDatabase):
        database = database.wrapped
    return database


def for_standing(
    database: Database, platform: str, ids: Collection[str], standing: SenderAccess, *, profile: str
) -> Database:
    """Return a database for one message of a sender.

    Each transaction raises `StandingChanged` if what the sender may do is not `standing` any more,
    so that nobody is heard by a grant that was revoked.
    """

    def check(tx: Transaction) -> None:
        if grants.standing(tx, platform, frozenset(ids), profile=profile) != standing:
            raise StandingChanged("What this sender may do has changed", id=platform)

    return AuthorisedDatabase(unchecked(database), check)


class AnsweringDatabase(RequestDatabase):
    """A database for one change, whose response is stored in the same transaction."""

    def __init__(
        self,
        database: Database,
        request: KnownRequest,
        status: int,
        answer: Callable[[T], str],
    ) -> None:
        """Store the response of one change; `answer` writes it from what the verb returns."""
        super().__init__(database)
        self._request = request
        self._status = status
        self._answer = cast("Callable[[object], str]", answer)
        self._is_used = False

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a verb and store its response, unless it is stored already: then raise MadeBefore."""
        if self._is_used:
            raise StorageError("A request that is made once makes one change")
        self._is_used = True

        def make(tx: Transaction) -> T:
            return verb(tx, *args, **kwargs)

        return await write_keyed(
            self.wrapped,
            self._request.key,
            idempotency.make_once,
            self._request,
            make,
            self._answer,
            status=self._status,
        )


def session_shown(viewer: Account, id: SessionId, refusal: ThreadlineError) -> Condition:
    """Return the condition that a viewer may see a session."""

    def check(tx: Transaction) -> None:
        if not is_shown(tx, viewer, id):
            raise refusal

    return check


def turn_shown(viewer: Account, id: TurnId) -> Condition:
    """Return the condition that a viewer may see the session that a turn belongs to now."""

    def check(tx: Transaction) -> None:
        session_id = tx.one("find_session_of_turn", SessionId, turn_id=id)
        if session_id is None or not is_shown(tx, viewer, session_id):
            raise NotFound("There is no such turn", id=str(id))

    return check


def _is_valid(tx: Transaction, credential: Login | ApiToken | None) -> bool:
    """Return whether a login or a token is valid, with the rights that the request goes by."""
    found: Login | ApiToken | None = None
    if isinstance(credential, ApiToken):
        found = find_live_token(tx, credential.key, credential.account.key)
    elif credential is not None:
        found = find_live_login(tx, credential.key, credential.account.key)
    return found is not None and credential is not None and _rights(found) == _rights(credential)


def _rights(credential: Login | ApiToken) -> tuple[object, ...]:
    scopes = credential.scopes if isinstance(credential, ApiToken) else None
    return credential.account.role, credential.account.profile, scopes
