"""Projects: made, renamed, coloured and deleted. They belong to a profile, and to no session."""

from collections.abc import Sequence

from threadline.core.errors import Conflict, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.project import (
    PROJECTS_LIMIT,
    SCHEDULED,
    CountedProject,
    Project,
    ProjectColor,
    ProjectKind,
    clean_project_name,
)
from threadline.core.revision import Seen, require_seen
from threadline.core.session import ProjectKey
from threadline.database.port import Database, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.session_writer import add_global_event, write_session_by_key

_SLICE = 20


def make_project(tx: Transaction, name: str, *, color: ProjectColor, profile: str) -> Project:
    """Make a project; its name is the only one of its sort in the profile."""
    cleaned = clean_project_name(name)
    _refuse_taken(tx, profile, cleaned)
    if len(list_projects(tx, profile=profile)) >= PROJECTS_LIMIT:
        raise Refused(f"A profile can have at most {PROJECTS_LIMIT} projects", hint="Delete one")
    return _make(tx, profile, cleaned, color=color, kind=ProjectKind.OWN)


def scheduled_project(tx: Transaction, *, profile: str) -> Project:
    """Answer the project of a profile's scheduled runs; the first who asks makes it."""
    found = tx.one("find_project_of_runs", Project, profile=profile)
    if found is not None:
        return found
    kind = ProjectKind.SCHEDULED
    return _make(tx, profile, SCHEDULED, color=ProjectColor.GRAY, kind=kind)


def change_project(
    tx: Transaction,
    key: ProjectKey,
    *,
    name: str | None = None,
    color: ProjectColor | None = None,
    seen: Seen | None = None,
) -> Project:
    """Give a project another name, another colour, or both."""
    cleaned = None if name is None else clean_project_name(name)
    before = _lock(tx, key, seen)
    if cleaned is not None and cleaned != before.name:
        _refuse_scheduled(before, "renamed")
        _refuse_taken(tx, before.profile, cleaned)
    tx.run("change_project", key=key, name=cleaned or before.name, color=color or before.color)
    _tell(tx, key)
    return read_project(tx, key)


def empty_project(tx: Transaction, key: ProjectKey) -> bool:
    """Take a slice of the sessions out of a project; False: there was none left in it."""
    _refuse_scheduled(read_project(tx, key), "deleted")
    keys = tx.all("list_keys_of_project", int, project_key=key, most=_SLICE)
    for session_key in keys:
        with write_session_by_key(tx, session_key) as writer:
            tx.run("move_session", key=writer.key, project_key=None)
            writer.tell(EventKind.SESSION_CHANGED)
    return bool(keys)


def delete_project(tx: Transaction, key: ProjectKey, *, seen: Seen | None = None) -> bool:
    """Delete a project; False: a session is in it, and has to be taken out first."""
    _refuse_scheduled(_lock(tx, key, seen), "deleted")
    if tx.exists("list_keys_of_project", project_key=key, most=1):
        return False
    tx.run("drop_project", key=key)
    _tell(tx, key)
    return True


def read_project(tx: Transaction, key: ProjectKey) -> Project:
    """Read a project."""
    return _required(tx.one("read_project", Project, key=key), key)


def list_projects(tx: Transaction, *, profile: str) -> Sequence[CountedProject]:
    """List the projects of a profile by name, and how many sessions each has."""
    return tx.all("list_projects", CountedProject, profile=profile)


def _make(
    tx: Transaction, profile: str, name: str, *, color: ProjectColor, kind: ProjectKind
) -> Project:
    made = tx.one(
        "add_project",
        ProjectKey,
        profile=profile,
        name=name,
        color=color,
        kind=kind,
        now=stamp(tx.now),
    )
    if made is not None:
        _tell(tx, made)
    elif kind is ProjectKind.OWN:
        raise _taken(name)
    # Somebody else may just have been quicker to make that of the runs, which then is the one.
    return expect(tx, "find_project", Project, profile=profile, name=name)


def _tell(tx: Transaction, key: int) -> None:
    """Add to the feed that a project was made, changed or deleted."""
    add_global_event(tx, EventKind.PROJECT_CHANGED, key)


def _lock(tx: Transaction, key: ProjectKey, seen: Seen | None) -> Project:
    project = _required(tx.one("lock_project", Project, key=key), key)
    require_seen(project.revision, seen, str(key))
    return project


def _required(project: Project | None, key: ProjectKey) -> Project:
    if project is None:
        raise NotFound("There is no such project", id=str(key))
    return project


def _refuse_taken(tx: Transaction, profile: str, name: str) -> None:
    if name.casefold() == SCHEDULED.casefold():
        raise Conflict("This name is reserved for the runs of jobs", hint="Choose another name")
    if tx.exists("find_project", profile=profile, name=name):
        raise _taken(name)


def _taken(name: str) -> Conflict:
    return Conflict(f"There is already a project {name!r}", hint="Choose another name")


def _refuse_scheduled(project: Project, what: str) -> None:
    if project.kind is ProjectKind.SCHEDULED:
        raise Refused(f"The project of scheduled runs cannot be {what}", id=str(project.key))


async def delete_whole_project(db: Database, key: ProjectKey, *, seen: Seen | None = None) -> None:
    """Delete a project; its sessions stay, and belong to none."""
    while not await db.write(delete_project, key, seen=seen):
        await db.write(empty_project, key)
