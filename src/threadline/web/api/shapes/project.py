"""Projects, as answers show them and as requests change them."""

from pydantic import Field

from threadline.core.project import CountedProject, Project, ProjectColor, ProjectKind
from threadline.web.api.shapes.model import Answer, Moment, Wish

_NAME_MOST = 1000


class ProjectView(Answer):
    """Sessions of one profile that belong together."""

    key: int
    profile: str
    name: str
    color: ProjectColor
    kind: ProjectKind
    made_at: Moment

    @classmethod
    def from_project(cls, one: Project) -> "ProjectView":
        """Show a project."""
        return cls(
            key=one.key,
            profile=one.profile,
            name=one.name,
            color=one.color,
            kind=one.kind,
            made_at=one.made_at,
        )


class CountedProjectView(Answer):
    """A project, and how many sessions in it are not archived."""

    project: ProjectView
    sessions: int

    @classmethod
    def from_counted(cls, one: CountedProject) -> "CountedProjectView":
        """Show a project with its count."""
        return cls(project=ProjectView.from_project(one.project), sessions=one.sessions)


class NewProject(Wish):
    """A project to be made."""

    name: str = Field(min_length=1, max_length=_NAME_MOST, examples=["Garden"])
    color: ProjectColor = ProjectColor.BLUE
    profile: str | None = Field(default=None, max_length=100)


class ProjectChange(Wish):
    """What of a project shall be different."""

    name: str | None = Field(default=None, min_length=1, max_length=_NAME_MOST)
    color: ProjectColor | None = None
