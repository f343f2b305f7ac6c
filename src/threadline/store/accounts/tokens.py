"""Tokens and passkeys: with what programs use the HTTP API, and devices log people in."""

import base64
import json
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from threadline.core.account import (
    PASSKEYS_LIMIT,
    TOKENS_LIMIT,
    Account,
    AccountKey,
    AccountRole,
    Actor,
    ApiToken,
    Passkey,
    PasskeyKey,
    TokenKey,
    TokenScope,
)
from threadline.core.errors import Conflict, Invalid, NotFound, Refused
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.accounts.accounts import (
    add_account_event,
    lock_account,
    share_account,
)
from threadline.store.audit import note_audit


def make_token(
    tx: Transaction,
    account: AccountKey,
    name: str,
    *,
    scopes: Iterable[TokenScope],
    secret_hash: str,
    expires_at: datetime | None,
    by: Actor | None = None,
) -> ApiToken:
    """Make a token; only an owner's may do what administrators do.

    One that is made with another token (`by`) has no more scopes, ends no later, and is revoked
    together with it.
    """
    wanted = frozenset(scopes)
    whose = lock_account(tx, account)
    parent = None if by is None or by.token is None else by.token
    if parent is not None:
        expires_at = _within_parent(tx, parent, account, wanted, expires_at)
    if not wanted:
        raise Invalid("A token needs a scope", hint=f"Some of: {', '.join(TokenScope)}")
    if TokenScope.ADMIN in wanted and whose.role is not AccountRole.OWNER:
        raise Refused("Only an owner's token can have the scope admin", hint="Leave it out")
    if expires_at is not None and expires_at <= tx.now:
        raise Invalid("The token would already be expired", hint="Choose a later date")
    if len(list_tokens(tx, account)) >= TOKENS_LIMIT:
        raise Refused(f"An account can have at most {TOKENS_LIMIT} tokens", hint="Revoke one")
    key = expect(
        tx,
        "add_token",
        TokenKey,
        account_key=account,
        secret_hash=secret_hash,
        name=name,
        scopes=json.dumps(sorted(wanted)),
        now=stamp(tx.now),
        expires_at=None if expires_at is None else stamp(expires_at),
        parent_key=parent,
    )
    add_account_event(tx, account)
    made = expect(tx, "read_token", ApiToken, key=key)
    may = " ".join(sorted(made.scopes))
    note_audit(tx, by, "token.made", f"{made.key} {made.name}", may)
    return made


def find_token(tx: Transaction, secret_hash: str) -> ApiToken | None:
    """Find the token of a secret, if it is still worth something."""
    return tx.one("find_token", ApiToken, secret_hash=secret_hash, now=stamp(tx.now))


def find_live_token(tx: Transaction, key: TokenKey, account: AccountKey) -> ApiToken | None:
    """Return the token of an account if it is still valid, else None."""
    return tx.one("read_live_token", ApiToken, key=key, account_key=account, now=stamp(tx.now))


def may_administer(tx: Transaction, key: int) -> bool:
    """Return whether a token has the scope admin."""
    token = tx.one("read_token", ApiToken, key=key)
    return token is not None and TokenScope.ADMIN in token.scopes


def note_token_use(tx: Transaction, key: TokenKey) -> None:
    """Remember that a token was shown."""
    tx.run("note_token_use", key=key, now=stamp(tx.now))


def list_tokens(tx: Transaction, account: AccountKey) -> list[ApiToken]:
    """List the tokens of an account, the newest first."""
    return tx.all("list_tokens", ApiToken, account_key=account)


def end_token(
    tx: Transaction, key: TokenKey, account: AccountKey, *, by: Actor | None = None
) -> None:
    """Revoke a token and those that were made with it; that of another account is none."""
    lock_account(tx, account)  # so that it makes no further one meanwhile
    ended = tx.all("end_token", TokenKey, key=key, account_key=account, now=stamp(tx.now))
    if not ended:
        raise NotFound("There is no such token", id=str(key))
    add_account_event(tx, account)
    for one in sorted(ended):
        note_audit(tx, by, "token.ended", str(one))


