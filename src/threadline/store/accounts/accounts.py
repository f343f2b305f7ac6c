"""Accounts: made, renamed and ended. The owner's is there as soon as somebody asks for it."""

from msgspec import Struct

from threadline.core.account import (
    ACCOUNTS_LIMIT,
    OWNER_NAME,
    Account,
    AccountKey,
    AccountRole,
    Actor,
    LoginKey,
    TokenKey,
    clean_account_name,
    member_of,
)
from threadline.core.address import Address, Sender
from threadline.core.delivery import LOCAL
from threadline.core.errors import Conflict, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.revision import Seen, require_seen
from threadline.core.route import canonical_sender
from threadline.database.port import Database, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.audit import forget_acts, forget_subject, note_audit
from threadline.store.session_writer import add_global_event


class _LoginSecret(Struct, frozen=True, kw_only=True):
    """What the password of an account has to match."""

    key: AccountKey
    password_hash: str


def owner_account(tx: Transaction) -> Account:
    """Answer the account of the owner; the first who asks makes it."""
    found = find_owner(tx)
    if found is None:
        made = _add_account(tx, OWNER_NAME, AccountRole.OWNER, None)
        if made is not None:
            add_account_event(tx, made)
        # Another process may just have been quicker.
        found = expect(tx, "find_owner_account", Account)
    return found


def find_owner(tx: Transaction) -> Account | None:
    """Find the account of the owner, if it was made."""
    return tx.one("find_owner_account", Account)


def find_actor(
    tx: Transaction, platform: str, sender_id: str | None, token: int | None = None
) -> Actor | None:
    """Tell with which account somebody acts who speaks as a sender; None: with none."""
    if platform != LOCAL or sender_id is None:
        return None
    owner = find_owner(tx) if sender_id == OWNER_NAME else None
    key = member_of(platform, sender_id) if owner is None else owner.key
    used = None if token is None else TokenKey(token)
    return None if key is None else Actor(account=key, token=used)


def make_account(
    tx: Transaction, name: str, *, role: AccountRole, profile: str | None, by: Actor | None = None
) -> Account:
    """Make an account for a member; its name is the only one of its sort."""
    cleaned = clean_account_name(name)
    if role is AccountRole.OWNER:
        raise Refused("There is already an owner", hint="Add a member instead")
    _refuse_taken(tx, cleaned)
    if len(list_accounts(tx)) >= ACCOUNTS_LIMIT:
        raise Refused(f"There can be at most {ACCOUNTS_LIMIT} accounts", hint="End one")
    key = _add_account(tx, cleaned, role, profile)
    if key is None:
        raise _taken(cleaned)
    add_account_event(tx, key)
    made = read_account(tx, key)
    note_audit(tx, by, "account.made", audit_subject(made))
    return made


def _add_account(
    tx: Transaction, name: str, role: AccountRole, profile: str | None
) -> AccountKey | None:
    """Store an account and return its key, or None if another one has its name."""
    return tx.one(
        "add_account", AccountKey, name=name, role=role, profile=profile, now=stamp(tx.now)
    )


def read_account(tx: Transaction, key: AccountKey) -> Account:
    """Read an account, also one that has ended."""
    return _required(tx.one("read_account", Account, key=key), key)


def list_accounts(tx: Transaction) -> list[Account]:
    """List the accounts that can be used, the owner's first."""
    return tx.all("list_accounts", Account)


def list_accounts_after(tx: Transaction, key: int, most: int) -> list[Account]:
    """List accounts that can be used in the order in which they came, from behind a key on."""
    return tx.all("list_accounts_after", Account, after=key, most=most)


def rename_account(
    tx: Transaction,
    key: AccountKey,
    name: str,
    *,
    by: Actor | None = None,
    seen: Seen | None = None,
) -> Account:
    """Give an account another name, if it has the one that was seen."""
    cleaned, before = clean_account_name(name), lock_account(tx, key)
    require_seen(before.revision, seen, str(key))
    if cleaned != before.name:
        if before.role is not AccountRole.OWNER or cleaned != OWNER_NAME:
            _refuse_taken(tx, cleaned)
        tx.run("rename_account", key=key, name=cleaned)
        add_account_event(tx, key)
        note_audit(tx, by, "account.renamed", f"{key} {cleaned}", before.name)
    return read_account(tx, key)


