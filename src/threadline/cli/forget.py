"""`threadline forget`: let a session or a person go for good, and show the certificate."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from threadline.cli.identity_argument import AsJson, Database, SessionArgs, read_identity
from threadline.cli.output import local, show_text, write_json
from threadline.cli.store_context import find_session, in_store
from threadline.core.account import Actor
from threadline.core.deletion import Certificate, DeletionPreview, DeletionState
from threadline.core.validation import COUNT_LIMIT
from threadline.store.deletion import tasks
from threadline.store.deletion.forget import (
    finish_deletions,
    forget_person,
    forget_sessions,
    plan_person,
)
from threadline.store.deletion.preview import plan_sessions
from threadline.store.formatting import count

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened
    from threadline.store.deletion.forget import Progress

app = typer.Typer(
    name="forget",
    help="Let a session or person go for good, once you saw what goes.",
    no_args_is_help=True,
)

Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do it, without asking.")]
DryRun: TypeAlias = Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")]
Make: TypeAlias = "Callable[[Opened], Awaitable[tuple[DeletionPreview, Carry]]]"
Carry: TypeAlias = "Callable[[Progress], Awaitable[Certificate]]"

_SHOWN = 10


@app.command()
def session(
    ids: SessionArgs,
    database: Database = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Forget sessions: words, files, index, journal, free pages."""

    async def make(opened: "Opened") -> "tuple[DeletionPreview, Carry]":
        found = [await find_session(opened, id) for id in ids]
        plan = await opened.database.read(plan_sessions, found)
        return plan, lambda told: forget_sessions(opened.database, found, by=Actor(), progress=told)

    _run(make, database, yes=yes, dry_run=dry_run, as_json=as_json)


@app.command()
def person(
    who: Annotated[
        str, typer.Argument(metavar="PLATFORM:ID", help="One of their ids, such as telegram:42.")
    ],
    database: Database = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Forget a person: their sessions, and their words elsewhere.

    What they were answered goes as well. All senders that are linked to that id go together.
    """
    identity = read_identity(who)

    async def make(opened: "Opened") -> "tuple[DeletionPreview, Carry]":
        plan = await plan_person(opened.database, identity)
        return plan, lambda told: forget_person(
            opened.database, identity, by=Actor(), progress=told
        )

    _run(make, database, yes=yes, dry_run=dry_run, as_json=as_json)


@app.command("list")
def list_certificates(database: Database = None, as_json: AsJson = False) -> None:
    """List the certificates of what was forgotten, the newest first."""
    found = in_store(
        {"database": database},
        lambda opened: opened.database.read(tasks.list_certificates, before=COUNT_LIMIT, most=50),
    )
    if as_json:
        write_json([_certificate_as_dict(one) for one in found])
    elif not found:
        show_text("Nothing was forgotten here.")
    else:
        show_text("\n\n".join(certificate_page(one) for one in found))


@app.command()
def finish(database: Database = None, as_json: AsJson = False) -> None:
    """Go on with whatever was interrupted while it was being forgotten."""
    found = in_store({"database": database}, lambda opened: finish_deletions(opened.database))
    if as_json:
        write_json([_certificate_as_dict(one) for one in found])
    elif not found:
        show_text("Nothing is waiting to be forgotten.")
    else:
        show_text("\n\n".join(certificate_page(one) for one in found))
    if any(one.state is not DeletionState.DONE for one in found):
        raise typer.Exit(1)


def _run(make: "Make", database: str | None, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    asks = not yes and not dry_run and not as_json and sys.stdin.isatty()
    forget = partial(_forget, make=make, does=yes and not dry_run, asks=asks)
    plan, certificate = in_store({"database": database}, forget)
    if as_json:
        made = None if certificate is None else _certificate_as_dict(certificate)
        write_json({"plan": plan_as_dict(plan), "certificate": made})
    elif certificate is not None:
        show_text(certificate_page(certificate))
    else:
        if not asks:
            show_text(render_preview(plan))
        show_text("Nothing was forgotten." + ("" if dry_run or asks else " Add --yes to do it."))
    if certificate is not None and certificate.state is not DeletionState.DONE:
        raise typer.Exit(1)


async def _forget(
    opened: "Opened", *, make: "Make", does: bool, asks: bool
) -> tuple[DeletionPreview, Certificate | None]:
    from threadline.cli.progress import show_progress

    plan, carry_out = await make(opened)
    if asks:
        show_text(render_preview(plan))
        does = await asyncio.to_thread(typer.confirm, "Forget this for good?")
    if not does:
        return plan, None
    with show_progress("Forgetting") as advance:
        return plan, await carry_out(lambda done: advance(done, None))


def render_preview(plan: DeletionPreview) -> str:
    """Say what would go."""
    lines = [f"This would go: {count(len(plan.sessions), 'session')} as a whole"]
    lines += _some(plan.sessions)
    if plan.shared:
        where = count(len(plan.shared), "shared session")
        lines.append(f"what was said by them, and answered to them, in {where}")
        lines += _some(plan.shared)
    if plan.branches:
        lines.append("the history that these branches shared with it")
        lines += _some(plan.branches)
    lines.append(
        f"in all {count(plan.messages, 'message')} and {count(plan.attachments, 'attachment')}"
    )
    if plan.senders:
        lines.append(f"and who they were: {count(plan.senders, 'sender')}")
    lines.append("What was spent stays, as numbers that belong to nobody.")
    return "\n".join(lines)


def _some(ids: tuple[str, ...]) -> list[str]:
    more = [f"  … and {len(ids) - _SHOWN:,} more"] if len(ids) > _SHOWN else []
    return [f"  {id}" for id in ids[:_SHOWN]] + more


def certificate_page(certificate: Certificate) -> str:
    """Show a certificate to a person."""
    is_done = certificate.state is DeletionState.DONE
    lines = [f"Certificate {certificate.id}: {certificate.kind} forgotten"]
    if not is_done:
        lines[0] = f"Certificate {certificate.id}: {certificate.kind}, not yet forgotten"
        lines.append(
            "Somebody was reading an older state, so traces may be left in the journal. "
            "`threadline forget finish` goes on."
        )
    lines.append(f"asked {local(certificate.asked_at)}")
    if certificate.done_at is not None:
        lines.append(f"done  {local(certificate.done_at)}")
    lines += [f"{number:>9,}  {what}" for what, number in certificate.counts.items()]
    lines += [f"tombstone  {stone}" for stone in certificate.tombstones[:_SHOWN]]
    lines.append("Out of reach:")
    lines += [f"  {what}" for what in certificate.out_of_reach]
    return "\n".join(lines)


def plan_as_dict(plan: DeletionPreview) -> dict[str, object]:
    """Give a plan as plain values, fit for JSON."""
    return {name: getattr(plan, name) for name in plan.__struct_fields__}


def _certificate_as_dict(certificate: Certificate) -> dict[str, object]:
    return {name: getattr(certificate, name) for name in certificate.__struct_fields__}
