"""`threadline pair`: who is let in, beside those whom the settings name."""

from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database, Profile, read_identity
from threadline.cli.output import as_plain, local, show_result, show_table, show_text, write_json
from threadline.cli.store_context import in_store
from threadline.core.access import Grant, Pairing
from threadline.core.account import Actor
from threadline.core.errors import NotFound

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened

app = typer.Typer(name="pair", help="Let people in who write from a chat.", no_args_is_help=True)

Who = Annotated[str, typer.Argument(metavar="PLATFORM:ID", help="As in telegram:42.")]


@app.command("list")
def list_grants(
    database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """List who waits to be let in, and who was."""
    from threadline.store.people.grants import grants
    from threadline.store.people.pairing import pairings

    async def act(opened: "Opened") -> tuple[list[Pairing], list[Grant]]:
        chosen = opened.profile
        return (
            await opened.database.read(pairings, profile=chosen),
            await opened.database.read(grants, profile=chosen),
        )

    waiting, let_in = in_store({"database": database, "profile": profile}, act)
    if as_json:
        write_json({"waiting": as_plain(waiting), "let_in": as_plain(let_in)})
    elif not waiting and not let_in:
        show_text(
            "Nobody waits, and nobody was let in. Whoever writes to your bot is shown a code."
        )
    else:
        rows = [
            *(_row(one, f"waits until {local(one.expires_at)}") for one in waiting),
            *(_row(one, f"let in {local(one.granted_at)}") for one in let_in),
        ]
        show_table(("SENDER", "STATE", "NAME"), rows)


@app.command()
def approve(
    code: Annotated[str, typer.Argument(metavar="CODE", help="As they were shown it.")],
    platform: Annotated[
        str | None, typer.Option("--platform", metavar="NAME", help="Only on this platform.")
    ] = None,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Let in whoever was shown a code."""
    from threadline.store.people.pairing import use_pairing_code

    async def act(opened: "Opened") -> Grant:
        chosen = opened.profile
        return await use_pairing_code(opened.database, code, platform, profile=chosen, by=Actor())

    grant = in_store({"database": database, "profile": profile}, act)
    show_result(as_plain(grant), f"{_called(grant)} may speak now.", as_json=as_json)


@app.command()
def allow(
    who: Who, database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Let somebody in without a code."""
    from threadline.store.people.grants import grant_access

    async def act(opened: "Opened") -> Grant:
        return await opened.database.write(
            grant_access, read_identity(who), None, profile=opened.profile, by=Actor()
        )

    grant = in_store({"database": database, "profile": profile}, act, make=True)
    show_result(as_plain(grant), f"{_called(grant)} may speak now.", as_json=as_json)


@app.command()
def revoke(
    who: Who, database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Let somebody in no longer, or turn away who waits."""
    from threadline.store.people.grants import revoke_access

    async def act(opened: "Opened") -> None:
        if not await opened.database.write(
            revoke_access, read_identity(who), profile=opened.profile, by=Actor()
        ):
            raise NotFound(
                "They were not let in here, and do not wait",
                id=who[:60],
                hint="Whom the settings name is let in by these: see [access]",
            )

    in_store({"database": database, "profile": profile}, act)
    words = f"{who} may speak no longer, unless the settings name them."
    show_result({"revoked": str(read_identity(who))}, words, as_json=as_json)


def _row(one: Pairing | Grant, state: str) -> tuple[str, str, str]:
    return str(one.identity), state, one.name or ""


def _called(grant: Grant) -> str:
    return f"{grant.name} ({grant.identity})" if grant.name else str(grant.identity)