def end_account(tx: Transaction, key: AccountKey, *, by: Actor | None = None) -> None:
    """Let nobody use an account any more; its logins, tokens, links and keys go with it."""
    account = lock_account(tx, key)
    if account.role is AccountRole.OWNER:
        raise Refused("The owner's account cannot be ended", id=str(key))
    tx.run("end_account", key=key, now=stamp(tx.now))
    tx.all("end_logins", LoginKey, account_key=key, but=0, now=stamp(tx.now))
    tx.all("end_tokens", TokenKey, account_key=key, now=stamp(tx.now))
    tx.run("drop_links_of_account", account_key=key)
    tx.run("drop_passkeys", account_key=key)
    tx.run("drop_outcomes_of_account", account_key=key)
    add_account_event(tx, key)
    note_audit(tx, by, "account.ended", audit_subject(account))


def forget_account(tx: Transaction, platform: str, sender_id: str, nameless: str) -> bool:
    """End the account of a member who is forgotten, and leave nothing of its name.

    False: they had none. That of the owner stays.
    """
    key = member_of(platform, sender_id)
    account = None if key is None else tx.one("lock_account", Account, key=key)
    if account is None or key is None or account.role is AccountRole.OWNER:
        return False
    if account.ended_at is None:
        end_account(tx, key)
    forget_subject(tx, account.name)
    forget_acts(tx, key)
    tx.run("rename_account", key=key, name=nameless)
    tx.run("drop_devices", account_key=key)
    tx.run("drop_token_names", account_key=key)
    return True


def set_password(
    tx: Transaction,
    key: AccountKey,
    password_hash: str | None,
    *,
    logs_out: bool,
    ends_tokens: bool = False,
    but: LoginKey | None = None,
    by: Actor | None = None,
) -> None:
    """Keep what a password has to match; None: nobody logs in by password.

    Whoever knows the old one may be logged in: with `logs_out` every browser but one is no longer.
    Links that were not used yet are deleted with them; `ends_tokens` revokes the API tokens too.
    """
    account = lock_account(tx, key)
    tx.run("set_password", key=key, password_hash=password_hash)
    if logs_out:
        tx.all("end_logins", LoginKey, account_key=key, but=but or 0, now=stamp(tx.now))
        tx.run("drop_links_of_account", account_key=key)
    at = stamp(tx.now)
    ended = tx.all("end_tokens", TokenKey, account_key=key, now=at) if ends_tokens else []
    add_account_event(tx, key)
    act = "password.dropped" if password_hash is None else "password.set"
    note_audit(tx, by, act, audit_subject(account))
    for one in sorted(ended):
        note_audit(tx, by, "token.ended", str(one))


def find_password(tx: Transaction, name: str) -> tuple[Account, str] | None:
    """Find the account of a name, and what its password has to match; None: it has none."""
    found = tx.one("find_password", _LoginSecret, name=name)
    return None if found is None else (read_account(tx, found.key), found.password_hash)


def lock_account(tx: Transaction, key: AccountKey) -> Account:
    """Take an account that can be used for this transaction."""
    account = _required(tx.one("lock_account", Account, key=key), key)
    if account.ended_at is not None:
        raise _missing(key)
    return account


def share_account(tx: Transaction, key: AccountKey) -> Account:
    """Keep an account from being ended until this is over."""
    return _required(tx.one("share_account", Account, key=key), key)


def add_account_event(tx: Transaction, key: AccountKey) -> None:
    """Add to the feed that an account, or how it is used, changed."""
    add_global_event(tx, EventKind.ACCOUNT_CHANGED, key)


def audit_subject(account: Account) -> str:
    """Say which account an act was about, so that it is still known under another name."""
    return f"{account.key} {account.name}"


def _required(account: Account | None, key: AccountKey) -> Account:
    """Raise NotFound unless the account exists."""
    if account is None:
        raise _missing(key)
    return account


def _missing(key: AccountKey) -> NotFound:
    return NotFound("There is no such account", id=str(key), hint="Look into the list of accounts")


def _refuse_taken(tx: Transaction, name: str) -> None:
    if name.casefold() == OWNER_NAME:
        raise Conflict("This name is reserved for the owner", hint="Choose another name")
    if tx.exists("find_account_name", name=name):
        raise _taken(name)


def _taken(name: str) -> Conflict:
    return Conflict(f"There is already an account {name!r}", hint="Choose another name")


def note_act(
    tx: Transaction,
    address: Address | None,
    sender: Sender,
    act: str,
    subject: str,
    *,
    token: int | None = None,
) -> None:
    """Write down what somebody did from a place: by their account or, on a platform, by their id.

    Who comes from nowhere is a library's user, of whom nothing is written down.
    """
    if address is None:
        return
    by = find_actor(tx, address.platform, sender.id, token)
    who = "" if by else f"{address.platform}:{canonical_sender(address.platform, sender) or ''}"
    note_audit(tx, by or Actor(), act, subject, who)


async def get_owner_account(db: Database) -> Account:
    """Return the account of the owner, which is created when it is first asked for."""
    found = await db.read(find_owner)
    return await db.write(owner_account) if found is None else found
