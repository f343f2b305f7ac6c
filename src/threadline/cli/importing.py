"""`threadline import`: history that was exported, back into a store."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.acting import in_store
from threadline.cli.files import STDIO, read_file, size_of
from threadline.cli.options import AsJson, Database
from threadline.cli.progress import shown
from threadline.cli.screen import say, write_json
from threadline.sessions.phrases import count

if TYPE_CHECKING:
    from threadline.cli.opening import Opened
    from threadline.sessions.exports.taking import ImportReport


def import_file(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What was exported; - reads it.")],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would come of it.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Go on after sessions that cannot be read.")
    ] = False,
    as_copies: Annotated[
        bool, typer.Option("--as-copies", help="Keep both where the store has another one.")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Bring in exported sessions; those that are there stay.

    The file is read to its end before anything is stored, unless bad sessions are to be skipped.
    """
    from threadline.sessions.exports.checking import check_file
    from threadline.sessions.exports.taking import Manner

    manner = Manner(dry_run=dry_run, skip_bad=skip_bad, as_copies=as_copies)
    if file != STDIO and not skip_bad:
        asyncio.run(check_file(read_file(file)))

    async def act(opened: "Opened") -> "ImportReport":
        with shown("Importing") as advance:
            return await opened.store.import_history(
                read_file(file), manner, progress=lambda done: advance(done, size_of(file))
            )

    report = in_store({"database": database}, act, make=not dry_run)
    if as_json:
        write_json({name: getattr(report, name) for name in report.__slots__} | _listed(report))
    else:
        say("\n".join(_sentences(report, dry_run=dry_run)))
    if report.conflicts or report.bad:
        raise typer.Exit(1)


def _listed(report: "ImportReport") -> dict[str, object]:
    return {
        "problems": [
            {"line": problem.line, "session_id": problem.session_id, "what": problem.what}
            for problem in report.problems or []
        ]
    }


def _sentences(report: "ImportReport", *, dry_run: bool) -> list[str]:
    verb = "would be added" if dry_run else "added"
    added = f"{count(report.added, 'session')} {verb}, with {count(report.messages, 'message')}"
    told = [f"{added}; {report.skipped:,} there already."]
    if report.copied:
        told.append(f"{count(report.copied, 'session')} got a new id.")
    if report.forgotten:
        told.append(
            f"{count(report.forgotten, 'session')} left out: forgotten here. The file still has it."
        )
    if report.conflicts:
        told.append(
            f"{count(report.conflicts, 'session')} left out: the store has others with these ids."
        )
    if report.bad:
        told.append(f"{count(report.bad, 'place')} could not be read.")
    return told + [f"  line {problem.line}: {problem.what}" for problem in report.problems or []]
