"""`threadline search`: everything that was ever said."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database, OfProject, Profile
from threadline.cli.output import as_plain, highlight, local, show_text, write_json
from threadline.cli.store_context import find_session, in_store
from threadline.core.message import Role
from threadline.core.person import Viewer
from threadline.core.search import Found, Hit, SearchFilter

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened


def search(
    words: Annotated[
        list[str],
        typer.Argument(metavar="WORDS…", help='Words, "a phrase", -without, begin*, *part*.'),
    ],
    *,
    role: Annotated[list[Role] | None, typer.Option(help="Who said it.")] = None,
    source: Annotated[str | None, typer.Option(metavar="PLATFORM")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID")] = None,
    project: OfProject = None,
    since: Annotated[datetime | None, typer.Option(help="From this moment on.")] = None,
    until: Annotated[datetime | None, typer.Option(help="Before this moment.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 20,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Find what was said, in every conversation of a profile."""
    from threadline.store.search import search as store_search

    async def act(opened: "Opened") -> Found:
        from threadline.cli.projects import find_project

        where = SearchFilter(
            roles=tuple(role) if role else None,
            platform=source,
            session=None if session is None else await find_session(opened, session),
            project=None if project is None else (await find_project(opened, project)).key,
            since=_moment(since),
            until=_moment(until),
        )
        return await store_search.search(
            opened.database,
            " ".join(words),
            asker=Viewer.owner(opened.profile),
            where=where,
            most=limit,
        )

    found = in_store({"database": database, "profile": profile}, act)
    if as_json:
        write_json(as_plain(found))
    else:
        show_text(_page(found))


def _moment(given: datetime | None) -> datetime | None:
    """Take a moment as this machine's clock shows it."""
    return None if given is None else given.astimezone(UTC)


def _page(found: Found) -> str:
    titles = [
        f"{one.session_id}  {highlight(one.title.text, one.title.ranges)}" for one in found.sessions
    ]
    hits = [_hit(hit) for hit in found.hits]
    if not titles and not hits:
        return "Nothing was found."
    more = ["… and more; --limit shows them"] if found.next is not None else []
    return "\n".join([*titles, *hits, *more])


def _hit(hit: Hit) -> str:
    head = f"{hit.session_id} line {hit.seq}  {local(hit.at)}  {hit.title or 'untitled'}"
    words = highlight(hit.snippet.text.replace("\n", " "), hit.snippet.ranges)
    return f"{head}\n    {hit.role}: {words}"
