"""A project: a name and a colour for sessions that belong together."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from threadline.core.errors import Invalid
from threadline.core.revision import revision_of
from threadline.core.session import ProjectKey
from threadline.core.validation import checked_text, clean_title

PROJECT_NAME_LIMIT = 60
"""Characters."""
PROJECTS_LIMIT = 200
SCHEDULED = "Scheduled"


class ProjectColor(StrEnum):
    """The colours that a project may have; screens know them in light and dark."""

    GRAY = "gray"
    RED = "red"
    ORANGE = "orange"
    YELLOW = "yellow"
    GREEN = "green"
    TEAL = "teal"
    BLUE = "blue"
    PURPLE = "purple"
    PINK = "pink"


class ProjectKind(StrEnum):
    """Who made a project."""

    OWN = "own"
    """A person."""
    SCHEDULED = "scheduled"
    """The first scheduled run of a profile; it can be neither renamed nor deleted."""


class Project(Struct, frozen=True, kw_only=True):
    """Sessions of one profile that belong together."""

    key: ProjectKey
    profile: str
    name: str
    color: ProjectColor
    kind: ProjectKind
    made_at: datetime

    @property
    def revision(self) -> str:
        """Name the state that it is in; every change of it changes that."""
        return revision_of(self.key, self.name, self.color.value)


def clean_project_name(name: str) -> str:
    """Make one short line of a name; there must be something to see in it."""
    cleaned = clean_title(checked_text(name, "name of the project"), PROJECT_NAME_LIMIT)
    if not cleaned:
        raise Invalid("A project needs a name with at least one visible character")
    return cleaned


class CountedProject(Struct, frozen=True, kw_only=True):
    """A project, and how many sessions in it are not archived."""

    project: Project
    sessions: int
