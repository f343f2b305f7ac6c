"""`threadline sessions list` and `stats`: what conversations there are."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database, Limit, OfProject, Profile
from threadline.cli.output import as_plain, show_table, show_text, write_json
from threadline.cli.sessions import session_as_dict
from threadline.cli.store_context import in_store
from threadline.core.session import Cause
from threadline.core.session_list import ListSection, SessionCounts, SessionFilter, SessionRow
from threadline.store.formatting import brief, count
from threadline.store.projects import list_projects
from threadline.store.queries import LARGEST_PAGE
from threadline.store.sessions.session_list import count_sessions

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened


def list_sessions(
    *,
    source: Annotated[str | None, typer.Option(metavar="PLATFORM")] = None,
    project: OfProject = None,
    title: Annotated[str | None, typer.Option(help="Words of the title.")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="The archive.")] = False,
    scheduled: Annotated[bool, typer.Option("--scheduled", help="Runs of jobs.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Whatever there is.")] = False,
    unread: Annotated[bool, typer.Option("--unread", help="Only those with news.")] = False,
    database: Database = None,
    profile: Profile = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List the sessions of a profile: pinned, then latest first."""

    async def act(opened: "Opened") -> tuple[list[SessionRow], bool, datetime, str]:
        from threadline.cli.projects import find_project

        only = SessionFilter(
            shelf=_shelf(archived=archived, scheduled=scheduled, everything=everything),
            platform=source,
            project=None if project is None else (await find_project(opened, project)).key,
            title=title,
            is_unread=True if unread else None,
            with_empty=everything,
        )
        rows, has_more = await _rows(opened, only, limit)
        return rows, has_more, opened.store.now(), opened.profile

    rows, has_more, now, asked = in_store({"database": database, "profile": profile}, act)
    if as_json:
        write_json([_row_as_dict(row) for row in rows])
    elif rows:
        _show(rows, now)
        if has_more:
            show_text("… and more; --limit shows them")
    elif any((source, project, title, archived, scheduled, unread)):
        show_text("There are no such sessions.")
    else:
        show_text(f"Profile {asked} has no sessions yet.")


def stats(database: Database = None, profile: Profile = None, as_json: AsJson = False) -> None:
    """Count the sessions of a profile."""

    async def act(opened: "Opened") -> tuple[SessionCounts, dict[int, str]]:
        projects = await opened.database.read(list_projects, profile=opened.profile)
        names = {int(one.project.key): one.project.name for one in projects}
        return await opened.database.read(count_sessions, profile=opened.profile), names

    counts, names = in_store({"database": database, "profile": profile}, act)
    if as_json:
        write_json(as_plain(counts))
        return
    show_text(
        f"{count(counts.total, 'session')}, {counts.unread:,} unread, {counts.pinned:,} pinned;"
        f" {counts.archived:,} archived, {counts.scheduled:,} scheduled."
    )
    platforms = [(f"{number:,}", "source", name) for name, number in counts.by_platform.items()]
    grouped = [
        (f"{number:,}", "project", names.get(int(key), str(key)))
        for key, number in counts.by_project.items()
    ]
    if platforms or grouped:
        show_table(("SESSIONS", "OF", "NAME"), [*platforms, *grouped])


def _shelf(*, archived: bool, scheduled: bool, everything: bool) -> ListSection:
    if everything:
        return ListSection.ALL
    if archived:
        return ListSection.ARCHIVED
    return ListSection.SCHEDULED if scheduled else ListSection.SIDEBAR


async def _rows(opened: "Opened", only: SessionFilter, limit: int) -> tuple[list[SessionRow], bool]:
    """Read so many rows; answer also whether there are more."""
    from threadline.store.sessions import session_list

    rows: list[SessionRow] = []
    after = None
    while len(rows) < limit:
        most = min(limit - len(rows), LARGEST_PAGE)
        page = await opened.database.read(
            session_list.list_sessions, only, profile=opened.profile, after=after, most=most
        )
        rows += page.rows
        after = page.next
        if after is None:
            break
    return rows, after is not None


def _show(rows: list[SessionRow], now: datetime) -> None:
    lines = [
        (
            row.session.id,
            row.session.platform,
            _state(row),
            str(row.session.last_seq),
            brief(row.session.last_activity_at, now),
            _title(row),
        )
        for row in rows
    ]
    show_table(("ID", "PLATFORM", "STATE", "LINES", "ACTIVE", "TITLE"), lines)


def _title(row: SessionRow) -> str:
    title, session = row.session.title or "", row.session
    return f"{title} (branch of {session.parent_id})" if session.cause is Cause.BRANCH else title


def _state(row: SessionRow) -> str:
    session = row.session
    if row.held is not None:
        return row.held.value
    if row.has_failed_delivery:
        return "undelivered"
    if session.ended_at is not None:
        return "ended"
    return "suspended" if session.suspended_at is not None else "open"


def _row_as_dict(row: SessionRow) -> dict[str, object]:
    more = {
        name: as_plain(getattr(row, name)) for name in row.__struct_fields__ if name != "session"
    }
    return {**session_as_dict(row.session), **more, "state": _state(row)}
