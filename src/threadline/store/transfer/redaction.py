"""Redaction: the records of an export without what nobody else shall read."""

from collections.abc import Sequence

from msgspec.structs import replace

from threadline.core.export_format.codec import Record
from threadline.core.export_format.file_records import (
    Header,
    PortableAddress,
    PortablePerson,
    PortableProject,
    PortableSender,
    Selection,
    SenderReference,
)
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
)
from threadline.core.message import (
    Attachment,
    Marker,
    Note,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.core.redaction import Redactor
from threadline.core.validation import clean_title


def redact(record: Record, redactor: Redactor) -> Record:
    """Redact a record; ids of sessions, times, models and numbers stay."""
    match record:
        case Header():
            return replace(record, selection=_selection(record.selection, redactor))
        case PortableProject():
            return replace(record, name=_project(record.name, redactor))
        case PortableSession():
            return _session(record, redactor)
        case PortableSender():
            return _sender(record, redactor)
        case PortableTurn():
            return _turn(record, redactor)
        case PortableMessage():
            return _message(record, redactor)
        case PortableUsage():
            return replace(record, sender=_reference(record.sender, redactor))
        case _:
            return record


def collect_names(senders: Sequence[PortableSender], redactor: Redactor) -> None:
    """Let a redactor look for the names and ids of everybody in a session."""
    redactor.learn(
        (
            redactor.stand_in("person", sender.platform, sender.id),
            [
                sender.id,
                sender.name or "",
                *(sender.name or "").split(),
                *(alias.id for alias in sender.aliases),
            ],
        )
        for sender in senders
    )


def redact_parts(parts: Sequence[Part], redactor: Redactor) -> tuple[Part, ...]:
    """Redact the parts of a message; attachments are left out, as nobody can look into them."""
    return tuple(_part(part, redactor) for part in parts)


def _part(part: Part, redactor: Redactor) -> Part:
    match part:
        case Attachment():
            return Text(text=f"[{part.kind} left out]")
        case ToolCall():
            return replace(part, arguments=redactor.text(part.arguments), raw=None)
        case Reasoning() | Text():
            return replace(part, text=redactor.text(part.text), raw=None)
        case ToolResult() | Marker() | Note():
            return replace(part, text=redactor.text(part.text))


def _words(text: str | None, redactor: Redactor) -> str | None:
    return None if text is None else redactor.text(text)


def _title(title: str, redactor: Redactor) -> str:
    return clean_title(redactor.text(title)) or "[title]"


def _project(name: str, redactor: Redactor) -> str:
    """Redact the name of a project, by which sessions find it: always in the same way."""
    return redactor.stand_in("project", name)


def _reference(who: SenderReference | None, redactor: Redactor) -> SenderReference | None:
    return None if who is None else _stand_in(who, redactor)


def _stand_in(who: SenderReference, redactor: Redactor) -> SenderReference:
    return replace(who, id=redactor.stand_in("person", who.platform, who.id))


def _selection(selection: Selection, redactor: Redactor) -> Selection:
    project = None if selection.project is None else _project(selection.project, redactor)
    who = selection.person
    if who is not None:
        who = replace(who, id=redactor.stand_in("person", who.platform, who.id))
    return replace(selection, person=who, project=project)


def redact_place(place: PortableAddress, redactor: Redactor) -> PortableAddress:
    """Leave of a place only what sort of place it is, and which one within this export."""
    return PortableAddress(
        platform=place.platform,
        kind=place.kind,
        chat=place.chat and redactor.stand_in("chat", place.platform, place.chat),
        account=place.account and redactor.stand_in("account", place.platform, place.account),
        thread=place.thread and redactor.stand_in("thread", place.platform, place.thread),
    )


def _session(session: PortableSession, redactor: Redactor) -> PortableSession:
    choice = session.choice
    return replace(
        session,
        place=redact_place(session.place, redactor),
        owner=_reference(session.owner, redactor),
        native_source=None,
        native_id=None,
        title=None if session.title is None else _title(session.title, redactor),
        summary=_words(session.summary, redactor),
        choice=None if choice is None else replace(choice, base_url=None),
        personality=_words(session.personality, redactor),
        workspace=None,
        worktree=None,
        project=None if session.project is None else _project(session.project, redactor),
        cuts=tuple(replace(cut, summary=_words(cut.summary, redactor)) for cut in session.cuts),
        marks=tuple(
            replace(mark, reader=redactor.stand_in("reader", mark.reader)) for mark in session.marks
        ),
    )


def _sender(sender: PortableSender, redactor: Redactor) -> PortableSender:
    placeholder = redactor.stand_in("person", sender.platform, sender.id)
    person = sender.person
    if person is not None:
        senders = tuple(_stand_in(each, redactor) for each in person.senders)
        person = PortablePerson(made_at=person.made_at, senders=senders)
    return replace(sender, id=placeholder, name=placeholder, aliases=(), person=person)


def _turn(turn: PortableTurn, redactor: Redactor) -> PortableTurn:
    return replace(
        turn,
        place=None if turn.place is None else redact_place(turn.place, redactor),
        question=_words(turn.question, redactor),
        answer=_words(turn.answer, redactor),
        error=_words(turn.error, redactor),
    )


def _message(message: PortableMessage, redactor: Redactor) -> PortableMessage:
    return replace(
        message,
        sender=_reference(message.sender, redactor),
        parts=redact_parts(message.parts, redactor),
        revisions=tuple(
            replace(revision, parts=redact_parts(revision.parts, redactor))
            for revision in message.revisions
        ),
    )
