"""The store's guests: who may use the web app, how they prove it, and what they did."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from threadline.core.account import (
    Account,
    AccountKey,
    AccountRole,
    ApiToken,
    AuditEntry,
    Login,
    LoginKey,
    Passkey,
    PasskeyKey,
    RequestOutcome,
    TokenKey,
    TokenScope,
    checked_account_key,
    checked_secret_hash,
    clean_account_name,
    clean_device,
)
from threadline.core.errors import Invalid
from threadline.core.route import canonical_profile
from threadline.core.text import (
    checked_choice,
    checked_count,
    checked_id,
    checked_moment,
    checked_span,
    checked_text,
    checked_type,
)
from threadline.sessions.store.door import Door
from threadline.sessions.welcome import accounts, logins, requests, tokens

AUDIT_PAGE = 500
"""Entries that may be read at once."""
_KEY_BYTES = 4096


class Welcoming(Door):
    """Accounts, logins, tokens and passkeys, wrong guesses, the audit log, and idempotency."""

    async def owner_account(self) -> Account:
        """Answer the account of the owner, which is made when first asked for."""
        found = await self._db.read(accounts.find_owner)
        if found is not None:
            return found
        return await self._db.write(accounts.owner_account, now=self.now())

    async def make_account(
        self,
        name: str,
        role: AccountRole = AccountRole.MEMBER,
        profile: str | None = None,
    ) -> Account:
        """Make an account for a member; its name is the only one of its sort."""
        return await self._db.write(
            accounts.make_account,
            name,
            role=checked_choice(role, "role", AccountRole),
            profile=None if profile is None else canonical_profile(profile),
            now=self.now(),
        )

    async def accounts(self) -> list[Account]:
        """List the accounts that can be used, the owner's first."""
        return await self._db.read(accounts.list_accounts)

    async def account(self, key: AccountKey) -> Account:
        """Read an account, also one that has ended."""
        return await self._db.read(accounts.read_account, checked_account_key(key))

    async def rename_account(self, key: AccountKey, name: str) -> Account:
        """Give an account another name."""
        return await self._db.write(
            accounts.rename_account, checked_account_key(key), name, now=self.now()
        )

    async def end_account(self, key: AccountKey) -> None:
        """Let nobody use an account any more; its logins, tokens and keys are worth nothing."""
        await self._db.write(accounts.end_account, checked_account_key(key), now=self.now())

    async def set_password(self, account: AccountKey, password_hash: str | None) -> None:
        """Keep the hash that a password has to match; None: nobody logs in by password."""
        matches = None
        if password_hash is not None:
            matches = checked_text(password_hash, "password hash", _KEY_BYTES)
        await self._db.write(
            accounts.set_password, checked_account_key(account), matches, now=self.now()
        )

    async def password_hash_of(self, name: str) -> tuple[Account, str] | None:
        """Find the account of a name and the hash of its password; None: there is neither."""
        return await self._db.read(accounts.find_password, clean_account_name(name))

    async def make_link(self, account: AccountKey, secret_hash: str) -> None:
        """Make a link that logs in once, within a quarter of an hour."""
        await self._db.write(
            logins.make_link,
            checked_account_key(account),
            checked_secret_hash(secret_hash),
            now=self.now(),
        )

    async def use_link(self, secret_hash: str, login_secret_hash: str, device: str) -> Login:
        """Log a browser in by a link; one that was used, is over or never was is refused."""
        return await self._db.write(
            logins.use_link,
            checked_secret_hash(secret_hash),
            checked_secret_hash(login_secret_hash),
            clean_device(device),
            now=self.now(),
        )

    async def begin_login(self, account: AccountKey, secret_hash: str, device: str) -> Login:
        """Remember that a browser is logged in with an account."""
        return await self._db.write(
            logins.begin_login,
            checked_account_key(account),
            checked_secret_hash(secret_hash),
            clean_device(device),
            now=self.now(),
        )

    async def find_login(self, secret_hash: str) -> Login | None:
        """Find the browser that knows a secret; whoever comes back stays logged in."""
        now = self.now()
        found = await self._db.read(logins.find_login, checked_secret_hash(secret_hash), now=now)
        if found is not None and now - found.seen_at >= logins.SEEN_EVERY:
            await self._db.write(logins.renew_login, found.key, now=now)
        return found

    async def logins(self, account: AccountKey) -> list[Login]:
        """List the browsers that are logged in with an account, the last seen first."""
        return await self._db.read(logins.list_logins, checked_account_key(account), now=self.now())

    async def end_login(self, key: LoginKey, account: AccountKey) -> None:
        """Log a browser of an account out."""
        await self._db.write(
            logins.end_login,
            LoginKey(checked_count(key, "login", 1)),
            checked_account_key(account),
            now=self.now(),
        )

    async def end_logins(self, account: AccountKey, but: LoginKey | None = None) -> int:
        """Log all browsers of an account out, or all but one; answers how many."""
        return await self._db.write(
            logins.end_logins, checked_account_key(account), but=but, now=self.now()
        )

    async def make_token(
        self,
        account: AccountKey,
        name: str,
        scopes: Iterable[TokenScope],
        secret_hash: str,
        expires_at: datetime | None = None,
    ) -> ApiToken:
        """Make a token of the HTTP API; the store never sees the token itself."""
        return await self._db.write(
            tokens.make_token,
            checked_account_key(account),
            clean_account_name(name),
            scopes=[checked_choice(scope, "scope", TokenScope) for scope in scopes],
            secret_hash=checked_secret_hash(secret_hash),
            expires_at=None if expires_at is None else checked_moment(expires_at, "expires_at"),
            now=self.now(),
        )

    async def find_token(self, secret_hash: str) -> ApiToken | None:
        """Find the token of a secret, if it is still worth something."""
        now = self.now()
        found = await self._db.read(tokens.find_token, checked_secret_hash(secret_hash), now=now)
        if found is not None and (
            found.used_at is None or now - found.used_at >= logins.SEEN_EVERY
        ):
            await self._db.write(tokens.note_token_use, found.key, now=now)
        return found

    async def tokens(self, account: AccountKey) -> list[ApiToken]:
        """List the tokens of an account, the newest first."""
        return await self._db.read(tokens.list_tokens, checked_account_key(account))

    async def end_token(self, key: TokenKey, account: AccountKey) -> None:
        """Let a token of an account be worth nothing any more."""
        await self._db.write(
            tokens.end_token,
            TokenKey(checked_count(key, "token", 1)),
            checked_account_key(account),
            now=self.now(),
        )

    async def add_passkey(
        self,
        account: AccountKey,
        name: str,
        *,
        credential: bytes,
        public_key: bytes,
        sign_count: int = 0,
    ) -> Passkey:
        """Remember a key that lies on somebody's device."""
        return await self._db.write(
            tokens.add_passkey,
            checked_account_key(account),
            clean_account_name(name),
            credential=_checked_bytes(credential, "credential"),
            public_key=_checked_bytes(public_key, "public key"),
            sign_count=checked_count(sign_count, "sign count"),
            now=self.now(),
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
            now=self.now(),
        )

    async def delete_passkey(self, key: PasskeyKey, account: AccountKey) -> None:
        """Forget a key of an account."""
        await self._db.write(
            tokens.delete_passkey,
            PasskeyKey(checked_count(key, "passkey", 1)),
            checked_account_key(account),
            now=self.now(),
        )

    async def note_mistake(self, who: str) -> None:
        """Remember that somebody guessed wrong: a name, or a keyed hash of where it came from."""
        await self._db.write(logins.note_mistake, checked_id(who, "guesser"), now=self.now())

    async def mistakes(self, who: str, within: timedelta) -> int:
        """Count how often somebody guessed wrong lately."""
        return await self._db.read(
            logins.count_mistakes,
            checked_id(who, "guesser"),
            checked_span(within, "span"),
            now=self.now(),
        )

    async def forgive(self, who: str) -> None:
        """Forget what somebody guessed wrong."""
        await self._db.write(logins.forgive, checked_id(who, "guesser"))

    async def note_audit(
        self, account: AccountKey | None, act: str, subject: str, detail: str = ""
    ) -> None:
        """Write an administrative act down; no account: it was done at the terminal."""
        await self._db.write(
            requests.note_audit,
            None if account is None else checked_account_key(account),
            checked_id(act, "act"),
            checked_text(subject, "subject"),
            checked_text(detail, "detail"),
            now=self.now(),
        )

    async def audit(self, before: int | None = None, most: int = 50) -> list[AuditEntry]:
        """Read administrative acts, the latest first, from before the entry of a number."""
        return await self._db.read(
            requests.list_audit,
            None if before is None else checked_count(before, "entry"),
            min(checked_count(most, "number of entries", 1), AUDIT_PAGE),
        )

    async def claim_outcome(
        self, account: AccountKey, key: str, request_hash: str
    ) -> RequestOutcome | None:
        """Begin a request that makes something; None: go on, and keep its outcome.

        Of two that begin at once one gets None, and the other what is known: the outcome, or that
        it is under way. A request that was begun by somebody who died can be begun again soon.
        """
        return await self._db.write(
            requests.claim_outcome,
            checked_account_key(account),
            checked_id(key, "idempotency key"),
            checked_secret_hash(request_hash),
            now=self.now(),
        )

    async def find_outcome(self, account: AccountKey, key: str) -> RequestOutcome | None:
        """Read what came of a request within a day; None: nothing is known of it."""
        return await self._db.read(
            requests.find_outcome,
            checked_account_key(account),
            checked_id(key, "idempotency key"),
            now=self.now(),
        )

    async def keep_outcome(
        self, account: AccountKey, key: str, request_hash: str, status: int, answer: str
    ) -> None:
        """Keep what came of a request for a day; what is kept already stays."""
        await self._db.write(
            requests.keep_outcome,
            checked_account_key(account),
            checked_id(key, "idempotency key"),
            request_hash=checked_secret_hash(request_hash),
            status=checked_count(status, "status", 1),
            answer=checked_text(answer, "answer"),
            now=self.now(),
        )

    async def drop_outcome(self, account: AccountKey, key: str) -> None:
        """Forget a request that was begun and failed, so that it can be tried again."""
        await self._db.write(
            requests.drop_outcome,
            checked_account_key(account),
            checked_id(key, "idempotency key"),
        )

    async def sweep_outcomes(self) -> None:
        """Forget what came of requests that are older than a day."""
        await self._db.write(requests.sweep_outcomes, now=self.now())


def _checked_bytes(value: bytes, what: str) -> bytes:
    if not 1 <= len(checked_type(value, what, bytes)) <= _KEY_BYTES:
        raise Invalid(f"The {what} has 1 to {_KEY_BYTES} bytes")
    return value
