"""Files: what stands around the sessions of an export."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from threadline.core.errors import Invalid
from threadline.core.person import Identity
from threadline.core.portable.words import Hash, ProjectName, Reference
from threadline.core.project import ProjectColor, ProjectKind
from threadline.core.shape import Id

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


class Extent(StrEnum):
    """How much of a store an export takes."""

    ALL = "all"
    PROFILE = "profile"
    PROJECT = "project"
    PERSON = "person"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What an export is to hold."""

    extent: Extent
    profile: Id | None = None
    project: str | None = None
    """Its name; the profile says whose."""
    person: Identity | None = None
    """Any id of this person."""
    session: Reference | None = None

    def __post_init__(self) -> None:
        """Refuse a selection that does not say which profile, project, person or session."""
        needed = {
            Extent.ALL: (),
            Extent.PROFILE: ("profile",),
            Extent.PROJECT: ("profile", "project"),
            Extent.PERSON: ("person",),
            Extent.SESSION: ("session",),
        }[self.extent]
        given = {n for n in ("profile", "project", "person", "session") if getattr(self, n)}
        if given != set(needed):
            wish = f"an export of {self.extent} names {' and '.join(needed) or 'nothing else'}"
            raise Invalid(f"This selects nothing that is clear: {wish}")


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
class Piece:
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
