"""Shares: pages of conversations that anybody can read who knows their address."""

import json
from datetime import datetime

from threadline.core.account import SHARES_LIMIT, Account, Actor, Share, ShareId
from threadline.core.errors import Conflict, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.core.validation import COUNT_LIMIT
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.audit import note_audit
from threadline.store.people.visibility import asker_keys
from threadline.store.queries import session_key
from threadline.store.session_writer import write_session, write_session_by_key


def make_share(
    tx: Transaction, session_id: SessionId, share_id: ShareId, page: str, *, by: Actor | None
) -> Share:
    """Keep a page of a conversation, which is never changed."""
    with write_session(tx, session_id) as writer:
        if expect(tx, "count_shares", int, session_key=writer.key) >= SHARES_LIMIT:
            raise Refused(
                f"A conversation can be shared at most {SHARES_LIMIT} times", id=session_id
            )
        is_made = tx.exists(
            "add_share",
            id=share_id,
            session_key=writer.key,
            account_key=None if by is None else by.account,
            title=tx.one("read_title", str, key=writer.key) or "",
            page=page,
            now=stamp(tx.now),
        )
        if not is_made:
            raise Conflict("This address is taken", hint="Draw another one")
        writer.tell(EventKind.SHARE_CHANGED)
    note_audit(tx, by, "share.made", session_id)
    return read_share(tx, share_id)


def read_share(tx: Transaction, id: ShareId) -> Share:
    """Read what is known of a page, also of one that was revoked."""
    share = tx.one("read_share", Share, id=id)
    if share is None:
        raise _missing()
    return share


def read_page(tx: Transaction, id: ShareId) -> str | None:
    """Read a page; None: nobody ever shared it, or it was revoked."""
    return tx.one("read_page", str, id=id)


def list_shares(
    tx: Transaction,
    session_id: SessionId | None,
    *,
    viewer: Account | None,
    before: tuple[datetime, str] | None,
    most: int,
) -> list[Share]:
    """List the pages of a conversation, or all that a viewer may see, the newest first."""
    key = None if session_id is None else session_key(tx, session_id)
    at, id = (COUNT_LIMIT, "") if before is None else (stamp(before[0]), before[1])
    return tx.all(
        "list_shares",
        Share,
        session_key=key,
        profile=None if viewer is None else viewer.profile,
        sender_keys=_senders_seen(tx, viewer),
        before_at=at,
        before_id=id,
        most=most,
    )


def revoke_share(tx: Transaction, id: ShareId, *, by: Actor | None = None) -> bool:
    """Let nobody read a page any more; False: it was revoked before."""
    key = tx.one("find_session_of_share", int, id=id)
    if key is None:
        raise _missing()
    with write_session_by_key(tx, key) as writer:
        if not tx.exists("revoke_share", id=id, now=stamp(tx.now)):
            return False
        writer.tell(EventKind.SHARE_CHANGED)
    note_audit(tx, by, "share.revoked", writer.id)
    return True


def _senders_seen(tx: Transaction, viewer: Account | None) -> str | None:
    """Write whose conversations a viewer sees, in every profile of theirs; None: everybody's."""
    asker = Viewer.owner() if viewer is None else viewer.asker()
    return None if asker.sees_all else json.dumps(sorted(asker_keys(tx, asker).sender_keys))


def _missing() -> NotFound:
    # The id is what the page is read with, so that no error repeats it.
    return NotFound("There is no such page")
