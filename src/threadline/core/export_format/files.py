"""Files: what stands around the sessions of an export."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.export_format.fields import Hash, ProjectName, Reference, Word
from threadline.core.json_codec import Id
from threadline.core.person import Identity
from threadline.core.project import ProjectColor, ProjectKind

FORMAT = "threadline"
FORMAT_VERSION = 1
PIECE_BYTES = 128 * 1024
"""Of an attachment, in one line: in base64 they are less than 256 kB."""


class ExportFormat(StrEnum):
    """What a session can be written in."""

    MARKDOWN = "md"
    HTML = "html"
    JSONL = "jsonl"
    """Portable lines, to be imported; the others are pages for people."""


class ExportScope(StrEnum):
    """How much of a store an export takes."""

    ALL = "all"
    PROFILE = "profile"
    PROJECT = "project"
    PERSON = "person"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What an export is to hold."""

    extent: ExportScope
    profile: Id | None = None
    project: str | None = None
    """Its name; the profile says whose."""
    person: Identity | None = None
    """Any id of this person."""
    session: Reference | None = None

    def __post_init__(self) -> None:
        """Refuse a selection that does not say which profile, project, person or session."""
        needed = {
            ExportScope.ALL: (),
            ExportScope.PROFILE: ("profile",),
            ExportScope.PROJECT: ("profile", "project"),
            ExportScope.PERSON: ("person",),
            ExportScope.SESSION: ("session",),
        }[self.extent]
        given = {n for n in ("profile", "project", "person", "session") if getattr(self, n)}
        if given != set(needed):
            wish = f"an export of {self.extent} names {' and '.join(needed) or 'nothing else'}"
            raise Invalid(f"This selects nothing that is clear: {wish}")

    @property
    def subject(self) -> str:
        """Whose sessions they are, for the audit log: a person's id, a session or a profile."""
        return str(self.person or self.session or self.profile or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: what this file is."""

    format: str
    version: int
    selection: Selection
    as_of: datetime | None = None
    """The latest activity in it. Not when it was written: the same history is the same file."""
    redacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableProject:
    """A group of sessions."""

    profile: Id
    name: ProjectName
    color: ProjectColor
    kind: ProjectKind
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentChunk:
    """A piece of an attachment; all of them stand together, in order."""

    hash: Hash
    size: int
    """Of the whole attachment, in bytes."""
    n: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """The last line: how much there was, and a hash of all the bytes before it."""

    lines: int
    sessions: int
    messages: int
    attachments: int
    sha256: Hash


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderReference:
    """Which sender: one platform knows them by one id."""

    platform: Word
    id: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableAddress:
    """Where something was said, with the names it had."""

    platform: Word
    kind: Kind
    chat: Id = ""
    account: Id = ""
    thread: Id | None = None
    alt_chat: Id | None = None
    parent: Id | None = None
    scope: Id | None = None
    chat_name: str | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableAlias:
    """Another id under which the platform knows a sender."""

    id: Word
    learned_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PortablePerson:
    """The person behind a sender, by all their senders."""

    name: str | None = None
    made_at: datetime
    senders: tuple[SenderReference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableSender:
    """Somebody who owns the session, speaks in it, or asked for what it spent."""

    platform: Word
    id: Word
    name: str | None = None
    first_seen_at: datetime
    aliases: tuple[PortableAlias, ...] = ()
    person: PortablePerson | None = None

    def __post_init__(self) -> None:
        """Refuse a person that this sender does not belong to."""
        me = SenderReference(platform=self.platform, id=self.id)
        if self.person is not None and me not in self.person.senders:
            raise Invalid("A sender is one of the senders of its person")
