"""Link codes: how a person shows that two senders are theirs."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Conflict, Refused
from threadline.core.person import (
    CODE_VALID,
    LIVE_CODES,
    WRONG_CODES,
    WRONG_WITHIN,
    PersonKey,
    read_code,
    write_code,
)
from threadline.core.text import checked_text
from threadline.core.turn import CLOCK_SLACK
from threadline.sessions.people.persons import join_senders, remember_sender
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

NewCode: TypeAlias = Callable[[], int]
"""Gives 40 random bits for a link code."""

_CODE_LIMIT = 100
_DRAWS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCode:
    """A code to be sent from another app. It is shown once: the store keeps only its hash."""

    code: str
    expires_at: datetime


class LinkOutcome(StrEnum):
    """What came of a link code that somebody sent."""

    LINKED = "linked"
    WRONG = "wrong"
    """It is unknown, used, too old, or their own; which of these is nobody's business."""
    LOCKED = "locked"
    """They sent too many wrong ones, so this one was not even looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linking:
    """What came of a link code, and the person that two senders are now.

    A wrong code is an answer and no error, because it has to be counted.
    """

    outcome: LinkOutcome
    person: PersonKey | None = None

    def refusal(self) -> Refused | None:
        """Answer the error that says why it came to nothing; None: they are linked."""
        if self.outcome is LinkOutcome.LOCKED:
            return Refused("Too many wrong codes came from here", hint="Try again in an hour")
        if self.outcome is LinkOutcome.WRONG:
            return Refused(
                "This code is not valid", hint="Send /link in the other app for a new one"
            )
        return None


def make_link_code(
    tx: Transaction,
    address: Address,
    sender: Sender,
    *,
    profile: str,
    now: datetime,
    new_code: NewCode,
) -> LinkCode:
    """Make a code by which its sender can be joined, once and soon; older ones are replaced."""
    if address.kind is not Kind.DM:
        raise Refused(
            "Others could read and use the code here", hint="Send /link in a private chat"
        )
    key = remember_sender(tx, address, sender)
    tx.one("take_sender", key=key)
    tx.run("drop_stale_codes", now=stamp(now))
    for old in tx.all("list_codes", sender_key=key)[LIVE_CODES - 1 :]:
        tx.run("drop_code", hash=old.text("hash"))
    expires_at = now + CODE_VALID
    for _ in range(_DRAWS):
        code = write_code(new_code())
        kept = _hash(profile, code)
        if tx.one("find_code", hash=kept) is None:
            tx.run(
                "add_code", hash=kept, sender_key=key, now=stamp(now), expires_at=stamp(expires_at)
            )
            return LinkCode(code=code, expires_at=expires_at)
    raise Conflict("No free code was found", hint="Try again")


def link(
    tx: Transaction, address: Address, sender: Sender, code: str, *, profile: str, now: datetime
) -> Linking:
    """Join whoever sends a code with whoever was shown it; each code joins only once."""
    written = read_code(checked_text(code, "code", _CODE_LIMIT))
    key = remember_sender(tx, address, sender)
    row = expect(tx, "take_sender", key=key)
    if _is_shut_out(row, now):
        return Linking(outcome=LinkOutcome.LOCKED)
    shown = tx.one("take_code", hash=_hash(profile, written), sender_key=key, now=stamp(now))
    if shown is None:
        _count_wrong(tx, row, now)
        return Linking(outcome=LinkOutcome.WRONG)
    person_key = join_senders(tx, key, shown.number("sender_key"), now=now)
    return Linking(outcome=LinkOutcome.LINKED, person=person_key)


def _is_shut_out(sender: Row, now: datetime) -> bool:
    since = sender.moment_or_none("wrong_since")
    is_many = sender.number("wrong_codes") >= WRONG_CODES
    return is_many and since is not None and -CLOCK_SLACK <= now - since < WRONG_WITHIN


def _count_wrong(tx: Transaction, sender: Row, now: datetime) -> None:
    since, count = sender.moment_or_none("wrong_since"), sender.number("wrong_codes") + 1
    if since is None or not -CLOCK_SLACK <= now - since < WRONG_WITHIN:
        since, count = now, 1
    if count == WRONG_CODES:
        since = now  # From here on it is the moment since which they are locked out.
    tx.run("count_wrong_codes", key=sender.number("key"), count=count, since=stamp(since))


def _hash(profile: str, code: str) -> str:
    # With the profile, so that a code is worth nothing in another one.
    return hashlib.sha256(f"link code\0{profile}\0{code}".encode()).hexdigest()
