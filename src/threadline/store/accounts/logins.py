"""Logins: browsers that are logged in, the links that do it once, and wrong guesses."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

from threadline.core.account import (
    LINK_LASTS,
    LOGIN_LASTS,
    LOGINS_LIMIT,
    Account,
    AccountKey,
    Actor,
    Login,
    LoginKey,
    LoginWay,
    TokenKey,
)
from threadline.core.errors import NotFound, Refused
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.accounts.accounts import (
    add_account_event,
    audit_subject,
    read_account,
    share_account,
)
from threadline.store.audit import note_audit, note_failed_login

SEEN_EVERY = timedelta(minutes=1)
"""How exactly it is known when a browser or a token was last there."""
MISTAKES_LAST = timedelta(days=1)
"""After so long a wrong guess counts no more, whoever asks."""
_SLICE = 500


def create_login_link(
    tx: Transaction, account: AccountKey, secret_hash: str, *, by: Actor | None = None
) -> None:
    """Make a link that logs in once, and soon."""
    note_audit(tx, by, "link.made", audit_subject(share_account(tx, account)))
    tx.run("drop_stale_links", now=stamp(tx.now))
    tx.run(
        "add_login_link",
        secret_hash=secret_hash,
        account_key=account,
        now=stamp(tx.now),
        expires_at=stamp(tx.now + LINK_LASTS),
    )


def use_link(
    tx: Transaction, secret_hash: str, login_hash: str, device: str, *, before: str | None = None
) -> Login:
    """Log a browser in by a link, and use the link up; of two who try, one is refused."""
    whose = tx.one("use_login_link", AccountKey, secret_hash=secret_hash, now=stamp(tx.now))
    if whose is None:
        # Not said: whether it was used, is over, or never was.
        raise Refused(
            "This link is no longer valid", hint="Print a new one: threadline account link"
        )
    return begin_login(tx, whose, login_hash, device, before=before, how="link")


def begin_login(
    tx: Transaction,
    account: AccountKey,
    secret_hash: str,
    device: str,
    *,
    before: str | None = None,
    how: str | None = None,
) -> Login:
    """Remember that a browser is logged in; one that nobody saw for longest may have to go.

    `before` is the hash of what it was logged in with until now, which is worth nothing any more;
    `how` is written down.
    """
    share_account(tx, account)
    tx.run("drop_stale_logins", before=stamp(tx.now - LOGIN_LASTS))
    known = None if before is None else find_login(tx, before)
    if known is not None:
        end_login(tx, known.key, known.account.key)
    key = expect(
        tx,
        "add_login",
        LoginKey,
        account_key=account,
        secret_hash=secret_hash,
        device=device,
        now=stamp(tx.now),
        expires_at=stamp(tx.now + LOGIN_LASTS),
    )
    tx.run("end_oldest_logins", account_key=account, most=LOGINS_LIMIT, now=stamp(tx.now))
    add_account_event(tx, account)
    if how is not None:
        note_audit(tx, Actor(account=account), "login.begun", str(key), how)
    return expect(tx, "read_login", Login, key=key)


def find_login(tx: Transaction, secret_hash: str) -> Login | None:
    """Find the browser that knows a secret, if it is still logged in."""
    return tx.one("find_login", Login, secret_hash=secret_hash, now=stamp(tx.now))


def find_live_login(tx: Transaction, key: LoginKey, account: AccountKey) -> Login | None:
    """Return the login of an account if its browser is still logged in, else None."""
    return tx.one("read_live_login", Login, key=key, account_key=account, now=stamp(tx.now))


def renew_login(tx: Transaction, key: LoginKey) -> None:
    """Remember that a browser was there, so that it stays logged in."""
    tx.run("renew_login", key=key, now=stamp(tx.now), expires_at=stamp(tx.now + LOGIN_LASTS))


def prove_login(tx: Transaction, key: LoginKey, account: AccountKey, *, how: LoginWay) -> None:
    """Record that the user of a browser proved again who they are."""
    if not tx.exists("prove_login", key=key, account_key=account, now=stamp(tx.now)):
        raise NotFound("There is no such login", id=str(key))
    note_audit(tx, Actor(account=account), "login.proven", str(key), how)


def note_failure(
    tx: Transaction, how: LoginWay, account: AccountKey | None, link_hash: str | None
) -> None:
    """Record a failed attempt to log in, for the account if there is one."""
    found: Account | None = None
    if account is not None:
        found = tx.one("read_account", Account, key=account)
    elif link_hash is not None:
        found = tx.one("find_link_account", Account, secret_hash=link_hash)
    subject = "" if found is None else audit_subject(found)
    note_failed_login(tx, subject, how)


def note_wrong_tokens(tx: Transaction, counted: Mapping[str | None, int]) -> None:
    """Record how often tokens were shown that are not valid, by their hashes.

    Each one that was valid once has an entry of its own; all others share one.
    """
    subjects: Counter[str] = Counter()
    for secret_hash, times in counted.items():
        key = tx.one("find_any_token", TokenKey, secret_hash=secret_hash or "")
        subjects["" if key is None else str(key)] += times
    for subject, times in subjects.items():
        note_failed_login(tx, subject, LoginWay.TOKEN, times)


def list_logins(tx: Transaction, account: AccountKey) -> list[Login]:
    """List the browsers that are logged in with an account, the last seen first."""
    return tx.all("list_logins", Login, account_key=account, now=stamp(tx.now))


def end_login(
    tx: Transaction, key: LoginKey, account: AccountKey, *, by: Actor | None = None
) -> None:
    """Log a browser out; that of another account is none."""
    if not tx.exists("end_login", key=key, account_key=account, now=stamp(tx.now)):
        raise NotFound("There is no such login", id=str(key))
    add_account_event(tx, account)
    note_audit(tx, by, "login.ended", str(key))


def end_logins(
    tx: Transaction, account: AccountKey, *, but: LoginKey | None, by: Actor | None = None
) -> int:
    """Log all browsers of an account out, or all but one; answers how many."""
    kept = 0 if but is None else but
    ended = tx.all("end_logins", LoginKey, account_key=account, but=kept, now=stamp(tx.now))
    if ended:
        add_account_event(tx, account)
        whose = audit_subject(read_account(tx, account))
        note_audit(tx, by, "login.ended", whose, str(len(ended)))
    return len(ended)


def count_try(tx: Transaction, most: Mapping[str, int], within: timedelta) -> dict[str, int] | None:
    """Count a try as a mistake of all who are named, until it is forgiven; None: one too many.

    The keys by which it is forgiven are answered. It is counted before it is known whether it is
    right, so that many at once are no way around it, from however many processes.
    """
    # In the same order by everybody, so that nobody waits for somebody who waits for them.
    for who in sorted(most):
        tx.run("lock_guesser", who=who)
    since = stamp(tx.now - within)
    for who, limit in most.items():
        if expect(tx, "count_login_mistakes", int, who=who, after=since) >= limit:
            return None
    tx.run("drop_old_login_mistakes", before=stamp(tx.now - MISTAKES_LAST), most=_SLICE)
    return {who: expect(tx, "add_login_mistake", int, who=who, now=stamp(tx.now)) for who in most}


def forgive(tx: Transaction, tried: Mapping[str, int], who: str | None = None) -> None:
    """Forget a try that was right, and of somebody whatever they guessed wrong before."""
    for guesser, key in tried.items():
        tx.run("forgive_login_mistake", who=guesser, key=key)
    if who is not None:
        tx.run("forgive_login_mistakes", who=who)
