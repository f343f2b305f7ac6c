"""Shares: pages of conversations that anybody can read who knows their address."""

import json
from datetime import datetime

from threadline.core.account import SHARES_LIMIT, Account, Actor, Share, ShareId
from threadline.core.errors import Conflict, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.core.validation import COUNT_LIMIT
from threadline.database.port import Row, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.audit import note_audit
from threadline.store.people.visibility import asker_keys
from threadline.store.queries import session_row
from threadline.store.session_writer import write_session, write_session_by_key


def make_share(
    tx: Transaction, session_id: SessionId, share_id: ShareId, page: str, *, by: Actor | None
) -> Share:
    """Keep a page of a conversation, which is never changed."""
    with write_session(tx, session_id) as writer:
        counted = expect(tx, "count_shares", session_key=writer.key)
        if counted.number("shares") >= SHARES_LIMIT:
            raise Refused(
                f"A conversation can be shared at most {SHARES_LIMIT} times", id=session_id
            )
        title = expect(tx, "read_titled_by", key=writer.key).text_or_none("title")
        made = tx.one(
            "add_share",
            id=share_id,
            session_key=writer.key,
            account_key=None if by is None else by.account,
            title=title or "",
            page=page,
            now=stamp(tx.now),
        )
        if made is None:
            raise Conflict("This address is taken", hint="Draw another one")
        writer.tell(EventKind.SHARE_CHANGED)
    note_audit(tx, by, "share.made", session_id)
    return read_share(tx, share_id)


def read_share(tx: Transaction, id: ShareId) -> Share:
    """Read what is known of a page, also of one that was revoked."""
    return _share_from(_required(tx.one("read_share", id=id)))


def read_page(tx: Transaction, id: ShareId) -> str | None:
    """Read a page; None: nobody ever shared it, or it was revoked."""
    row = tx.one("read_page", id=id)
    return None if row is None else row.text("page")


def list_shares(
    tx: Transaction,
    session_id: SessionId | None,
    *,
    viewer: Account | None,
    before: tuple[datetime, str] | None,
    most: int,
) -> list[Share]:
    """List the pages of a conversation, or all that a viewer may see, the newest first."""
    key = None if session_id is None else session_row(tx, session_id).number("key")
    at, id = (COUNT_LIMIT, "") if before is None else (stamp(before[0]), before[1])
    rows = tx.all(
        "list_shares",
        session_key=key,
        profile=None if viewer is None else viewer.profile,
        sender_keys=_senders_seen(tx, viewer),
        before_at=at,
        before_id=id,
        most=most,
    )
    return [_share_from(row) for row in rows]


def revoke_share(tx: Transaction, id: ShareId, *, by: Actor | None = None) -> bool:
    """Let nobody read a page any more; False: it was revoked before."""
    row = _required(tx.one("read_share", id=id))
    with write_session_by_key(tx, row.number("session_key")) as writer:
        if tx.one("revoke_share", id=id, now=stamp(tx.now)) is None:
            return False
        writer.tell(EventKind.SHARE_CHANGED)
    note_audit(tx, by, "share.revoked", writer.id)
    return True


def _senders_seen(tx: Transaction, viewer: Account | None) -> str | None:
    """Write whose conversations a viewer sees, in every profile of theirs; None: everybody's."""
    asker = Viewer.owner() if viewer is None else viewer.asker()
    return None if asker.sees_all else json.dumps(sorted(asker_keys(tx, asker).sender_keys))


def _required(row: Row | None) -> Row:
    if row is None:
        # The id is what the page is read with, so that no error repeats it.
        raise NotFound("There is no such page")
    return row


def _share_from(row: Row) -> Share:
    return Share(
        id=ShareId(row.text("id")),
        session_id=row.text("session_id"),
        title=row.text("title"),
        made_at=row.moment("made_at"),
        revoked_at=row.moment_or_none("revoked_at"),
        size=row.number("size"),
    )
