"""Logins: browsers that are logged in, the links that do it once, and wrong guesses."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from threadline.core.account import (
    LINK_LASTS,
    LOGIN_LASTS,
    LOGINS_LIMIT,
    AccountKey,
    Actor,
    Login,
    LoginKey,
)
from threadline.core.errors import NotFound, Refused
from threadline.sessions.audit import note_audit
from threadline.sessions.welcome.accounts import (
    account_from,
    named,
    read_account,
    share_account,
    tell,
)
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

SEEN_EVERY = timedelta(minutes=1)
"""How exactly it is known when a browser or a token was last there."""
MISTAKES_LAST = timedelta(days=1)
"""After so long a wrong guess counts no more, whoever asks."""
_SLICE = 500


def make_link(
    tx: Transaction,
    account: AccountKey,
    secret_hash: str,
    *,
    by: Actor | None = None,
    now: datetime,
) -> None:
    """Make a link that logs in once, and soon."""
    note_audit(tx, by, "link.made", named(share_account(tx, account)), now=now)
    tx.run("drop_stale_links", now=stamp(now))
    tx.run(
        "add_login_link",
        secret_hash=secret_hash,
        account_key=account,
        now=stamp(now),
        expires_at=stamp(now + LINK_LASTS),
    )


def use_link(
    tx: Transaction,
    secret_hash: str,
    login_hash: str,
    device: str,
    *,
    before: str | None = None,
    now: datetime,
) -> Login:
    """Log a browser in by a link, and use the link up; of two who try, one is refused."""
    used = tx.one("use_login_link", secret_hash=secret_hash, now=stamp(now))
    if used is None:
        # Not said: whether it was used, is over, or never was.
        raise Refused(
            "This link is no longer valid", hint="Print a new one: threadline account link"
        )
    whose = AccountKey(used.number("account_key"))
    return begin_login(tx, whose, login_hash, device, before=before, how="link", now=now)


def begin_login(
    tx: Transaction,
    account: AccountKey,
    secret_hash: str,
    device: str,
    *,
    before: str | None = None,
    how: str | None = None,
    now: datetime,
) -> Login:
    """Remember that a browser is logged in; one that nobody saw for longest may have to go.

    `before` is the hash of what it was logged in with until now, which is worth nothing any more;
    `how` is written down.
    """
    share_account(tx, account)
    tx.run("drop_stale_logins", before=stamp(now - LOGIN_LASTS))
    known = None if before is None else find_login(tx, before, now=now)
    if known is not None:
        end_login(tx, known.key, known.account.key, now=now)
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
    if how is not None:
        key = str(row.number("key"))
        note_audit(tx, Actor(account=account), "login.begun", key, how, now=now)
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


def end_login(
    tx: Transaction,
    key: LoginKey,
    account: AccountKey,
    *,
    by: Actor | None = None,
    now: datetime,
) -> None:
    """Log a browser out; that of another account is none."""
    if tx.one("end_login", key=key, account_key=account, now=stamp(now)) is None:
        raise NotFound("There is no such login", id=str(key))
    tell(tx, account, now)
    note_audit(tx, by, "login.ended", str(key), now=now)


def end_logins(
    tx: Transaction,
    account: AccountKey,
    *,
    but: LoginKey | None,
    by: Actor | None = None,
    now: datetime,
) -> int:
    """Log all browsers of an account out, or all but one; answers how many."""
    kept = 0 if but is None else but
    ended = tx.all("end_logins", account_key=account, but=kept, now=stamp(now))
    if ended:
        tell(tx, account, now)
        whose = named(read_account(tx, account))
        note_audit(tx, by, "login.ended", whose, str(len(ended)), now=now)
    return len(ended)


def count_try(
    tx: Transaction, most: Mapping[str, int], within: timedelta, *, now: datetime
) -> dict[str, int] | None:
    """Count a try as a mistake of all who are named, until it is forgiven; None: one too many.

    The keys by which it is forgiven are answered. It is counted before it is known whether it is
    right, so that many at once are no way around it, from however many processes.
    """
    # In the same order by everybody, so that nobody waits for somebody who waits for them.
    for who in sorted(most):
        tx.run("lock_guesser", who=who)
    since = stamp(now - within)
    for who, limit in most.items():
        if expect(tx, "count_login_mistakes", who=who, after=since).number("number") >= limit:
            return None
    tx.run("drop_old_login_mistakes", before=stamp(now - MISTAKES_LAST), most=_SLICE)
    return {
        who: expect(tx, "add_login_mistake", who=who, now=stamp(now)).number("key") for who in most
    }


def forgive(tx: Transaction, tried: Mapping[str, int], who: str | None = None) -> None:
    """Forget a try that was right, and of somebody whatever they guessed wrong before."""
    for guesser, key in tried.items():
        tx.run("forgive_login_mistake", who=guesser, key=key)
    if who is not None:
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
