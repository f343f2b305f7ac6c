"""Link codes: how a person shows that two senders are theirs."""

import hashlib
from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.account import OWNER_NAME, member_of
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import LOCAL
from threadline.core.errors import Conflict, Refused
from threadline.core.person import (
    CODE_VALID,
    LIVE_CODES,
    WRONG_CODES,
    WRONG_WITHIN,
    Identity,
    Person,
    PersonKey,
    read_code,
)
from threadline.core.turn import CLOCK_SLACK
from threadline.core.validation import checked_text
from threadline.database.port import Database, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.accounts.accounts import note_act
from threadline.store.people.pairing import new_code
from threadline.store.people.persons import LockedSender, join_senders, read_person, remember_sender
from threadline.store.people.visibility import list_person_senders

_CODE_LIMIT = 100
_MARK_DIGITS = 8
_DRAWS = 3


class LinkCode(Struct, frozen=True, kw_only=True):
    """A code to be sent from another app. It is shown once: the store keeps only its hash."""

    code: str
    expires_at: datetime


class LinkOutcome(StrEnum):
    """What came of a link code that somebody sent."""

    LINKED = "linked"
    OFFERED = "offered"
    """Who sent or made it has to confirm, now that they know the other side."""
    WAITING = "waiting"
    """The other side has to confirm, too."""
    NOTHING = "nothing"
    """Nothing waits for a confirmation."""
    WRONG = "wrong"
    """It is unknown, used, too old, or their own; which of these is nobody's business."""
    LOCKED = "locked"
    """They sent too many wrong ones, so this one was not even looked at."""


class Linking(Struct, frozen=True, kw_only=True):
    """What came of a link code, and the person that two senders are now.

    A wrong code is an answer and no error, because it has to be counted.
    """

    outcome: LinkOutcome
    person: PersonKey | None = None
    other: Identity | None = None
    """The other side, where there is one."""
    other_name: str | None = None
    mark: str = ""
    """What the buttons of an offer call it."""

    def refusal(self) -> Refused | None:
        """Answer the error that says why it came to nothing; None: they are linked."""
        if self.outcome is LinkOutcome.NOTHING:
            return Refused("Nothing waits for your confirmation", hint="/link shows a new code")
        if self.outcome is LinkOutcome.LOCKED:
            return Refused("Too many wrong codes came from here", hint="Try again in an hour")
        if self.outcome is LinkOutcome.WRONG:
            return Refused(
                "This code is not valid", hint="Send /link in the other app for a new one"
            )
        return None


class _Claim(Struct, frozen=True, kw_only=True):
    """A code that was sent, and how far its link is confirmed."""

    hash: str
    sender_key: int
    """Who made the code."""
    claimed_by: int
    """Who sent it."""
    state: str


class _Side(Struct, frozen=True, kw_only=True):
    """One of the two senders of a link."""

    identity: Identity
    name: str | None


def make_link_code(tx: Transaction, address: Address, sender: Sender, *, profile: str) -> LinkCode:
    """Make a code by which its sender can be joined, once and soon; older ones are replaced."""
    if address.kind is not Kind.DM:
        raise Refused(
            "Others could read and use the code here", hint="Send /link in a private chat"
        )
    key = remember_sender(tx, address, sender)
    tx.exists("take_sender", key=key)
    tx.run("drop_stale_codes", now=stamp(tx.now))
    for old in tx.all("list_codes", str, sender_key=key)[LIVE_CODES - 1 :]:
        tx.run("drop_code", hash=old)
    expires_at = tx.now + CODE_VALID
    for _ in range(_DRAWS):
        code = new_code(tx)
        kept = _hash(profile, code)
        if not tx.exists("find_code", hash=kept):
            tx.run(
                "add_code",
                hash=kept,
                sender_key=key,
                now=stamp(tx.now),
                expires_at=stamp(expires_at),
            )
            return LinkCode(code=code, expires_at=expires_at)
    raise Conflict("No free code was found", hint="Try again")


def link(tx: Transaction, address: Address, sender: Sender, code: str, *, profile: str) -> Linking:
    """Join whoever sends a code with whoever was shown it; each code joins only once."""
    sent = _send_code(tx, address, sender, code, profile=profile)
    if isinstance(sent, LinkOutcome):
        return Linking(outcome=sent)
    tx.run("drop_code", hash=_hash(profile, read_code(code)))
    return _join(tx, address, sender, *sent)


def claim_code(
    tx: Transaction, address: Address, sender: Sender, code: str, *, profile: str
) -> Linking:
    """Return who made a code, for the one who sends it to confirm; nobody is joined yet."""
    sent = _send_code(tx, address, sender, code, profile=profile)
    if isinstance(sent, LinkOutcome):
        return Linking(outcome=sent)
    key, other_key = sent
    kept = _hash(profile, read_code(code))
    tx.run("drop_claims", sender_key=key, hash=kept)
    return replace(_about(tx, LinkOutcome.OFFERED, other_key), mark=kept[:_MARK_DIGITS])


def void_code(tx: Transaction, code: str, *, profile: str) -> None:
    """Delete a code that others could read: whoever sends it first could link themselves."""
    tx.run("drop_code", hash=_hash(profile, read_code(code[:_CODE_LIMIT])))


