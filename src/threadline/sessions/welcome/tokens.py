"""Tokens and passkeys: with what programs use the HTTP API, and devices log people in."""

import base64
import json
from collections.abc import Iterable
from datetime import datetime

from threadline.core.account import (
    PASSKEYS_LIMIT,
    TOKENS_LIMIT,
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
from threadline.sessions.audit import note_audit
from threadline.sessions.welcome.accounts import account_from, lock_account, share_account, tell
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp


def make_token(
    tx: Transaction,
    account: AccountKey,
    name: str,
    *,
    scopes: Iterable[TokenScope],
    secret_hash: str,
    expires_at: datetime | None,
    by: Actor | None = None,
    now: datetime,
) -> ApiToken:
    """Make a token; only an owner's may do what administrators do."""
    wanted = frozenset(scopes)
    whose = lock_account(tx, account)
    if not wanted:
        raise Invalid("A token needs a scope", hint=f"Some of: {', '.join(TokenScope)}")
    if TokenScope.ADMIN in wanted and whose.role is not AccountRole.OWNER:
        raise Refused("Only an owner's token can have the scope admin", hint="Leave it out")
    if expires_at is not None and expires_at <= now:
        raise Invalid("The token would already be expired", hint="Choose a later date")
    if len(tx.all("list_tokens", account_key=account)) >= TOKENS_LIMIT:
        raise Refused(f"An account can have at most {TOKENS_LIMIT} tokens", hint="Revoke one")
    row = expect(
        tx,
        "add_token",
        account_key=account,
        secret_hash=secret_hash,
        name=name,
        scopes=json.dumps(sorted(wanted)),
        now=stamp(now),
        expires_at=None if expires_at is None else stamp(expires_at),
    )
    tell(tx, account, now)
    made = _token_from(expect(tx, "read_token", key=row.number("key")))
    may = " ".join(sorted(made.scopes))
    note_audit(tx, by, "token.made", f"{made.key} {made.name}", may, now=now)
    return made


def find_token(tx: Transaction, secret_hash: str, *, now: datetime) -> ApiToken | None:
    """Find the token of a secret, if it is still worth something."""
    row = tx.one("find_token", secret_hash=secret_hash, now=stamp(now))
    return None if row is None else _token_from(row)


def note_token_use(tx: Transaction, key: TokenKey, *, now: datetime) -> None:
    """Remember that a token was shown."""
    tx.run("note_token_use", key=key, now=stamp(now))


def list_tokens(tx: Transaction, account: AccountKey) -> list[ApiToken]:
    """List the tokens of an account, the newest first."""
    return [_token_from(row) for row in tx.all("list_tokens", account_key=account)]


def end_token(
    tx: Transaction,
    key: TokenKey,
    account: AccountKey,
    *,
    by: Actor | None = None,
    now: datetime,
) -> None:
    """Let a token be worth nothing any more; that of another account is none."""
    if tx.one("end_token", key=key, account_key=account, now=stamp(now)) is None:
        raise NotFound("There is no such token", id=str(key))
    tell(tx, account, now)
    note_audit(tx, by, "token.ended", str(key), now=now)


def add_passkey(
    tx: Transaction,
    account: AccountKey,
    name: str,
    *,
    credential: bytes,
    public_key: bytes,
    sign_count: int,
    by: Actor | None = None,
    now: datetime,
) -> Passkey:
    """Remember a key that lies on somebody's device; it is nobody else's."""
    share_account(tx, account)
    if len(tx.all("list_passkeys", account_key=account)) >= PASSKEYS_LIMIT:
        raise Refused(f"An account can have at most {PASSKEYS_LIMIT} passkeys", hint="Delete one")
    row = tx.one(
        "add_passkey",
        account_key=account,
        name=name,
        credential=_written(credential),
        public_key=_written(public_key),
        sign_count=sign_count,
        now=stamp(now),
    )
    if row is None:
        raise Conflict("This passkey is already registered", hint="Log in with it")
    tell(tx, account, now)
    made = _passkey_from(expect(tx, "read_passkey", key=row.number("key")))
    note_audit(tx, by, "passkey.added", str(made.key), made.name, now=now)
    return made


def find_passkey(tx: Transaction, credential: bytes) -> Passkey | None:
    """Find a key by what a browser calls it."""
    row = tx.one("find_passkey", credential=_written(credential))
    return None if row is None else _passkey_from(row)


def list_passkeys(tx: Transaction, account: AccountKey) -> list[Passkey]:
    """List the keys of an account, the newest first."""
    return [_passkey_from(row) for row in tx.all("list_passkeys", account_key=account)]


def use_passkey(tx: Transaction, key: PasskeyKey, sign_count: int, *, now: datetime) -> None:
    """Remember how often a key was used; a count that does not rise shows a copy of it."""
    if tx.one("use_passkey", key=key, sign_count=sign_count, now=stamp(now)) is None:
        raise Refused("This passkey is gone, or was copied", id=str(key), hint="Use another one")


def delete_passkey(
    tx: Transaction,
    key: PasskeyKey,
    account: AccountKey,
    *,
    by: Actor | None = None,
    now: datetime,
) -> None:
    """Forget a key; that of another account is none."""
    if tx.one("drop_passkey", key=key, account_key=account) is None:
        raise NotFound("There is no such passkey", id=str(key))
    tell(tx, account, now)
    note_audit(tx, by, "passkey.deleted", str(key), now=now)


def _token_from(row: Row) -> ApiToken:
    return ApiToken(
        key=TokenKey(row.number("key")),
        account=account_from(row),
        name=row.text("name"),
        scopes=frozenset(TokenScope(scope) for scope in json.loads(row.text("scopes"))),
        made_at=row.moment("made_at"),
        used_at=row.moment_or_none("used_at"),
        expires_at=row.moment_or_none("expires_at"),
    )


def _passkey_from(row: Row) -> Passkey:
    return Passkey(
        key=PasskeyKey(row.number("key")),
        account=account_from(row),
        name=row.text("name"),
        credential=_read(row.text("credential")),
        public_key=_read(row.text("public_key")),
        sign_count=row.number("sign_count"),
        made_at=row.moment("made_at"),
        used_at=row.moment_or_none("used_at"),
    )


def _written(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def _read(text: str) -> bytes:
    return base64.urlsafe_b64decode(text)
