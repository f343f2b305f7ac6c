"""Admin queries: what screens show beside conversations, such as deliveries, senders and caps."""

import json
from collections.abc import Collection, Iterator
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.budget import CapKind, Spending
from threadline.core.delivery import Delivery, DeliveryId, DeliveryState
from threadline.core.message import Attachment, BlobHash, Part, checked_hash
from threadline.core.person import Identity, KnownSender, PersonKey
from threadline.core.session import SessionId
from threadline.core.usage import dollars
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.people.visibility import list_person_senders
from threadline.store.queries import page_size, session_key
from threadline.store.transcripts.segments import Segment, layout_of

_END = 2**62
_EVER = -_END
_PERSONAL = frozenset({CapKind.PERSON_DAY, CapKind.PERSON_MONTH})


class SenderRow(Struct, frozen=True, kw_only=True):
    """Somebody who is known on a platform, and the person that they are, if several are one."""

    key: int
    sender: KnownSender
    person: PersonKey | None


class _BlobUse(Struct, frozen=True, kw_only=True):
    """What a message says."""

    parts: tuple[Part, ...]


class Spent(Struct, frozen=True, kw_only=True):
    """What was spent, and how many calls have no known cost."""

    cost: int
    """Billionths of a US dollar."""
    unpriced: int

    def fill(self, counted: Spending) -> Spending:
        """Return a cap with what was spent of it."""
        return replace(counted, spent=dollars(self.cost), unpriced=self.unpriced)


def deliveries_of(
    tx: Transaction,
    id: SessionId,
    *,
    states: Collection[DeliveryState] = (),
    before: DeliveryId | None = None,
    most: int,
) -> list[Delivery]:
    """List what is or was owed for a session, the newest first; in some states, or in any."""
    return tx.all(
        "list_deliveries_of_session",
        Delivery,
        session_key=session_key(tx, id),
        states=json.dumps(sorted(states)) if states else None,
        before=_END if before is None else before,
        most=page_size(most),
    )


def undelivered(
    tx: Transaction, *, before: tuple[datetime, DeliveryId] | None = None, most: int
) -> list[Delivery]:
    """List what never arrived, the newest first."""
    at, id = (_END, DeliveryId(_END)) if before is None else (stamp(before[0]), before[1])
    return tx.all("list_undelivered", Delivery, owed_at=at, before=id, most=page_size(most))


def senders(tx: Transaction, *, after: int = 0, most: int) -> list[SenderRow]:
    """List everybody who is known on any platform, in the order in which they came."""
    return tx.all("list_senders", SenderRow, after=after, most=page_size(most))


def attachment_in(tx: Transaction, id: SessionId, hash: BlobHash) -> Attachment | None:
    """Find an attachment as a session's transcript shows it; None: nothing in it has that one."""
    checked_hash(hash)
    layout = layout_of(tx, id)
    for segment in reversed(layout.segments):
        is_own = segment is layout.own
        for part in _uses(tx, segment, hash, is_own=is_own):
            return part
    return None


def spendings(
    tx: Transaction, sender: Identity | None, *, everybody: bool, session: SessionId | None = None
) -> list[Spending]:
    """Tell how near the caps are: somebody's own, a session's, and those of all together."""
    found = []
    for kind, limit in tx.settings.spend.each():
        period = tx.settings.spend.period(kind, tx.now)
        counted = Spending(
            kind=kind, limit=limit, spent=dollars(0), unpriced=0, subject="", period=period
        )
        since = _EVER if period is None else stamp(period.begins_at)
        if kind in _PERSONAL and sender is not None:
            keys = json.dumps([one.key for one in list_person_senders(tx, sender)])
            found.append(_spent(tx, replace(counted, subject=str(sender)), since, keys))
        elif kind is CapKind.SESSION and session is not None:
            key = session_key(tx, session)
            spent = expect(tx, "sum_spent_in_session", Spent, session_key=key)
            found.append(spent.fill(replace(counted, subject=session)))
        elif kind in {CapKind.DAY, CapKind.MONTH} and everybody:
            found.append(_spent(tx, counted, since, None))
    return found


def profiles(tx: Transaction) -> list[str]:
    """List the profiles in which there is any session."""
    return tx.all("list_profiles", str)


def _uses(
    tx: Transaction, segment: Segment, hash: BlobHash, *, is_own: bool
) -> Iterator[Attachment]:
    last = _END if is_own else segment.last
    rows = tx.all(
        "list_blob_uses_in",
        _BlobUse,
        hash=hash,
        session_key=segment.session_key,
        first=segment.first,
        last=last,
        everything=_END,
    )
    for row in rows:
        for part in row.parts:
            if isinstance(part, Attachment) and part.blob == hash:
                yield part


def _spent(tx: Transaction, counted: Spending, since: int, keys: SqlValue) -> Spending:
    return expect(tx, "sum_spent", Spent, since=since, sender_keys=keys).fill(counted)
