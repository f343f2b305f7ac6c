"""Records: how rows of the store become the records of an export."""

import json
from collections.abc import Mapping, Sequence

from threadline.core.address import Kind
from threadline.core.export_format.files import (
    PortableAddress,
    PortableAlias,
    PortablePerson,
    PortableProject,
    PortableSender,
    SenderReference,
)
from threadline.core.export_format.sessions import (
    PortableCut,
    PortableMessage,
    PortableRevision,
    PortableTurn,
    PortableUsage,
    ReadMark,
)
from threadline.core.hidden_range import HiddenRangeKind
from threadline.core.message import Role, unpack
from threadline.core.project import ProjectColor, ProjectKind
from threadline.core.turn import UNFINISHED, TurnState
from threadline.core.usage import CostStatus
from threadline.database.port import Row, Transaction
from threadline.database.timestamps import moment

Numbers = Mapping[int, int]
"""The ids of turns, and their numbers within the session."""


def address_record(row: Row) -> PortableAddress:
    """Read a place."""
    return PortableAddress(
        platform=row.text("platform"),
        kind=Kind(row.text("kind")),
        chat=row.text("chat"),
        account=row.text("account"),
        thread=row.text("thread") or None,
        alt_chat=row.text_or_none("alt_chat"),
        parent=row.text_or_none("parent"),
        scope=row.text_or_none("scope"),
        chat_name=row.text_or_none("chat_name"),
        topic=row.text_or_none("topic"),
    )


def reference(platform: str | None, id: str | None) -> SenderReference | None:
    """Name a sender; None if there is none."""
    return None if platform is None or id is None else SenderReference(platform=platform, id=id)


def _sender_of(row: Row) -> SenderReference | None:
    return reference(row.text_or_none("sender_platform"), row.text_or_none("sender_id"))


def project_of(row: Row) -> PortableProject:
    """Read a project."""
    return PortableProject(
        profile=row.text("profile"),
        name=row.text("name"),
        color=ProjectColor(row.text("color")),
        kind=ProjectKind(row.text("kind")),
        made_at=row.moment("made_at"),
    )


def sender_record(tx: Transaction, row: Row) -> PortableSender:
    """Read a sender, the other ids they have, and the person they are."""
    aliases = [
        PortableAlias(id=alias.text("id"), learned_at=alias.moment("learned_at"))
        for alias in tx.all("list_exported_aliases", sender_key=row.number("key"))
    ]
    person_key = row.number_or_none("person_key")
    return PortableSender(
        platform=row.text("platform"),
        id=row.text("id"),
        name=row.text_or_none("name"),
        first_seen_at=row.moment("first_seen_at"),
        aliases=tuple(sorted(aliases, key=lambda alias: alias.id)),
        person=None if person_key is None else _person_of(tx, row, person_key),
    )


def _person_of(tx: Transaction, row: Row, key: int) -> PortablePerson:
    senders = [
        SenderReference(platform=each.text("platform"), id=each.text("id"))
        for each in tx.all("list_exported_person", person_key=key)
    ]
    return PortablePerson(
        name=row.text_or_none("person_name"),
        made_at=row.moment("made_at"),
        senders=tuple(sorted(senders, key=lambda each: (each.platform, each.id))),
    )


def cuts_of(rows: Sequence[Row], until: int | None) -> tuple[PortableCut, ...]:
    """Read the cuts of a session, or those that lie wholly in an excerpt of it."""
    kept = [row for row in rows if until is None or row.number("to_seq") <= until]
    numbers = {row.number("key"): n for n, row in enumerate(kept, start=1)}
    return tuple(
        PortableCut(
            from_seq=row.number("from_seq"),
            to_seq=row.number("to_seq"),
            kind=HiddenRangeKind(row.text("kind")),
            summary=row.text_or_none("summary"),
            user_messages=row.number("user_messages"),
            made_at=row.moment("made_at"),
            lifted_at=row.moment_or_none("lifted_at"),
            lifted_by=numbers.get(row.number_or_none("lifted_by") or 0),
        )
        for row in kept
    )


