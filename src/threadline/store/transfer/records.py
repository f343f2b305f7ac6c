"""Records: how rows of the store become the records of an export."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from threadline.core.export_format.file_records import (
    PortableAddress,
    PortableAlias,
    PortablePerson,
    PortableProject,
    PortableSender,
    SenderReference,
)
from threadline.core.export_format.session_records import (
    PortableCut,
    PortableMessage,
    PortableRevision,
    PortableSession,
    PortableTurn,
    PortableUsage,
    ReadMark,
)
from threadline.core.hidden_range import HiddenRangeKind
from threadline.core.message import Part, Role
from threadline.core.turn import UNFINISHED, TurnState
from threadline.core.usage import CostStatus
from threadline.database.port import Transaction

Numbers = Mapping[int, int]
"""The ids of turns, and their numbers within the session."""


class ExportedProject(Struct, frozen=True, kw_only=True):
    """A project, and its key."""

    key: int
    project: PortableProject


class ExportedSender(Struct, frozen=True, kw_only=True):
    """A sender, and the person they are."""

    key: int
    platform: str
    id: str
    name: str | None
    first_seen_at: datetime
    person_key: int | None
    person_name: str | None
    person_made_at: datetime | None


class ExportedSession(Struct, frozen=True, kw_only=True):
    """A session, and what leads from it to other rows."""

    key: int
    parent_key: int | None
    project_key: int | None
    address_key: int
    last_turn_id: int | None
    record: PortableSession
    """Without its cuts and marks."""


class ExportedCut(Struct, frozen=True, kw_only=True):
    """A cut of a session."""

    key: int
    from_seq: int
    to_seq: int
    kind: HiddenRangeKind
    summary: str | None
    user_messages: int
    made_at: datetime
    lifted_at: datetime | None
    lifted_by: int | None


class ExportedTurn(Struct, frozen=True, kw_only=True):
    """A turn of a session."""

    id: int
    state: TurnState
    steers: int | None
    answered_by: int | None
    attempts: int
    queued_at: datetime
    started_at: datetime | None
    interrupted_at: datetime | None
    ended_at: datetime | None
    first_seq: int | None
    question: str | None
    asked_at: datetime | None
    answer: str | None
    error: str | None
    address_key: int
    place: PortableAddress


class ExportedMessage(Struct, frozen=True, kw_only=True):
    """A message as it reads now."""

    key: int
    seq: int | None
    turn_id: int | None
    role: Role
    parts: tuple[Part, ...]
    at: datetime
    arrived_at: datetime | None
    changed_at: datetime | None
    deleted_at: datetime | None
    sender: SenderReference | None


class ExportedRevision(Struct, frozen=True, kw_only=True):
    """What a message said before it was changed."""

    message_key: int
    version: int
    parts: tuple[Part, ...]
    replaced_at: datetime
    at_revision: int


class ExportedUsage(Struct, frozen=True, kw_only=True):
    """What one call spent."""

    key: int
    turn_id: int | None
    sender: SenderReference | None
    at: datetime
    task: str
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    prompt_tokens: int
    cost: int | None
    cost_status: CostStatus


def list_senders(tx: Transaction, session_key: int) -> list[PortableSender]:
    """List everybody who owns a session, speaks in it, or asked for what it spent."""
    found = tx.all("list_exported_senders", ExportedSender, session_key=session_key)
    return [_sender_of(tx, sender) for sender in found]


def _sender_of(tx: Transaction, sender: ExportedSender) -> PortableSender:
    """Return a sender with the other ids they have, and the person they are."""
    aliases = tx.all("list_exported_aliases", PortableAlias, sender_key=sender.key)
    return PortableSender(
        platform=sender.platform,
        id=sender.id,
        name=sender.name,
        first_seen_at=sender.first_seen_at,
        aliases=tuple(sorted(aliases, key=lambda alias: alias.id)),
        person=_person_of(tx, sender),
    )


def _person_of(tx: Transaction, sender: ExportedSender) -> PortablePerson | None:
    if sender.person_key is None or sender.person_made_at is None:
        return None
    senders = tx.all("list_exported_person", SenderReference, person_key=sender.person_key)
    return PortablePerson(
        name=sender.person_name,
        made_at=sender.person_made_at,
        senders=tuple(sorted(senders, key=lambda each: (each.platform, each.id))),
    )


def list_cuts(tx: Transaction, session_key: int, until: int | None) -> tuple[PortableCut, ...]:
    """List the cuts of a session, or those that lie wholly in an excerpt of it."""
    cuts = tx.all("list_exported_cuts", ExportedCut, session_key=session_key)
    kept = [cut for cut in cuts if until is None or cut.to_seq <= until]
    numbers = {cut.key: n for n, cut in enumerate(kept, start=1)}
    return tuple(
        PortableCut(
            from_seq=cut.from_seq,
            to_seq=cut.to_seq,
            kind=cut.kind,
            summary=cut.summary,
            user_messages=cut.user_messages,
            made_at=cut.made_at,
            lifted_at=cut.lifted_at,
            lifted_by=numbers.get(cut.lifted_by or 0),
        )
        for cut in kept
    )


def list_marks(tx: Transaction, session_key: int) -> tuple[ReadMark, ...]:
    """List how far a session was read."""
    marks = tx.all("list_exported_marks", ReadMark, session_key=session_key)
    return tuple(sorted(marks, key=lambda mark: mark.reader))


def turn_of(turn: ExportedTurn, numbers: Numbers, session: ExportedSession) -> PortableTurn:
    """Return a turn; an unfinished one is stopped, as no process would go on with it."""
    state, ended_at = turn.state, turn.ended_at
    if state in UNFINISHED or ended_at is None:
        state = TurnState.STOPPED
        known = (turn.queued_at, turn.started_at, turn.interrupted_at, turn.asked_at)
        times = [at for at in known if at is not None]
        ended_at = max(*times, session.record.last_activity_at)
    return PortableTurn(
        n=numbers[turn.id],
        state=state,
        place=None if turn.address_key == session.address_key else turn.place,
        steers=numbers.get(turn.steers or 0),
        answered_by=numbers.get(turn.answered_by or 0),
        attempts=turn.attempts,
        queued_at=turn.queued_at,
        started_at=turn.started_at,
        interrupted_at=turn.interrupted_at,
        ended_at=ended_at,
        first_seq=turn.first_seq,
        question=turn.question,
        asked_at=turn.asked_at,
        answer=turn.answer,
        error=turn.error,
    )


def message_of(
    message: ExportedMessage,
    revisions: Sequence[ExportedRevision],
    numbers: Numbers,
    *,
    seq: int | None = None,
    as_of: int | None = None,
) -> PortableMessage:
    """Return a message as it is, or as it was at a revision of its session."""
    later = [each for each in revisions if as_of is not None and each.at_revision > as_of]
    kept = list(revisions[: len(revisions) - len(later)])
    changed_at = message.changed_at
    if later:
        changed_at = kept[-1].replaced_at if kept else None
    return PortableMessage(
        seq=message.seq or seq,
        turn=numbers.get(message.turn_id or 0),
        role=message.role,
        sender=message.sender,
        parts=later[0].parts if later else message.parts,
        at=message.at,
        arrived_at=message.arrived_at,
        changed_at=changed_at,
        deleted_at=None if later else message.deleted_at,
        revisions=tuple(_revision_of(each) for each in kept),
    )


def _revision_of(revision: ExportedRevision) -> PortableRevision:
    return PortableRevision(
        version=revision.version,
        parts=revision.parts,
        replaced_at=revision.replaced_at,
        at_revision=revision.at_revision,
    )


def usage_of(spent: ExportedUsage, numbers: Numbers) -> PortableUsage:
    """Return what one call spent."""
    return PortableUsage(
        turn=numbers.get(spent.turn_id or 0),
        sender=spent.sender,
        at=spent.at,
        task=spent.task,
        provider=spent.provider,
        model=spent.model,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cache_read_tokens=spent.cache_read_tokens,
        cache_write_tokens=spent.cache_write_tokens,
        reasoning_tokens=spent.reasoning_tokens,
        prompt_tokens=spent.prompt_tokens,
        cost=spent.cost,
        cost_status=spent.cost_status,
    )
