"""Logins: browsers that are logged in, the links that do it once, and wrong guesses."""

from datetime import datetime, timedelta

from threadline.core.account import (
    LINK_LASTS,
    LOGIN_LASTS,
    LOGINS_LIMIT,
    AccountKey,
    Login,
    LoginKey,
)
from threadline.core.errors import NotFound, Refused
from threadline.sessions.welcome.accounts import account_from, share_account, tell
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

SEEN_EVERY = timedelta(minutes=1)
"""How exactly it is known when a browser or a token was last there."""
MISTAKES_LAST = timedelta(days=1)
"""After so long a wrong guess counts no more, whoever asks."""
_SLICE = 500


def make_link(tx: Transaction, account: AccountKey, secret_hash: str, *, now: datetime) -> None:
    """Make a link that logs in once, and soon."""
    share_account(tx, account)
    tx.run("drop_stale_links", now=stamp(now))
    tx.run(
        "add_login_link",
        secret_hash=secret_hash,
        account_key=account,
        now=stamp(now),
        expires_at=stamp(now + LINK_LASTS),
    )


def use_link(
    tx: Transaction, secret_hash: str, login_hash: str, device: str, *, now: datetime
) -> Login:
    """Log a browser in by a link, and use the link up; of two who try, one is refused."""
    used = tx.one("use_login_link", secret_hash=secret_hash, now=stamp(now))
    if used is None:
        # Not said: whether it was used, is over, or never was.
        raise Refused("This link logs in no more", hint="Make another: threadline account link")
    return begin_login(tx, AccountKey(used.number("account_key")), login_hash, device, now=now)


def begin_login(
    tx: Transaction, account: AccountKey, secret_hash: str, device: str, *, now: datetime
) -> Login:
    """Remember that a browser is logged in; one that nobody saw for longest may have to go."""
    share_account(tx, account)
    tx.run("drop_stale_logins", before=stamp(now - LOGIN_LASTS))
    row = expect(
        tx,
        "add_login",
        account_key=account,
        secret_hash=secret_hash,
        device=device,
        now=stamp(now),
        expires_at=stamp(now + LOGIN_LASTS),
    )
    tx.run("end_oldest_logins", account_key=account, most=LOGINS_LIMIT, now=stamp(now))
    tell(tx, account, now)
    return _login_from(expect(tx, "read_login", key=row.number("key")))


def find_login(tx: Transaction, secret_hash: str, *, now: datetime) -> Login | None:
    """Find the browser that knows a secret, if it is still logged in."""
    row = tx.one("find_login", secret_hash=secret_hash, now=stamp(now))
    return None if row is None else _login_from(row)


def renew_login(tx: Transaction, key: LoginKey, *, now: datetime) -> None:
    """Remember that a browser was there, so that it stays logged in."""
    tx.run("renew_login", key=key, now=stamp(now), expires_at=stamp(now + LOGIN_LASTS))


def list_logins(tx: Transaction, account: AccountKey, *, now: datetime) -> list[Login]:
    """List the browsers that are logged in with an account, the last seen first."""
    rows = tx.all("list_logins", account_key=account, now=stamp(now))
    return [_login_from(row) for row in rows]


def end_login(tx: Transaction, key: LoginKey, account: AccountKey, *, now: datetime) -> None:
    """Log a browser out; that of another account is none."""
    if tx.one("end_login", key=key, account_key=account, now=stamp(now)) is None:
        raise NotFound("There is no such login", id=str(key))
    tell(tx, account, now)


def end_logins(tx: Transaction, account: AccountKey, *, but: LoginKey | None, now: datetime) -> int:
    """Log all browsers of an account out, or all but one; answers how many."""
    kept = 0 if but is None else but
    ended = tx.all("end_logins", account_key=account, but=kept, now=stamp(now))
    if ended:
        tell(tx, account, now)
    return len(ended)


def note_mistake(tx: Transaction, who: str, *, now: datetime) -> None:
    """Remember that somebody guessed wrong, for a day."""
    tx.run("add_login_mistake", who=who, now=stamp(now))
    tx.run("drop_old_login_mistakes", before=stamp(now - MISTAKES_LAST), most=_SLICE)


def count_mistakes(tx: Transaction, who: str, within: timedelta, *, now: datetime) -> int:
    """Count how often somebody guessed wrong lately."""
    row = expect(tx, "count_login_mistakes", who=who, after=stamp(now - within))
    return row.number("number")


def forgive(tx: Transaction, who: str) -> None:
    """Forget what somebody guessed wrong, because they have proved who they are."""
    tx.run("forgive_login_mistakes", who=who)


def _login_from(row: Row) -> Login:
    return Login(
        key=LoginKey(row.number("key")),
        account=account_from(row),
        device=row.text("device"),
        made_at=row.moment("made_at"),
        seen_at=row.moment("seen_at"),
        expires_at=row.moment("expires_at"),
    )
