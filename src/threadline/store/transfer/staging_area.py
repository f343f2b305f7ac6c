"""Staging area: an imported session is stored unseen, and published when it is complete."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from threadline.core.errors import Conflict, Invalid, NotFound
from threadline.core.event import EventKind
from threadline.core.export_format.file_records import PortableAddress, SenderReference
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
)
from threadline.core.message import BlobHash, Part, pack
from threadline.core.session import SessionId
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.session_writer import use_parts
from threadline.store.transcripts.notes import rename_quoted
from threadline.store.transcripts.segments import DEEPEST_BASE
from threadline.store.transfer.references import place_key, project_key

_SLICE = 100
_ABANDONED_AFTER = timedelta(days=1)

SenderKeys = Mapping[SenderReference, int]


class _Relative(Struct, frozen=True, kw_only=True):
    """What a session must know of the one before it, or of the one whose history it shares."""

    key: int
    root_key: int
    base_depth: int
    last_seq: int
    revision: int
    profile: str


def stage(tx: Transaction, staged_id: str, place: PortableAddress) -> int:
    """Begin to store a session under an id that no door takes; answer its key."""
    return expect(
        tx,
        "stage_session",
        int,
        id=staged_id,
        platform=place.platform,
        kind=place.kind,
        address_key=place_key(tx, place),
        now=stamp(tx.now),
    )


def find_staged(tx: Transaction, staged_id: str) -> int | None:
    """Find a session that is being stored."""
    return tx.one("read_session_key", int, id=staged_id)


def stage_turns(
    tx: Transaction, key: int, turns: Sequence[PortableTurn], place: PortableAddress
) -> list[int]:
    """Store a slice of turns; answer their ids."""
    ids = []
    home = place_key(tx, place)
    for turn in turns:
        id = expect(
            tx,
            "stage_turn",
            int,
            session_key=key,
            address_key=home if turn.place is None else place_key(tx, turn.place),
            state=turn.state,
            attempts=turn.attempts,
            queued_at=stamp(turn.queued_at),
            started_at=_stamp(turn.started_at),
            interrupted_at=_stamp(turn.interrupted_at),
            ended_at=stamp(turn.ended_at),
            first_seq=turn.first_seq,
            question=turn.question,
            asked_at=_stamp(turn.asked_at),
            answer=turn.answer,
            error=turn.error,
        )
        ids.append(id)
    return ids


def join_turns(
    tx: Transaction, joints: Sequence[tuple[int, int | None, int | None]], ids: Sequence[int]
) -> None:
    """Remember which turns steered and answered others, by their numbers."""
    for n, steers, answered_by in joints:
        tx.run(
            "join_turns",
            id=ids[n - 1],
            steers=None if steers is None else ids[steers - 1],
            answered_by=None if answered_by is None else ids[answered_by - 1],
        )


def stage_messages(
    tx: Transaction,
    key: int,
    messages: Sequence[PortableMessage],
    turn_ids: Sequence[int],
    senders: SenderKeys,
) -> None:
    """Store a slice of lines, what they said before, and which attachments they need."""
    for message in messages:
        text, parts = pack(message.parts)
        message_key = expect(
            tx,
            "stage_message",
            int,
            session_key=key,
            seq=message.seq,
            turn_id=None if message.turn is None else turn_ids[message.turn - 1],
            role=message.role,
            sender_key=None if message.sender is None else senders[message.sender],
            text=text,
            parts=parts,
            at=stamp(message.at),
            arrived_at=_stamp(message.arrived_at),
            changed_at=_stamp(message.changed_at),
            deleted_at=_stamp(message.deleted_at),
        )

        _use(tx, message.parts, message_key)
        for revision in message.revisions:
            text, parts = pack(revision.parts)
            tx.run(
                "add_revision",
                message_key=message_key,
                version=revision.version,
                text=text,
                parts=parts,
                now=stamp(revision.replaced_at),
                session_revision=revision.at_revision,
            )
            _use(tx, revision.parts, message_key)


def _use(tx: Transaction, parts: Sequence[Part], message_key: int) -> None:
    try:
        use_parts(tx, parts, message_key)
    except NotFound as error:
        raise Invalid("An attachment is not in the file", id=error.id) from error


def stage_usage(
    tx: Transaction,
    key: int,
    spent: Sequence[PortableUsage],
    turn_ids: Sequence[int],
    senders: SenderKeys,
) -> None:
    """Store a slice of what was spent."""
    names = ("task", "provider", "model", "cost", "cost_status", "prompt_tokens", "input_tokens")
    more = ("output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    for usage in spent:
        values: dict[str, SqlValue] = {name: getattr(usage, name) for name in (*names, *more)}
        tx.run(
            "stage_usage",
            session_key=key,
            turn_id=None if usage.turn is None else turn_ids[usage.turn - 1],
            sender_key=None if usage.sender is None else senders[usage.sender],
            at=stamp(usage.at),
            **values,
        )


def publish(
    tx: Transaction,
    key: int,
    session: PortableSession,
    *,
    id: SessionId,
    relatives: Mapping[SessionId, SessionId],
    senders: SenderKeys,
) -> None:
    """Let everybody see a session that is wholly stored, and tell the feed.

    `relatives` are the ids under which the sessions it refers to are in this store.
    """
    if tx.exists("read_session_key", id=id):
        raise Conflict("A session with this id came into being meanwhile", id=id)
    _require_new(tx, session)
    _store_lists(tx, key, session)
    if id != session.id or any(old != new for old, new in relatives.items()):
        rename_quoted(tx, key, {**relatives, session.id: id})
    tx.run(
        "publish_session",
        key=key,
        id=id,
        sender_key=None if session.owner is None else senders[session.owner],
        project_key=project_key(tx, session.profile, session.project),
        **_lineage(tx, session, relatives),
        **_columns(session),
    )
    _tell(tx, key, session)


def _require_new(tx: Transaction, session: PortableSession) -> None:
    if session.native_id is None:
        return
    known = tx.one(
        "find_native",
        SessionId,
        profile=session.profile,
        native_source=session.native_source,
        native_id=session.native_id,
    )
    if known is not None:
        raise Conflict(
            f"{session.native_source} {session.native_id} is already in the store", id=known
        )


def _lineage(
    tx: Transaction, session: PortableSession, relatives: Mapping[SessionId, SessionId]
) -> dict[str, SqlValue]:
    parent, base = session.parent, session.base
    above = None if parent is None else _relative(tx, relatives[parent], session)
    below = None if base is None else _relative(tx, relatives[base.session], session)
    if base is not None and below is not None:
        if base.seq > below.last_seq or base.revision > below.revision:
            raise Invalid("The session shares more history than its base has", id=session.id)
        if below.base_depth >= DEEPEST_BASE:
            raise Invalid("The session shares history over too many others", id=session.id)
    return {
        "parent_key": None if above is None else above.key,
        "root_key": None if above is None else above.root_key,
        "base_key": None if below is None else below.key,
        "base_seq": None if base is None else base.seq,
        "base_revision": None if base is None else base.revision,
        "base_depth": 0 if below is None else below.base_depth + 1,
    }


def _relative(tx: Transaction, id: SessionId, session: PortableSession) -> _Relative:
    relative = expect(tx, "find_relative", _Relative, id=id)
    if relative.profile != session.profile:
        raise Invalid("Sessions of two profiles have nothing in common", id=session.id)
    return relative


def _store_lists(tx: Transaction, key: int, session: PortableSession) -> None:
    keys = []
    for cut in session.cuts:
        cut_key = expect(
            tx,
            "stage_cut",
            int,
            session_key=key,
            from_seq=cut.from_seq,
            to_seq=cut.to_seq,
            kind=cut.kind,
            summary=cut.summary,
            user_messages=cut.user_messages,
            made_at=stamp(cut.made_at),
            lifted_at=_stamp(cut.lifted_at),
        )
        keys.append(cut_key)
    for cut_key, cut in zip(keys, session.cuts, strict=True):
        if cut.lifted_by is not None:
            tx.run("join_cuts", key=cut_key, lifted_by=keys[cut.lifted_by - 1])
    for mark in session.marks:
        tx.run(
            "stage_mark",
            session_key=key,
            reader=mark.reader,
            seq=mark.seq,
            marked_at=stamp(mark.at),
        )


def _columns(session: PortableSession) -> dict[str, SqlValue]:
    choice, worktree = session.choice, session.worktree
    same = (
        "profile", "cause", "origin", "native_source", "native_id", "end_reason", "notice", "title",
        "titled_by", "summary", "busy_mode", "personality", "workspace", "last_seq",
        "user_messages", "revision", "interruptions",
    )  # fmt: skip
    moments = (
        "opened_at", "last_activity_at", "ended_at", "suspended_at", "told_at", "pinned_at",
        "archived_at",
    )  # fmt: skip
    tools = session.tools
    return {
        **{name: getattr(session, name) for name in same},
        **{name: _stamp(getattr(session, name)) for name in moments},
        "model": None if choice is None else choice.model,
        "provider": None if choice is None else choice.provider,
        "base_url": None if choice is None else choice.base_url,
        "tools": None if tools is None else json.dumps(tools, ensure_ascii=False),
        "worktree_path": None if worktree is None else worktree.path,
        "worktree_branch": None if worktree is None else worktree.branch,
        "worktree_repository": None if worktree is None else worktree.repository,
        "worktree_at": None if worktree is None else stamp(worktree.at),
    }


def _tell(tx: Transaction, key: int, session: PortableSession) -> None:
    """Tell of the session with its last revisions: it keeps the number that its branches know."""
    facts: list[tuple[EventKind, int | None]] = [(EventKind.SESSION_OPENED, None)]
    if session.last_seq:
        facts.append((EventKind.MESSAGE_ADDED, session.last_seq))
    if session.ended_at is not None:
        facts.append((EventKind.SESSION_ENDED, None))
    elif session.suspended_at is not None:
        facts.append((EventKind.SESSION_SUSPENDED, None))
    told = facts[-session.revision :]
    for n, (kind, subject) in enumerate(told, start=session.revision - len(told) + 1):
        tx.run(
            "add_event", kind=kind, session_key=key, revision=n, subject=subject, at=stamp(tx.now)
        )


def drop_staged(tx: Transaction, key: int) -> bool:
    """Delete a slice of a session that will not be shown; False when nothing is left of it."""
    if not tx.exists("find_staged", key=key):
        return False  # It is gone, or was shown in the moment in which its import was cancelled.
    messages = tx.all("list_staged_messages", int, session_key=key, most=_SLICE)
    for message_key in messages:
        tx.run("drop_blob_uses", message_key=message_key)
        tx.run("drop_quotes", message_key=message_key)
        tx.run("drop_revisions", message_key=message_key)
        tx.run("drop_message", key=message_key)
    if messages:
        return True
    tx.run("drop_staged_usage", session_key=key)
    tx.run("part_staged_cuts", session_key=key)
    tx.run("drop_staged_cuts", session_key=key)
    tx.run("drop_marks", session_key=key)
    tx.run("drop_staged_turns", session_key=key)
    tx.run("drop_staged_session", key=key)
    return False


def drop_unused(tx: Transaction, blob: BlobHash, *, stored_at: datetime) -> None:
    """Delete an attachment that no line came to need, unless somebody stored it again since."""
    before = stamp(stored_at) + 1
    if tx.exists("drop_blob", hash=blob, before=before):
        tx.run("drop_blob_chunks", hash=blob)


def list_abandoned(tx: Transaction) -> list[int]:
    """List what imports that never came to their end have left behind."""
    return tx.all("list_staged", int, before=stamp(tx.now - _ABANDONED_AFTER), most=_SLICE)


def _stamp(at: datetime | None) -> int | None:
    return None if at is None else stamp(at)
