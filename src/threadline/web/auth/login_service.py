"""Login service: somebody proves who they are, and a browser is logged in from then on."""

from msgspec import Struct
from starlette.requests import HTTPConnection

from threadline.core.account import Account, Login, LoginWay, clean_account_name
from threadline.core.errors import Refused
from threadline.store import Store
from threadline.web.auth.passwords import Passwords
from threadline.web.auth.throttle import LoginAttempt, LoginThrottle
from threadline.web.authentication import browser_name, hash_secret, login_secret, new_secret
from threadline.web.trusted_hosts import LOOPBACK, client_address, is_in_networks


class NewLogin(Struct, frozen=True, kw_only=True):
    """A browser that was just logged in, and what it shows from now on."""

    login: Login
    secret: str


class LoginService:
    """Lets browsers in. Each login has a new secret, and takes the place of the one before."""

    def __init__(self, store: Store) -> None:
        """Know everybody from the store."""
        self._store = store
        self._guesses = LoginThrottle(store)
        self.passwords = Passwords()

    async def by_link(self, connection: HTTPConnection, link: str) -> NewLogin:
        """Log in by a link that does it once."""
        tried = await self.count(connection)
        secret = new_secret()
        try:
            login = await self._store.use_link(
                hash_secret(link),
                hash_secret(secret),
                browser_name(connection),
                before=_before(connection),
            )
        except Refused:
            await self._store.note_failed_login(LoginWay.LINK, link_hash=hash_secret(link))
            raise
        await self._guesses.forgive(tried)
        return NewLogin(login=login, secret=secret)

    async def by_password(self, connection: HTTPConnection, name: str, password: str) -> NewLogin:
        """Log in by name and password; whether there is such a name is not told."""
        # In its one form: each way to write a name would else have guesses of its own.
        name = clean_account_name(name)
        tried = await self.count(connection, name)
        found = await self._store.password_hash_of(name)
        is_right = await self.passwords.is_right(password, found[1] if found else None)
        if found is None or not is_right:
            await self._store.note_failed_login(LoginWay.PASSWORD, found[0].key if found else None)
            raise Refused("Wrong name or password")
        return await self.admit(connection, found[0], "password", tried)

    async def admit(
        self, connection: HTTPConnection, account: Account, how: str, tried: LoginAttempt
    ) -> NewLogin:
        """Log in somebody who has proven who they are: their try was none too many."""
        await self._guesses.forgive(tried)
        secret = new_secret()
        login = await self._store.begin_login(
            account.key,
            hash_secret(secret),
            browser_name(connection),
            before=_before(connection),
            how=how,
        )
        return NewLogin(login=login, secret=secret)

    async def count(self, connection: HTTPConnection, name: str | None = None) -> LoginAttempt:
        """Count a try, and refuse one too many.

        On this machine itself only names are guessed at: its user shall always get in by a link.
        """
        address = client_address(connection.scope)
        if name is None and is_in_networks(address, LOOPBACK):
            return LoginAttempt()
        return await self._guesses.count(address, name)

    async def is_password_of(self, connection: HTTPConnection, account: Account, old: str) -> bool:
        """Tell whether somebody who is logged in knows their password; guessing counts here too."""
        tried = await self.count(connection, account.name)
        found = await self._store.password_hash_of(account.name)
        is_right = await self.passwords.is_right(old, found[1] if found else None)
        if is_right:
            await self._guesses.forgive(tried)
        else:
            await self._store.note_failed_login(LoginWay.PASSWORD, account.key)
        return is_right


def _before(connection: HTTPConnection) -> str | None:
    """Name what a browser was logged in with until now."""
    before = login_secret(connection)
    return None if before is None else hash_secret(before)
