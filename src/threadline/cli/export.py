"""`threadline export`: sessions as a file, for people or to be imported elsewhere."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from threadline.cli.files import STDIO, require_free, write_private_file
from threadline.cli.identity_argument import (
    AsJson,
    Database,
    OfProject,
    Profile,
    SessionArg,
    read_identity,
)
from threadline.cli.output import show_result
from threadline.cli.progress import Advance, show_progress
from threadline.cli.store_context import at_session, audit_command, in_store
from threadline.core.errors import Invalid
from threadline.core.export_format.file_records import ExportFormat, ExportScope, Selection
from threadline.core.session import SessionId
from threadline.store.formatting import count

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened


Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Write over a file.")]
Redact: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--redact", help="Leave out attachments; placeholders for people, numbers and keys."
    ),
]


def export_session(
    id: SessionArg,
    *,
    format: Annotated[
        ExportFormat, typer.Option("--format", "-f", help="For people, or to be imported: jsonl.")
    ] = ExportFormat.MARKDOWN,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; else it is shown.")
    ] = STDIO,
    redact: Redact = False,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="With what was undone or retried.")
    ] = False,
    force: Force = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write one session as a page, or as portable lines."""
    require_free(output, force=force)

    async def act(opened: "Opened", id: SessionId) -> int:
        from threadline.cli.session_files import written_session

        blocks = written_session(opened.store, id, format, hidden=hidden, redact=redact)
        size = await write_private_file(output, blocks, force=force)
        await audit_command(opened.store, "session.exported", id, format)
        return size

    written = at_session({"database": database}, id, act)
    _say(output, written, as_json=as_json)


def export(
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; - shows it.")
    ],
    everything: Annotated[bool, typer.Option("--all", help="Of all profiles.")] = False,
    person: Annotated[
        str | None,
        typer.Option("--person", metavar="PLATFORM:ID", help="Only what this person owns."),
    ] = None,
    project: OfProject = None,
    profile: Profile = None,
    redact: Redact = False,
    force: Force = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write the sessions of a profile, project or person, or all."""
    require_free(output, force=force)
    settings = {"database": database, "profile": profile}
    selection = _selection(settings, everything=everything, person=person, project=project)

    from threadline.core.redaction import Redactor
    from threadline.store.transfer.exporter import write_history

    async def act(opened: "Opened") -> int:
        redactor = Redactor() if redact else None
        with show_progress("Exporting") as advance:
            lines = write_history(opened.database, selection, redactor=redactor)
            size = await write_private_file(output, _watched(lines, advance), force=force)
        await audit_command(opened.store, "history.exported", selection.subject, selection.extent)
        return size

    _say(output, in_store(settings, act), as_json=as_json)


async def _watched(blocks: AsyncIterator[bytes], advance: Advance) -> AsyncIterator[bytes]:
    done = 0
    async for block in blocks:
        yield block
        done += len(block)
        advance(done, None)


def _selection(
    settings: dict[str, str | None], *, everything: bool, person: str | None, project: str | None
) -> Selection:
    from threadline.config import load_config

    if sum((everything, person is not None, project is not None)) > 1:
        raise Invalid("Export either all, a person, or a project")
    profile = load_config(settings).profile
    if everything:
        if settings["profile"] is not None:
            raise Invalid("Export either all, or a profile")
        return Selection(extent=ExportScope.ALL)
    if person is not None:
        return Selection(extent=ExportScope.PERSON, person=read_identity(person))
    if project is not None:
        return Selection(extent=ExportScope.PROJECT, profile=profile, project=project)
    return Selection(extent=ExportScope.PROFILE, profile=profile)


def _say(output: str, written: int, *, as_json: bool) -> None:
    if output != STDIO:
        sentence = f"{output} is written: {count(written, 'byte')}."
        show_result({"file": output, "bytes": written}, sentence, as_json=as_json)