def find_offer(tx: Transaction, address: Address, sender: Sender) -> Linking:
    """Return who sent and confirmed a code of this sender, who confirms last; or NOTHING."""
    claim = _find_claim(tx, remember_sender(tx, address, sender))
    if claim is None or claim.state == "claimed":
        return Linking(outcome=LinkOutcome.NOTHING)
    tx.run("set_code_state", hash=claim.hash, state="shown")
    offer = _about(tx, LinkOutcome.OFFERED, claim.claimed_by)
    return replace(offer, mark=claim.hash[:_MARK_DIGITS])


def confirm_link(tx: Transaction, address: Address, sender: Sender, mark: str = "") -> Linking:
    """Confirm a link that was named to this sender before, and join both sides if they may be.

    Where one side can log in to the web app, both have to confirm. The button of an earlier offer
    confirms no later one: its `mark` is another.
    """
    key = remember_sender(tx, address, sender)
    claim = _find_claim(tx, key)
    if claim is None or (mark and mark != claim.hash[:_MARK_DIGITS]):
        return Linking(outcome=LinkOutcome.NOTHING)
    if claim.state == "confirmed":
        return find_offer(tx, address, sender)
    other_key = claim.sender_key
    if claim.state == "shown":
        other_key = claim.claimed_by
    elif _has_account(tx, key) or _has_account(tx, other_key):
        tx.run("set_code_state", hash=claim.hash, state="confirmed")
        return _about(tx, LinkOutcome.WAITING, other_key)
    tx.run("drop_code", hash=claim.hash)
    return _join(tx, address, sender, key, other_key)


def refuse_link(tx: Transaction, address: Address, sender: Sender) -> bool:
    """Delete a code whose link this sender does not confirm; return False if there is none."""
    claim = _find_claim(tx, remember_sender(tx, address, sender))
    if claim is not None:
        tx.run("drop_code", hash=claim.hash)
    return claim is not None


def _find_claim(tx: Transaction, sender_key: int) -> _Claim | None:
    return tx.one("find_claim", _Claim, sender_key=sender_key, now=stamp(tx.now))


def _send_code(
    tx: Transaction, address: Address, sender: Sender, code: str, *, profile: str
) -> tuple[int, int] | LinkOutcome:
    """Return the keys of who sends a code and who made it, or why it is refused."""
    written = read_code(checked_text(code, "code", _CODE_LIMIT))
    key = remember_sender(tx, address, sender)
    locked = expect(tx, "take_sender", LockedSender, key=key)
    if _is_shut_out(locked, tx.now):
        return LinkOutcome.LOCKED
    made_by = tx.one(
        "claim_code", int, hash=_hash(profile, written), sender_key=key, now=stamp(tx.now)
    )
    if made_by is None:
        _count_wrong(tx, locked)
        return LinkOutcome.WRONG
    return key, made_by


def _join(tx: Transaction, address: Address, sender: Sender, key: int, other_key: int) -> Linking:
    linked = _about(tx, LinkOutcome.LINKED, other_key)
    person_key = join_senders(tx, key, other_key)
    note_act(tx, address, sender, "person.linked", str(linked.other))
    return replace(linked, person=person_key)


def _about(tx: Transaction, outcome: LinkOutcome, other_key: int) -> Linking:
    other = expect(tx, "read_sender", _Side, key=other_key)
    return Linking(outcome=outcome, other=other.identity, other_name=other.name)


def _has_account(tx: Transaction, key: int) -> bool:
    """Return whether a sender, or another one of the same person, can log in to the web app."""
    identity = expect(tx, "read_sender", _Side, key=key).identity
    return any(
        one.platform == LOCAL and (one.id == OWNER_NAME or member_of(LOCAL, one.id) is not None)
        for one in list_person_senders(tx, identity)
    )


def _is_shut_out(sender: LockedSender, now: datetime) -> bool:
    since = sender.wrong_since
    is_many = sender.wrong_codes >= WRONG_CODES
    return is_many and since is not None and -CLOCK_SLACK <= now - since < WRONG_WITHIN


def _count_wrong(tx: Transaction, sender: LockedSender) -> None:
    since, count = sender.wrong_since, sender.wrong_codes + 1
    if since is None or not -CLOCK_SLACK <= tx.now - since < WRONG_WITHIN:
        since, count = tx.now, 1
    if count == WRONG_CODES:
        since = tx.now  # From here on it is the moment since which they are locked out.
    tx.run("count_wrong_codes", key=sender.key, count=count, since=stamp(since))


def _hash(profile: str, code: str) -> str:
    # With the profile, so that a code is worth nothing in another one.
    return hashlib.sha256(f"link code\0{profile}\0{code}".encode()).hexdigest()


async def use_link_code(
    db: Database, address: Address, sender: Sender, code: str, *, profile: str
) -> Person:
    """Link the sender of a code with the sender it was shown to; return the person.

    A code that is not valid is refused without a reason; after five in an hour none is accepted
    for an hour.
    """
    linking = await db.write(link, address, sender, code, profile=profile)
    refusal = linking.refusal()
    if refusal is not None or linking.person is None:
        raise refusal or Conflict("Nobody was linked", hint="Try again")
    return await db.read(read_person, linking.person)
