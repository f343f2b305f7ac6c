"""`threadline sessions …`: name, pin, archive, move, branch and undo sessions."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from threadline.cli.identity_argument import AsJson, Database, Profile, SessionArg, SessionArgs
from threadline.cli.output import as_plain, complain, show_result, show_text, write_json
from threadline.cli.store_context import at_session, find_session, in_store
from threadline.core.errors import Conflict, Invalid
from threadline.core.hidden_range import Redone, Undone
from threadline.core.session import SessionId, TitleSource
from threadline.core.session_list import BatchOutcome
from threadline.store.branches import branch as store_branch
from threadline.store.formatting import count, name
from threadline.store.sessions import pins
from threadline.store.sessions.batch import change_sessions
from threadline.store.sessions.pins import Step
from threadline.store.sessions.session_settings import set_title
from threadline.store.transcripts import undo as store_undo

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened

Arrange: TypeAlias = Callable[["Opened", Sequence[SessionId]], Awaitable[list[BatchOutcome]]]


def title(
    id: SessionArg,
    title: Annotated[str, typer.Argument(metavar="TITLE")],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Give a session a title, which no other one replaces."""

    async def act(opened: "Opened", id: SessionId) -> str:
        return await opened.database.write(set_title, id, title, source=TitleSource.PERSON)

    given = at_session({"database": database}, id, act)
    show_result({"title": given}, f"It is called “{given}” now.", as_json=as_json)


def pin(
    ids: SessionArgs,
    undo: Annotated[bool, typer.Option("--undo", help="Let them go again.")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Let sessions stand before the others."""
    _arrange(
        database,
        ids,
        _changing(pins.unpin if undo else pins.pin),
        "unpinned" if undo else "pinned",
        as_json=as_json,
    )


def archive(
    ids: SessionArgs,
    undo: Annotated[bool, typer.Option("--undo", help="Take them out again.")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Put sessions out of sight; nothing is deleted."""
    _arrange(
        database,
        ids,
        _changing(pins.unarchive if undo else pins.archive),
        "taken out of the archive" if undo else "archived",
        as_json=as_json,
    )


def move(
    ids: SessionArgs,
    project: Annotated[
        str, typer.Option("--project", metavar="NAME", help='Which one; "" takes them out.')
    ],
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Put sessions into a project."""

    async def act(opened: "Opened", found: Sequence[SessionId]) -> list[BatchOutcome]:
        from threadline.cli.projects import find_project

        wanted = await find_project(opened, project) if project else None
        step = pins.move_to_project(None if wanted is None else wanted.key)
        return await change_sessions(opened.database, found, step)

    where = f"moved into {project}" if project else "in no project now"
    _arrange(database, ids, act, where, as_json=as_json, profile=profile)


def branch(
    id: SessionArg,
    at: Annotated[
        int | None, typer.Option("--at", metavar="LINE", help="Up to which line; else all.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title")] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Begin another session that shares history up to a line."""

    async def act(opened: "Opened", id: SessionId) -> tuple[str, str]:
        session = await opened.database.write(store_branch.branch, id, at=at, title=title)
        return session.id, name(session)

    new, called = at_session({"database": database}, id, act)
    show_result({"id": new}, f"{new} is a branch: {called}.", as_json=as_json)


def undo(
    id: SessionArg,
    turns: Annotated[
        int | None, typer.Argument(metavar="[N]", help="How many turns; else one.")
    ] = None,
    redo: Annotated[bool, typer.Option("--redo", help="Bring back what was undone.")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Take back the last turns of a session, or bring them back."""
    from threadline.store.commands.transcript import tell_redone, tell_undone

    if redo and turns is not None:
        raise Invalid("--redo takes no number", hint="It brings back what was undone last")
    wanted = 1 if turns is None else turns
    if wanted < 1:
        raise Invalid(f"{wanted} is not a number of turns", hint="2 takes back two")

    async def act(opened: "Opened", id: SessionId) -> Undone | Redone:
        return await (
            opened.database.write(store_undo.redo, id)
            if redo
            else opened.database.write(store_undo.undo, id, wanted)
        )

    done = at_session({"database": database}, id, act)
    if isinstance(done, Redone):
        sentence = tell_redone(done)
    else:
        sentence = f"{tell_undone(done, wanted)} --redo brings them back."
    show_result(as_plain(done), sentence, as_json=as_json)


def _changing(step: Step) -> Arrange:
    async def act(opened: "Opened", found: Sequence[SessionId]) -> list[BatchOutcome]:
        return await change_sessions(opened.database, found, step)

    return act


def _arrange(
    database: str | None,
    prefixes: Sequence[str],
    act: Arrange,
    done: str,
    *,
    as_json: bool,
    profile: str | None = None,
) -> None:
    """Do the same to several sessions; whichever fails is told by name, and the rest is done."""

    async def all_of_them(opened: "Opened") -> list[BatchOutcome]:
        found = [await find_session(opened, prefix) for prefix in prefixes]
        return await act(opened, list(dict.fromkeys(found)))

    outcomes = in_store({"database": database, "profile": profile}, all_of_them)
    failed = [outcome for outcome in outcomes if outcome.error is not None]
    if as_json:
        write_json([{"id": outcome.id, "error": outcome.error} for outcome in outcomes])
    else:
        show_text(f"{count(len(outcomes) - len(failed), 'session')} {done}.")
        for outcome in failed:
            complain(Conflict(outcome.error or "", id=outcome.id))
    if failed:
        raise typer.Exit(1)
