"""Session rows: what a list shows of a session, read for a whole page at once."""

import json
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from threadline.core.address import Kind
from threadline.core.message import Role
from threadline.core.session import Session, SessionId
from threadline.core.session_list import OWNER, SPEAKERS_LIMIT, WORDS_LIMIT, SessionRow, Speaker
from threadline.core.turn import TurnState
from threadline.core.validation import ID_LIMIT, clean_title
from threadline.database.port import Transaction
from threadline.store.transcripts.history import LOOK_BACK, backwards
from threadline.store.transcripts.segments import layout_of

_LINES = 100
"""Lines of a shared conversation in which speakers are looked for."""
# White space is folded and what cannot be seen is left out, so more is read than is shown.
_CHARACTERS = 2 * WORDS_LIMIT


class _ListedSession(Struct, frozen=True, kw_only=True):
    """A session, and what else a list shows of it."""

    key: int
    session: Session
    chat: str
    chat_name: str | None
    topic: str | None
    owner_name: str | None
    project_name: str | None
    held_state: TurnState | None
    queued: int
    read_seq: int
    drafts: int
    speakers: tuple[str, ...] = ()
    """Who spoke last, where several people speak."""
    last_said: tuple[Role, str | None, str] | None
    """Who said what last."""
    undelivered: int


def read_rows(
    tx: Transaction, keys: Sequence[int], *, reader: str = OWNER, device: str | None = None
) -> list[SessionRow]:
    """Read what a list shows of some sessions, in the order of these keys."""
    rows = tx.all(
        "read_session_rows",
        _ListedSession,
        keys=json.dumps(list(keys)),
        reader=reader,
        device=device,
        lines=_LINES,
        characters=_CHARACTERS,
    )
    found = {row.key: row for row in rows}
    return [_row_from(tx, found[key]) for key in keys if key in found]


def _row_from(tx: Transaction, row: _ListedSession) -> SessionRow:
    session, people = row.session, _people(row)
    words, speaker = _said(row)
    if speaker is None and session.base_id is not None:
        words, speaker = _shared(tx, session.id)
    return SessionRow(
        session=session,
        label=_label(row),
        people=tuple(people[:SPEAKERS_LIMIT]),
        people_count=len(people),
        last_words=None if words is None else clean_title(words, WORDS_LIMIT),
        last_speaker=speaker,
        held=row.held_state,
        queued=row.queued,
        project_name=row.project_name,
        is_unread=session.last_seq > row.read_seq,
        has_draft=row.drafts > 0,
        has_failed_delivery=row.undelivered > 0,
    )


def _said(row: _ListedSession) -> tuple[str | None, Speaker | None]:
    """Return the last words, and who said them."""
    if row.last_said is None:
        return None, None
    role, name, words = row.last_said
    return words, _speaker(role, name)


def _speaker(role: Role, name: str | None) -> Speaker:
    return Speaker(role=role, name=None if name is None else clean_title(name, ID_LIMIT))


def _shared(tx: Transaction, id: SessionId) -> tuple[str | None, Speaker | None]:
    """Find the last words of a branch in which nobody has spoken yet: those that it shares."""
    layout = layout_of(tx, id)
    lines = islice(backwards(tx, layout, layout.hidden()), LOOK_BACK)
    said = (
        (line.text[:_CHARACTERS], _speaker(line.role, line.sender_name or line.sender_id))
        for line in lines
        if line.role in {Role.USER, Role.ASSISTANT} and line.deleted_at is None and line.text
    )
    return next(said, (None, None))


def _people(row: _ListedSession) -> list[str]:
    names = row.speakers if row.owner_name is None else (row.owner_name,)
    return [clean_title(name, ID_LIMIT) for name in names]


def _label(row: _ListedSession) -> str:
    """Name the place: chat and topic; a private chat after the person in it."""
    chat = row.chat_name
    if chat is None and row.session.kind is Kind.DM:
        chat = row.owner_name
    label = clean_title(chat or row.chat, ID_LIMIT)
    if row.topic:
        label = " / ".join(filter(None, (label, clean_title(row.topic, ID_LIMIT))))
    return label or row.session.platform