def marks_of(rows: Sequence[Row]) -> tuple[ReadMark, ...]:
    """Read how far a session was read."""
    marks = [
        ReadMark(reader=row.text("reader"), seq=row.number("seq"), at=row.moment("marked_at"))
        for row in rows
    ]
    return tuple(sorted(marks, key=lambda mark: mark.reader))


def turn_of(row: Row, numbers: Numbers, session: Row) -> PortableTurn:
    """Read a turn; one that is not finished is told as stopped, for nobody would go on with it."""
    state, ended_at = TurnState(row.text("state")), row.moment_or_none("ended_at")
    if state in UNFINISHED or ended_at is None:
        state = TurnState.STOPPED
        known = ("queued_at", "started_at", "interrupted_at", "asked_at")
        moments = [row.number_or_none(name) or 0 for name in known]
        ended_at = moment(max(*moments, session.number("last_activity_at")))
    is_elsewhere = row.number("address_key") != session.number("address_key")
    return PortableTurn(
        n=numbers[row.number("id")],
        state=state,
        place=address_record(row) if is_elsewhere else None,
        steers=numbers.get(row.number_or_none("steers") or 0),
        answered_by=numbers.get(row.number_or_none("answered_by") or 0),
        attempts=row.number("attempts"),
        queued_at=row.moment("queued_at"),
        started_at=row.moment_or_none("started_at"),
        interrupted_at=row.moment_or_none("interrupted_at"),
        ended_at=ended_at,
        first_seq=row.number_or_none("first_seq"),
        question=row.text_or_none("question"),
        asked_at=row.moment_or_none("asked_at"),
        answer=row.text_or_none("answer"),
        error=row.text_or_none("error"),
    )


def message_of(
    row: Row,
    revisions: Sequence[Row],
    numbers: Numbers,
    *,
    seq: int | None = None,
    as_of: int | None = None,
) -> PortableMessage:
    """Read a message as it is, or as it was at a revision of its session."""
    later = [each for each in revisions if as_of is not None and _revision(each) > as_of]
    kept = list(revisions[: len(revisions) - len(later)])
    shown = later[0] if later else row
    changed_at = row.moment_or_none("changed_at")
    if later:
        changed_at = kept[-1].moment("replaced_at") if kept else None
    return PortableMessage(
        seq=row.number_or_none("seq") or seq,
        turn=numbers.get(row.number_or_none("turn_id") or 0),
        role=Role(row.text("role")),
        sender=_sender_of(row),
        parts=unpack(shown.text("text"), shown.text_or_none("parts")),
        at=row.moment("at"),
        arrived_at=row.moment_or_none("arrived_at"),
        changed_at=changed_at,
        deleted_at=None if later else row.moment_or_none("deleted_at"),
        revisions=tuple(_revision_of(each) for each in kept),
    )


def _revision(row: Row) -> int:
    return row.number("session_revision")


def _revision_of(row: Row) -> PortableRevision:
    return PortableRevision(
        version=row.number("version"),
        parts=unpack(row.text("text"), row.text_or_none("parts")),
        replaced_at=row.moment("replaced_at"),
        at_revision=_revision(row),
    )


def usage_record(row: Row, numbers: Numbers) -> PortableUsage:
    """Read what one call spent."""
    return PortableUsage(
        turn=numbers.get(row.number_or_none("turn_id") or 0),
        sender=_sender_of(row),
        at=row.moment("at"),
        task=row.text("task"),
        provider=row.text("provider"),
        model=row.text("model"),
        input_tokens=row.number("input_tokens"),
        output_tokens=row.number("output_tokens"),
        cache_read_tokens=row.number("cache_read_tokens"),
        cache_write_tokens=row.number("cache_write_tokens"),
        reasoning_tokens=row.number("reasoning_tokens"),
        prompt_tokens=row.number("prompt_tokens"),
        cost=row.number_or_none("cost"),
        cost_status=CostStatus(row.text("cost_status")),
    )


def tools_of(text: str | None) -> tuple[str, ...] | None:
    """Read the list of tools that a session may use."""
    return None if text is None else tuple(str(name) for name in json.loads(text))
