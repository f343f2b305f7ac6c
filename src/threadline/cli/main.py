"""The command line's front door."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from threadline.cli import (
    account,
    approvals,
    backup,
    chat,
    config,
    doctor,
    explain,
    export,
    forget,
    import_history,
    init,
    jobs,
    pair,
    people,
    projects,
    prune,
    search,
    send,
    serve,
    session_edit,
    session_list,
    sessions,
    status,
)
from threadline.cli.output import complain, let_go_of_output, show_text
from threadline.core.errors import StorageError, ThreadlineError
from threadline.gateway.garbage_collector import spare_heap


class CommandGroup(TyperGroup):
    """Commands whose errors, where they are of our family, are a sentence and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        """Carry out a command."""
        try:
            return super().invoke(ctx)
        except ThreadlineError as error:
            complain(error)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=CommandGroup,
    name="threadline",
    help="One durable conversation, whichever app it is spoken in.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(init.init)
app.command()(config.config)
app.command()(serve.serve)
app.command()(status.status)
app.command()(chat.chat)
app.add_typer(sessions.app)
sessions.app.command("list")(session_list.list_sessions)
for command in (
    session_list.stats,
    session_edit.title,
    session_edit.pin,
    session_edit.archive,
    session_edit.move,
    session_edit.branch,
    session_edit.undo,
    search.search,
):
    sessions.app.command()(command)
app.command()(search.search)
app.add_typer(account.app)
app.add_typer(people.app)
app.add_typer(pair.app)
app.add_typer(approvals.app)
app.add_typer(projects.app)
app.add_typer(jobs.app)
app.command()(send.send)
sessions.app.command("export")(export.export_session)
app.command()(export.export)
app.command("import")(import_history.import_file)
app.command()(explain.explain)
app.command()(doctor.doctor)
app.add_typer(forget.app)
sessions.app.command("delete")(forget.session)
app.command()(prune.prune)
app.command()(backup.backup)
app.command()(backup.restore)


def _tell_version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        show_text(f"threadline {version('threadline')}")
        raise typer.Exit


@app.callback()
def front(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda wanted: _tell_version(wanted=wanted),
            is_eager=True,
            help="Say which Threadline this is.",
        ),
    ] = False,
) -> None:
    """One durable conversation, whichever app it is spoken in."""


def _nothing() -> TextIO:
    """Stand for a stream that was closed: there is nothing in it, and nobody behind it."""
    return Path(os.devnull).open("r+")


def main() -> None:
    """Run the command line."""
    spare_heap()
    sys.stdin, sys.stdout, sys.stderr = (
        stream or _nothing() for stream in (sys.stdin, sys.stdout, sys.stderr)
    )
    for stream in (sys.stdout, sys.stderr):
        # What a terminal cannot show is written in escapes; no answer is lost over an odd letter.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except OSError as error:
        if error.filename is not None:
            raise  # it is about a file, and not about what was to be shown
        complain(StorageError(f"The output cannot be written: {error.strerror}"))
        let_go_of_output()
        sys.exit(1)
