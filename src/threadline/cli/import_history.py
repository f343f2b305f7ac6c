"""`threadline import`: history that was exported, back into a store."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.files import STDIO, read_pieces, size_of
from threadline.cli.identity_argument import AsJson, Database
from threadline.cli.output import show_text, write_json
from threadline.cli.progress import show_progress
from threadline.cli.store_context import in_store
from threadline.core.account import Actor
from threadline.store.deletion.import_history import import_history
from threadline.store.formatting import count

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened
    from threadline.store.transfer.importer import ImportReport


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
    keep_settings: Annotated[
        bool,
        typer.Option(
            "--keep-settings",
            help="Keep the folders, tools and model addresses of a file that you trust.",
        ),
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Bring in exported sessions; those that are there stay.

    The file is read to its end before anything is stored, unless bad sessions are to be skipped.
    """
    from threadline.store.transfer.importer import ImportOptions
    from threadline.store.transfer.validation import validate_file

    manner = ImportOptions(
        dry_run=dry_run, skip_bad=skip_bad, as_copies=as_copies, keep_settings=keep_settings
    )
    if file != STDIO and not skip_bad:
        asyncio.run(validate_file(read_pieces(file)))

    async def act(opened: "Opened") -> "ImportReport":
        with show_progress("Importing") as advance:
            return await import_history(
                opened.database,
                read_pieces(file),
                manner or ImportOptions(),
                by=Actor(),
                progress=lambda done: advance(done, size_of(file)),
            )

    report = in_store({"database": database}, act, make=not dry_run)
    if as_json:
        write_json(
            {name: getattr(report, name) for name in report.__struct_fields__} | _listed(report)
        )
    else:
        show_text("\n".join(_sentences(report, dry_run=dry_run)))
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
    if report.without_settings:
        told.append(
            f"{count(report.without_settings, 'session')} without the folder, tools or model"
            " address that the file names: --keep-settings keeps them."
        )
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
