"""Accounts: who may use the web app, and how they prove it."""

import logging
from collections.abc import Awaitable, Iterable, Mapping
from datetime import datetime, timedelta

from threadline.core.account import (
    Account,
    AccountKey,
    AccountRole,
    Actor,
    ApiToken,
    Login,
    LoginKey,
    LoginWay,
    Passkey,
    PasskeyKey,
    TokenKey,
    TokenScope,
    checked_account_key,
    checked_secret_hash,
    clean_account_name,
    clean_device,
)
from threadline.core.errors import Invalid, StorageError
from threadline.core.revision import Seen
from threadline.core.route import canonical_profile
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_flag,
    checked_id,
    checked_moment,
    checked_span,
    checked_text,
    checked_type,
)
from threadline.store.accounts import accounts, logins, tokens
from threadline.store.facade.connection import StoreConnection

log = logging.getLogger("threadline.sessions")

_KEY_BYTES = 4096


class AccountMethods(StoreConnection):
    """Accounts, logins, tokens and passkeys, and wrong guesses.

    Where somebody is named by whom something is done, that is written down together with it.
    """

    async def owner_account(self) -> Account:
        """Answer the account of the owner, which is made when first asked for."""
        found = await self._db.read(accounts.find_owner)
        if found is not None:
            return found
        return await self._db.write(accounts.owner_account)

    async def make_account(
        self,
        name: str,
        role: AccountRole = AccountRole.MEMBER,
        profile: str | None = None,
        *,
        by: Actor | None = None,
    ) -> Account:
        """Make an account for a member; its name is the only one of its sort."""
        return await self._db.write(
            accounts.make_account,
            name,
            role=checked_choice(role, "role", AccountRole),
            profile=None if profile is None else canonical_profile(profile),
            by=by,
        )

    async def accounts_after(self, key: int, most: int) -> list[Account]:
        """List the same in the order in which they came, from behind the account of a key on."""
        after, most = checked_count(key, "account"), checked_count(most, "number of accounts", 1)
        return await self._db.read(accounts.list_accounts_after, after, most)

    async def account(self, key: AccountKey) -> Account:
        """Read an account, also one that has ended."""
        return await self._db.read(accounts.read_account, checked_account_key(key))

    async def rename_account(
        self,
        key: AccountKey,
        name: str,
        *,
        by: Actor | None = None,
        seen: Seen | None = None,
    ) -> Account:
        """Give an account another name; `seen` are the revisions of which it must have one."""
        return await self._db.write(
            accounts.rename_account, checked_account_key(key), name, by=by, seen=seen
        )

    async def end_account(self, key: AccountKey, *, by: Actor | None = None) -> None:
        """Let nobody use an account any more; its logins, tokens and keys are worth nothing."""
        await self._db.write(accounts.end_account, checked_account_key(key), by=by)

    async def set_password(
        self,
        account: AccountKey,
        password_hash: str | None,
        *,
        logs_out: bool = True,
        ends_tokens: bool = False,
        but: LoginKey | None = None,
        by: Actor | None = None,
    ) -> None:
        """Keep the hash that a password has to match; None: nobody logs in by password.

        All browsers but one are logged out, unless that is not wanted; tokens are revoked on wish.
        """
        matches = None
        if password_hash is not None:
            matches = checked_text(password_hash, "password hash", _KEY_BYTES)
        await self._db.write(
            accounts.set_password,
            checked_account_key(account),
            matches,
            logs_out=checked_flag(logs_out, "logs_out"),
            ends_tokens=checked_flag(ends_tokens, "ends_tokens"),
            but=but,
            by=by,
        )

    async def password_hash_of(self, name: str) -> tuple[Account, str] | None:
        """Find the account of a name and the hash of its password; None: there is neither."""
        return await self._db.read(accounts.find_password, clean_account_name(name))

    async def make_link(
        self, account: AccountKey, secret_hash: str, *, by: Actor | None = None
    ) -> None:
        """Make a link that logs in once, within a quarter of an hour."""
        await self._db.write(
            logins.create_login_link,
            checked_account_key(account),
            checked_secret_hash(secret_hash),
            by=by,
        )

    async def use_link(
        self,
        secret_hash: str,
        login_secret_hash: str,
        device: str,
        *,
        before: str | None = None,
    ) -> Login:
        """Log a browser in by a link; one that was used, is over or never was is refused.

        `before` is the hash of what it was logged in with until now, which is so no longer.
        """
        return await self._db.write(
            logins.use_link,
            checked_secret_hash(secret_hash),
            checked_secret_hash(login_secret_hash),
            clean_device(device),
            before=None if before is None else checked_secret_hash(before),
        )

    async def begin_login(
        self,
        account: AccountKey,
        secret_hash: str,
        device: str,
        *,
        before: str | None = None,
        how: str | None = None,
    ) -> Login:
        """Remember that a browser is logged in with an account, and write down how it got in.

        `before` is the hash of what it was logged in with until now, which is so no longer.
        """
        return await self._db.write(
            logins.begin_login,
            checked_account_key(account),
            checked_secret_hash(secret_hash),
            clean_device(device),
            before=None if before is None else checked_secret_hash(before),
            how=how,
        )

    async def find_login(self, secret_hash: str) -> Login | None:
        """Find the browser that knows a secret; whoever comes back stays logged in."""
        now = self.now()
        found = await self._db.read(logins.find_login, checked_secret_hash(secret_hash))
        if found is not None and now - found.seen_at >= logins.SEEN_EVERY:
            await _forgivingly(self._db.write(logins.renew_login, found.key))
        return found

    async def prove_login(self, key: LoginKey, account: AccountKey, how: LoginWay) -> None:
        """Record that the user of a browser proved again who they are."""
        await self._db.write(
            logins.prove_login,
            LoginKey(checked_count(key, "login", 1)),
            checked_account_key(account),
            how=checked_choice(how, "way", LoginWay),
        )

    async def note_failed_login(
        self,
        how: LoginWay,
        account: AccountKey | None = None,
        *,
        link_hash: str | None = None,
    ) -> None:
        """Record a failed attempt to log in, with the account or link that was tried."""
        noting = self._db.write(
            logins.note_failure,
            checked_choice(how, "way", LoginWay),
            None if account is None else checked_account_key(account),
            None if link_hash is None else checked_secret_hash(link_hash),
        )
        await _forgivingly(noting)

    async def note_wrong_tokens(self, counted: Mapping[str | None, int]) -> None:
        """Record how often tokens were shown that are not valid, by their hashes."""
        checked = {
            None if one is None else checked_secret_hash(one): checked_count(times, "times", 1)
            for one, times in counted.items()
        }
        await _forgivingly(self._db.write(logins.note_wrong_tokens, checked))

    async def logins(self, account: AccountKey) -> list[Login]:
        """List the browsers that are logged in with an account, the last seen first."""
        return await self._db.read(logins.list_logins, checked_account_key(account))

    async def end_login(
        self, key: LoginKey, account: AccountKey, *, by: Actor | None = None
    ) -> None:
        """Log a browser of an account out."""
        await self._db.write(
            logins.end_login,
            LoginKey(checked_count(key, "login", 1)),
            checked_account_key(account),
            by=by,
        )

    async def end_logins(
        self, account: AccountKey, but: LoginKey | None = None, *, by: Actor | None = None
    ) -> int:
        """Log all browsers of an account out, or all but one; answers how many."""
        return await self._db.write(logins.end_logins, checked_account_key(account), but=but, by=by)

    async def make_token(
        self,
        account: AccountKey,
        name: str,
        scopes: Iterable[TokenScope],
        secret_hash: str,
        expires_at: datetime | None = None,
        *,
        by: Actor | None = None,
    ) -> ApiToken:
        """Make a token of the HTTP API; the store never sees the token itself."""
        return await self._db.write(
            tokens.make_token,
            checked_account_key(account),
            clean_account_name(name),
            scopes=[checked_choice(scope, "scope", TokenScope) for scope in scopes],
            secret_hash=checked_secret_hash(secret_hash),
            expires_at=None if expires_at is None else checked_moment(expires_at, "expires_at"),
            by=by,
        )

    async def find_token(self, secret_hash: str) -> ApiToken | None:
        """Find the token of a secret, if it is still worth something."""
        now = self.now()
        found = await self._db.read(tokens.find_token, checked_secret_hash(secret_hash))
        if found is not None and (
            found.used_at is None or now - found.used_at >= logins.SEEN_EVERY
        ):
            await _forgivingly(self._db.write(tokens.note_token_use, found.key))
        return found

    async def tokens(self, account: AccountKey) -> list[ApiToken]:
        """List the tokens of an account, the newest first."""
        return await self._db.read(tokens.list_tokens, checked_account_key(account))

    async def end_token(
        self, key: TokenKey, account: AccountKey, *, by: Actor | None = None
    ) -> None:
        """Let a token of an account be worth nothing any more."""
        await self._db.write(
            tokens.end_token,
            TokenKey(checked_count(key, "token", 1)),
            checked_account_key(account),
            by=by,
        )

    async def add_passkey(
        self,
        account: AccountKey,
        name: str,
        *,
        credential: bytes,
        public_key: bytes,
        sign_count: int = 0,
        by: Actor | None = None,
    ) -> Passkey:
        """Remember a key that lies on somebody's device."""
        return await self._db.write(
            tokens.add_passkey,
            checked_account_key(account),
            clean_account_name(name),
            credential=_checked_bytes(credential, "credential"),
            public_key=_checked_bytes(public_key, "public key"),
            sign_count=checked_count(sign_count, "sign count"),
            by=by,
        )

    async def find_passkey(self, credential: bytes) -> Passkey | None:
        """Find a key by what a browser calls it."""
        return await self._db.read(tokens.find_passkey, _checked_bytes(credential, "credential"))

    async def passkeys(self, account: AccountKey) -> list[Passkey]:
        """List the keys of an account, the newest first."""
        return await self._db.read(tokens.list_passkeys, checked_account_key(account))

    async def use_passkey(self, key: PasskeyKey, sign_count: int) -> None:
        """Remember how often a key was used; a count that does not rise is refused."""
        await self._db.write(
            tokens.use_passkey,
            PasskeyKey(checked_count(key, "passkey", 1)),
            checked_count(sign_count, "sign count"),
        )

    async def delete_passkey(
        self, key: PasskeyKey, account: AccountKey, *, by: Actor | None = None
    ) -> None:
        """Forget a key of an account."""
        await self._db.write(
            tokens.delete_passkey,
            PasskeyKey(checked_count(key, "passkey", 1)),
            checked_account_key(account),
            by=by,
        )

    async def count_try(self, most: Mapping[str, int], within: timedelta) -> dict[str, int] | None:
        """Count a try to log in for all who are named, of which each may make so many; None: no.

        A name stands for itself or is a keyed hash. What is answered forgives the try.
        """
        return await self._db.write(
            logins.count_try,
            {checked_id(who, "guesser"): checked_count(n, "tries") for who, n in most.items()},
            checked_span(within, "span"),
        )

    async def forgive(self, tried: Mapping[str, int], who: str | None = None) -> None:
        """Forget a try that was right, and of somebody whatever they guessed wrong before."""
        await self._db.write(
            logins.forgive,
            {checked_id(by, "guesser"): checked_count(key, "try") for by, key in tried.items()},
            None if who is None else checked_id(who, "guesser"),
        )


def _checked_bytes(value: bytes, what: str) -> bytes:
    if not 1 <= len(checked_type(value, what, bytes)) <= _KEY_BYTES:
        raise Invalid(f"The {what} has 1 to {_KEY_BYTES} bytes")
    return value


async def _forgivingly(noting: Awaitable[None]) -> None:
    """Remember that somebody was there, if it can be: on a full disk people still read."""
    try:
        await noting
    except StorageError as error:
        log.warning("That somebody was here could not be noted: %s", error)
