"""Turn context: everything that the store knows about the place and the moment of a turn."""

from collections.abc import Sequence

from msgspec import Struct

from threadline.core.address import Address, Sender
from threadline.core.errors import NotFound
from threadline.core.message import Message
from threadline.core.pseudonyms import Pseudonymizer, PseudonymousAddress
from threadline.core.session import Session, SessionId
from threadline.core.turn import Turn, TurnId
from threadline.database.port import Row, Transaction
from threadline.store.approvals.tool_permissions import list_allowed
from threadline.store.queries import read_session
from threadline.store.row_mappers import address_from_row
from threadline.store.transcripts.history import history

PAGE = 200
"""Places that are looked through at a time."""


class TurnContext(Struct, frozen=True, kw_only=True):
    """A turn's session with its history, and where it is."""

    session: Session
    history: Sequence[Message]
    opened: Address
    """Where the session was opened."""
    here: Address
    """Where the turn was asked."""
    owner: Sender | None
    """Whose session it is; None: everybody's."""
    homes: tuple[Address, ...]
    """Where unasked messages of the profile go."""
    memory: str | None = None
    """What the agent asked to be given back."""
    allowed: frozenset[str] = frozenset()
    """The tools that may be used without asking."""


class StreamedText(Struct, frozen=True, kw_only=True):
    """How far a session has come at one moment: its lines, and what is said but no line yet."""

    session_id: SessionId
    last_seq: int
    turn_id: TurnId | None = None
    """The turn that runs."""
    text: str = ""
    """What it has said since the last line, as far as it was stored."""


def read_turn_context(tx: Transaction, turn: Turn) -> TurnContext:
    """Read all that a request is made of."""
    session, lines = read_session(tx, turn.session_id), history(tx, turn.session_id)
    rows = tx.all("read_scene", session_id=turn.session_id, turn_id=turn.id)
    opened = next(row for row in rows if row["what"] == "opened")
    here = next((row for row in rows if row["what"] == "here"), opened)
    homes = [address_from_row(row) for row in rows if row["what"] == "home"]
    return TurnContext(
        session=session,
        history=lines,
        opened=address_from_row(opened),
        here=address_from_row(here),
        owner=_owner_from(opened),
        homes=tuple(homes),
        memory=opened.text_or_none("memory"),
        allowed=list_allowed(tx, turn.session_id),
    )


def _owner_from(row: Row) -> Sender | None:
    id = row.text_or_none("sender_id")
    return None if id is None else Sender(id=id, name=row.text_or_none("sender_name"))


def look_through(
    tx: Transaction, hidden: PseudonymousAddress, after: int, *, veil: Pseudonymizer
) -> tuple[Address | None, int | None]:
    """Look for a hidden place among some of its platform; answers where to go on, if anywhere."""
    rows = tx.all("list_addresses_of_platform", platform=hidden.platform, after=after, most=PAGE)
    for row in rows:
        if veil.stands_for(hidden, address := address_from_row(row)):
            return address, None
    return None, rows[-1].number("key") if len(rows) == PAGE else None


def read_streaming(tx: Transaction, id: SessionId) -> StreamedText:
    """Read how far the turn under way has come, beside the lines that are stored."""
    rows = tx.all("read_streaming", id=id)
    if not rows:
        raise NotFound("There is no such session", id=id)
    turn_id = rows[0].number_or_none("turn_id")
    return StreamedText(
        session_id=id,
        last_seq=rows[0].number("last_seq"),
        turn_id=None if turn_id is None else TurnId(turn_id),
        text="".join(row.text_or_none("text") or "" for row in rows),
    )
