"""Completing: the ids and names that a shell offers while a command is being typed."""

from typing import TYPE_CHECKING

from threadline.cli.acting import in_store
from threadline.core.errors import ThreadlineError

if TYPE_CHECKING:
    from threadline.cli.opening import Opened

_OFFERED = 50


def complete_session(incomplete: str) -> list[tuple[str, str]]:
    """Offer the latest sessions whose id begins so, with their titles."""

    async def act(opened: "Opened") -> list[tuple[str, str]]:
        page = await opened.store.sessions(profile=opened.profile, most=_OFFERED)
        return [(row.session.id, row.session.title or "") for row in page.rows]

    try:
        found = in_store({}, act)
    except ThreadlineError:  # a shell has no place for a sentence
        return []
    return [(id, title) for id, title in found if id.startswith(incomplete)]


def complete_project(incomplete: str) -> list[str]:
    """Offer the projects whose name begins so."""

    async def act(opened: "Opened") -> list[str]:
        projects = await opened.store.projects(profile=opened.profile)
        return [one.project.name for one in projects]

    try:
        found = in_store({}, act)
    except ThreadlineError:
        return []
    return [name for name in found if name.lower().startswith(incomplete.lower())]
