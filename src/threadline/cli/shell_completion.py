"""Shell completion: the ids and names that a shell offers while a command is being typed."""

from typing import TYPE_CHECKING

from threadline.cli.store_context import in_store
from threadline.core.errors import ThreadlineError
from threadline.core.person import Viewer

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened

_OFFERED = 50


def complete_session(incomplete: str) -> list[tuple[str, str]]:
    """Offer the latest sessions whose id begins so, with their titles."""
    from threadline.core.session_list import SessionFilter
    from threadline.store.sessions.session_list import list_sessions

    async def act(opened: "Opened") -> list[tuple[str, str]]:
        page = await opened.database.read(
            list_sessions, SessionFilter(), profile=opened.profile, most=_OFFERED
        )
        return [(row.session.id, row.session.title or "") for row in page.rows]

    try:
        found = in_store({}, act)
    except ThreadlineError:  # a shell has no place for a sentence
        return []
    return [(id, title) for id, title in found if id.startswith(incomplete)]


def complete_project(incomplete: str) -> list[str]:
    """Offer the projects whose name begins so."""
    from threadline.store.projects import list_projects

    async def act(opened: "Opened") -> list[str]:
        projects = await opened.database.read(list_projects, profile=opened.profile)
        return [one.project.name for one in projects]

    try:
        found = in_store({}, act)
    except ThreadlineError:
        return []
    return [name for name in found if name.lower().startswith(incomplete.lower())]


def complete_job(incomplete: str) -> list[tuple[str, str]]:
    """Offer the jobs whose number begins so, with their names."""
    from threadline.store.jobs.jobs import list_jobs

    async def act(opened: "Opened") -> list[tuple[str, str]]:
        found = await opened.database.read(list_jobs, Viewer.owner(opened.profile))
        return [(str(job.id), job.name) for job in found]

    try:
        found = in_store({}, act)
    except ThreadlineError:
        return []
    return [(number, name) for number, name in found if number.startswith(incomplete)]


def complete_target(incomplete: str) -> list[str]:
    """Offer the words and platforms that the last target of a list may begin with."""
    from threadline.store.deliveries.targets import known_platforms

    before, comma, last = incomplete.rpartition(",")

    async def act(opened: "Opened") -> frozenset[str]:
        return await opened.database.read(known_platforms)

    try:
        known = in_store({}, act)
    except ThreadlineError:
        known = frozenset()
    offered = sorted({*known, "all", "local", "origin"})
    return [f"{before}{comma}{name}" for name in offered if name.startswith(last.lower())]