def _within_parent(
    tx: Transaction,
    parent: TokenKey,
    account: AccountKey,
    wanted: frozenset[TokenScope],
    expires_at: datetime | None,
) -> datetime | None:
    """Refuse a token that could do more or would last longer than the one that makes it.

    Return when it ends: without an end of its own, together with its parent.
    """
    maker = find_live_token(tx, parent, account)
    if maker is None:
        raise Refused("The token that asks is no longer valid", id=str(parent))
    if not wanted <= maker.scopes:
        raise Refused(
            "A token cannot do more than the token that creates it",
            hint="Leave out the scopes that it does not have",
        )
    if maker.expires_at is None or expires_at is None:
        return expires_at or maker.expires_at
    if expires_at > maker.expires_at:
        raise Refused(
            "A token cannot last longer than the token that creates it",
            hint="Choose fewer days, or leave them out",
        )
    return expires_at


def add_passkey(
    tx: Transaction,
    account: AccountKey,
    name: str,
    *,
    credential: bytes,
    public_key: bytes,
    sign_count: int,
    by: Actor | None = None,
) -> Passkey:
    """Remember a key that lies on somebody's device; it is nobody else's."""
    share_account(tx, account)
    if len(list_passkeys(tx, account)) >= PASSKEYS_LIMIT:
        raise Refused(f"An account can have at most {PASSKEYS_LIMIT} passkeys", hint="Delete one")
    key = tx.one(
        "add_passkey",
        PasskeyKey,
        account_key=account,
        name=name,
        credential=_written(credential),
        public_key=_written(public_key),
        sign_count=sign_count,
        now=stamp(tx.now),
    )
    if key is None:
        raise Conflict("This passkey is already registered", hint="Log in with it")
    add_account_event(tx, account)
    made = expect(tx, "read_passkey", _PasskeyRow, key=key).passkey()
    note_audit(tx, by, "passkey.added", str(made.key), made.name)
    return made


def find_passkey(tx: Transaction, credential: bytes) -> Passkey | None:
    """Find a key by what a browser calls it."""
    row = tx.one("find_passkey", _PasskeyRow, credential=_written(credential))
    return None if row is None else row.passkey()


def list_passkeys(tx: Transaction, account: AccountKey) -> list[Passkey]:
    """List the keys of an account, the newest first."""
    return [row.passkey() for row in tx.all("list_passkeys", _PasskeyRow, account_key=account)]


def use_passkey(tx: Transaction, key: PasskeyKey, sign_count: int) -> None:
    """Remember how often a key was used; a count that does not rise shows a copy of it."""
    if not tx.exists("use_passkey", key=key, sign_count=sign_count, now=stamp(tx.now)):
        raise Refused("This passkey is gone, or was copied", id=str(key), hint="Use another one")


def delete_passkey(
    tx: Transaction, key: PasskeyKey, account: AccountKey, *, by: Actor | None = None
) -> None:
    """Forget a key; that of another account is none."""
    if not tx.exists("drop_passkey", key=key, account_key=account):
        raise NotFound("There is no such passkey", id=str(key))
    add_account_event(tx, account)
    note_audit(tx, by, "passkey.deleted", str(key))


class _PasskeyRow(Struct, frozen=True, kw_only=True):
    """A passkey as it is stored: its bytes are Base64."""

    key: PasskeyKey
    account: Account
    name: str
    credential: str
    public_key: str
    sign_count: int
    made_at: datetime
    used_at: datetime | None

    def passkey(self) -> Passkey:
        return Passkey(
            key=self.key,
            account=self.account,
            name=self.name,
            credential=_read(self.credential),
            public_key=_read(self.public_key),
            sign_count=self.sign_count,
            made_at=self.made_at,
            used_at=self.used_at,
        )


def _written(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def _read(text: str) -> bytes:
    return base64.urlsafe_b64decode(text)
