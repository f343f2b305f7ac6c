"""Turn context: everything that the store knows about the place and the moment of a turn."""

from collections.abc import Sequence

from msgspec import Struct

from threadline.core.address import Address, Sender
from threadline.core.errors import NotFound
from threadline.core.message import Message
from threadline.core.pseudonyms import Pseudonymizer, PseudonymousAddress
from threadline.core.session import Session, SessionId
from threadline.core.turn import Turn, TurnId
from threadline.database.port import Transaction
from threadline.store.approvals.tool_permissions import list_allowed
from threadline.store.queries import read_session
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


class _ScenePlace(Struct, frozen=True, kw_only=True):
    """A place that a turn has to do with."""

    what: str
    """`opened`: where the session was opened. `here`: where the turn was asked. `home`."""
    address: Address
    owner: Sender | None
    memory: str | None


class _KnownPlace(Struct, frozen=True, kw_only=True):
    """A place of a platform."""

    key: int
    address: Address


class _StreamedPiece(Struct, frozen=True, kw_only=True):
    """A piece of what the turn under way has said, if there is one."""

    last_seq: int
    turn_id: TurnId | None
    text: str | None


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
    places = tx.all("read_scene", _ScenePlace, session_id=turn.session_id, turn_id=turn.id)
    opened = next(place for place in places if place.what == "opened")
    here = next((place for place in places if place.what == "here"), opened)
    return TurnContext(
        session=session,
        history=lines,
        opened=opened.address,
        here=here.address,
        owner=opened.owner,
        homes=tuple(place.address for place in places if place.what == "home"),
        memory=opened.memory,
        allowed=list_allowed(tx, turn.session_id),
    )


def look_through(
    tx: Transaction, hidden: PseudonymousAddress, after: int, *, veil: Pseudonymizer
) -> tuple[Address | None, int | None]:
    """Look for a hidden place among some of its platform; answers where to go on, if anywhere."""
    places = tx.all(
        "list_addresses_of_platform",
        _KnownPlace,
        platform=hidden.platform,
        after=after,
        most=PAGE,
    )
    for place in places:
        if veil.stands_for(hidden, place.address):
            return place.address, None
    return None, places[-1].key if len(places) == PAGE else None


def read_streaming(tx: Transaction, id: SessionId) -> StreamedText:
    """Read how far the turn under way has come, beside the lines that are stored."""
    pieces = tx.all("read_streaming", _StreamedPiece, id=id)
    if not pieces:
        raise NotFound("There is no such session", id=id)
    return StreamedText(
        session_id=id,
        last_seq=pieces[0].last_seq,
        turn_id=pieces[0].turn_id,
        text="".join(piece.text or "" for piece in pieces),
    )
