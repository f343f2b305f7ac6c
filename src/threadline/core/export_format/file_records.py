"""Files: what stands around the sessions of an export."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.export_format.field_types import ProjectName, checked_line
from threadline.core.json_codec import Count, Id, Key, Word
from threadline.core.message import BlobReference
from threadline.core.person import Identity
from threadline.core.project import PROJECT_NAME_LIMIT, ProjectColor, ProjectKind
from threadline.core.session import SessionReference

FORMAT = "threadline"
FORMAT_VERSION = 1
PIECE_BYTES = 128 * 1024
"""Of an attachment, in one line: in base64 they are less than 256 kB."""


class ExportFormat(StrEnum):
    """What a session can be written in."""

    MARKDOWN = "md"
    HTML = "html"
    JSONL = "jsonl"
    """ExportedLine lines, to be imported; the others are pages for people."""


class ExportScope(StrEnum):
    """How much of a store an export takes."""

    ALL = "all"
    PROFILE = "profile"
    PROJECT = "project"
    PERSON = "person"
    SESSION = "session"


class ExportedLine(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """A line of an export; its `type` says which."""


class Selection(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an export is to hold."""

    extent: ExportScope
    profile: Id | None = None
    project: str | None = None
    """Its name; the profile says whose."""
    person: Identity | None = None
    """Any id of this person."""
    session: SessionReference | None = None

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


class Header(ExportedLine, frozen=True, kw_only=True, tag="header"):
    """The first line: what this file is."""

    format: str
    version: Key
    selection: Selection
    as_of: datetime | None = None
    """The latest activity in it. Not when it was written: the same history is the same file."""
    redacted: bool = False


class PortableProject(ExportedLine, frozen=True, kw_only=True, tag="project"):
    """A group of sessions."""

    profile: Id
    name: ProjectName
    color: ProjectColor
    kind: ProjectKind
    made_at: datetime

    def __post_init__(self) -> None:
        """Refuse a name with something in it that cannot be seen."""
        checked_line(self.name, "name of a project", PROJECT_NAME_LIMIT)


class AttachmentChunk(ExportedLine, frozen=True, kw_only=True, tag="attachment"):
    """A piece of an attachment; all of them stand together, in order."""

    hash: BlobReference
    size: Count
    """Of the whole attachment, in bytes."""
    n: Count
    data: bytes


class Footer(ExportedLine, frozen=True, kw_only=True, tag="footer"):
    """The last line: how much there was, and a hash of all the bytes before it."""

    lines: Count
    sessions: Count
    messages: Count
    attachments: Count
    sha256: BlobReference


class SenderReference(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Which sender: one platform knows them by one id."""

    platform: Word
    id: Word


class PortableAddress(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
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


class PortableAlias(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Another id under which the platform knows a sender."""

    id: Word
    learned_at: datetime


class PortablePerson(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The person behind a sender, by all their senders."""

    name: str | None = None
    made_at: datetime
    senders: tuple[SenderReference, ...]


class PortableSender(ExportedLine, frozen=True, kw_only=True, tag="sender"):
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
