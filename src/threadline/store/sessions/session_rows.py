"""Session rows: what a list shows of a session, read for a whole page at once."""

import json
from collections.abc import Sequence
from itertools import islice

from threadline.core.address import Kind
from threadline.core.message import Role
from threadline.core.session import SessionId
from threadline.core.session_list import OWNER, SPEAKERS_LIMIT, WORDS_LIMIT, SessionRow, Speaker
from threadline.core.turn import TurnState
from threadline.core.validation import ID_LIMIT, clean_title
from threadline.database.port import Row, Transaction
from threadline.store.row_mappers import session_from
from threadline.store.transcripts.history import LOOK_BACK, backwards
from threadline.store.transcripts.segments import layout_of

_LINES = 100
"""Lines of a shared conversation in which speakers are looked for."""
# White space is folded and what cannot be seen is left out, so more is read than is shown.
_CHARACTERS = 2 * WORDS_LIMIT
_read_json = json.JSONDecoder().raw_decode
"""The same as `json.loads`, which looks around a text before and after it."""
_ROLES = {role.value: role for role in Role}


def read_rows(
    tx: Transaction, keys: Sequence[int], *, reader: str = OWNER, device: str | None = None
) -> list[SessionRow]:
    """Read what a list shows of some sessions, in the order of these keys."""
    rows = tx.all(
        "read_session_rows",
        keys=json.dumps(list(keys)),
        reader=reader,
        device=device,
        lines=_LINES,
        characters=_CHARACTERS,
    )
    found = {row.number("key"): row for row in rows}
    return [_row_from(tx, found[key]) for key in keys if key in found]


def _row_from(tx: Transaction, row: Row) -> SessionRow:
    session, people = session_from(row), _people(row)
    words, speaker = _said(row)
    if speaker is None and session.base_id is not None:
        words, speaker = _shared(tx, session.id)
    return SessionRow(
        session=session,
        label=_label(row, session.kind),
        people=tuple(people[:SPEAKERS_LIMIT]),
        people_count=len(people),
        last_words=None if words is None else clean_title(words, WORDS_LIMIT),
        last_speaker=speaker,
        held=row.choice_or_none("held_state", TurnState),
        queued=row.number("queued"),
        project_name=row.text_or_none("project_name"),
        is_unread=session.last_seq > row.number("read_seq"),
        has_draft=row.number("drafts") > 0,
        has_failed_delivery=row.number("undelivered") > 0,
    )


def _said(row: Row) -> tuple[str | None, Speaker | None]:
    """Tell the last words, and who said them."""
    last = row.text_or_none("last_said")
    if last is None:
        return None, None
    (role, name, words), _ = _read_json(last)
    return words, _speaker(_ROLES[role], name)


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


def _people(row: Row) -> list[str]:
    owner, speakers = row.text_or_none("owner_name"), row.text_or_none("speakers")
    names = [owner] if owner is not None else json.loads(speakers or "[]")
    return [clean_title(name, ID_LIMIT) for name in names]


def _label(row: Row, kind: Kind) -> str:
    """Name the place: chat and topic; a private chat after the person in it."""
    chat = row.text_or_none("chat_name")
    if chat is None and kind is Kind.DM:
        chat = row.text_or_none("owner_name")
    label = clean_title(chat or row.text("chat"), ID_LIMIT)
    if topic := row.text_or_none("topic"):
        label = " / ".join(filter(None, (label, clean_title(topic, ID_LIMIT))))
    return label or row.text("platform")
