"""`threadline approvals`: the tools that agents may use without asking, and how that ends."""

from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database, Profile
from threadline.cli.output import as_plain, local, show_result, show_table, show_text, write_json
from threadline.cli.store_context import in_store
from threadline.core.account import Actor
from threadline.core.approval import ToolPermission, checked_allowance_key

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened

app = typer.Typer(
    name="approvals", help="Say what agents may do without asking.", no_args_is_help=True
)


@app.command("list")
def list_permissions(
    database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """List the tools for which leave was given for longer than once."""
    from threadline.store.approvals.tool_permissions import list_allowances

    async def act(opened: "Opened") -> list[ToolPermission]:
        return await opened.database.read(list_allowances, profile)

    found = in_store({"database": database, "profile": profile}, act)
    if as_json:
        write_json(as_plain(found))
    elif not found:
        show_text("Agents ask for every tool. /approve session and /approve always change that.")
    else:
        show_table(("NUMBER", "TOOL", "WHERE", "BY", "SINCE"), [_row(one) for one in found])


@app.command()
def revoke(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="As `approvals list` shows it.")],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Take leave back: from its next turn on the agent asks again."""
    from threadline.store.approvals.tool_permissions import revoke_allowance

    async def act(opened: "Opened") -> ToolPermission:
        return await opened.database.write(
            revoke_allowance, checked_allowance_key(number), by=Actor()
        )

    gone = in_store({"database": database}, act)
    show_result(
        as_plain(gone), f"Agents ask again for {gone.tool} ({_where(gone)}).", as_json=as_json
    )


def _row(one: ToolPermission) -> tuple[str, ...]:
    by = one.by_name or (str(one.by) if one.by else "")
    return str(one.key), one.tool, _where(one), by, local(one.allowed_at)


def _where(one: ToolPermission) -> str:
    return f"profile {one.profile}" if one.session_id is None else f"session {one.session_id}"
