"""`threadline prune`: let go of what has been kept for long enough."""

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database
from threadline.cli.output import show_text, write_json
from threadline.cli.store_context import audit_command, in_store
from threadline.core.deletion import Certificate, DeletionPreview
from threadline.core.retention import Retention
from threadline.store.deletion import prune as store_prune
from threadline.store.deletion.prune import plan_pruning, unbind_idle
from threadline.store.formatting import count

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened


def prune(
    database: Database = None,
    days: Annotated[
        int | None,
        typer.Option("--days", min=1, help="Keep for so long, instead of what is configured."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove sessions whose time of keeping is over.

    Silent routes are let go. Pinned, suspended, held and busy sessions stay. Without rules in
    [retention] nothing goes.
    """
    given = None if days is None else Retention(keep=timedelta(days=days))
    act = partial(_prune, given=given, dry_run=dry_run)
    plan, certificate, freed = in_store({"database": database}, act)
    if as_json:
        sessions = plan.sessions
        done = None if certificate is None else dict(certificate.counts)
        write_json({"sessions": sessions, "messages": plan.messages, "done": done, "routes": freed})
        return
    went = "would go" if dry_run else "went"
    what = f"{count(len(plan.sessions), 'session')} with {count(plan.messages, 'message')}"
    show_text(f"{what} {went}." if plan.sessions else "No session has been kept for too long.")
    if freed:
        show_text(f"{count(freed, 'silent route')} let go.")


async def _prune(
    opened: "Opened", *, given: Retention | None, dry_run: bool
) -> tuple[DeletionPreview, Certificate | None, int]:
    from threadline.cli.progress import show_progress

    plan = await plan_pruning(opened.database, given)
    if dry_run:
        return plan, None, 0
    whole = len(plan.sessions)
    with show_progress("Pruning") as advance:
        certificate = await store_prune.prune(
            opened.database, given, progress=lambda done: advance(done, whole)
        )
    if plan.sessions:
        await audit_command(opened.store, "history.pruned", count(whole, "session"))
    return (
        plan,
        certificate,
        await unbind_idle(opened.database),
    )
