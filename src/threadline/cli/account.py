"""`threadline account`: who may use the web app, and how they get in."""

import sys
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database
from threadline.cli.output import as_plain, local, show_result, show_table, show_text, write_json
from threadline.cli.store_context import in_store
from threadline.core.account import LINK_LASTS, OWNER_NAME, Account, AccountRole, Actor
from threadline.core.errors import Invalid, NotFound
from threadline.core.route import canonical_profile
from threadline.core.validation import checked_name

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened

app = typer.Typer(name="account", help="Say who may use the web app.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `account list` shows it.")]
OwnName = Annotated[str, typer.Argument(metavar="[NAME]", help="Without it, the owner.")]


@app.command("list")
def list_accounts(database: Database = None, as_json: AsJson = False) -> None:
    """List everybody who may use the web app."""
    from threadline.store.accounts import accounts

    async def act(opened: "Opened") -> list[Account]:
        await accounts.get_owner_account(opened.database)
        return await opened.database.read(accounts.list_accounts)

    found = in_store({"database": database}, act, make=True)
    if as_json:
        write_json(as_plain(found))
        return
    rows = [
        (one.name, one.role, one.profile or "", _password(one), local(one.made_at)) for one in found
    ]
    show_table(("NAME", "ROLE", "PROFILE", "PASSWORD", "SINCE"), rows)


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="How they are called.")],
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", metavar="NAME", help="Only this profile.")
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Let a member use the web app; they see what is theirs."""
    from threadline.store.accounts.accounts import make_account

    only = None if profile is None else checked_name(canonical_profile(profile), "profile")

    async def act(opened: "Opened") -> Account:
        return await opened.database.write(
            make_account, name, role=AccountRole.MEMBER, profile=only, by=Actor()
        )

    made = in_store({"database": database}, act, make=True)
    link = f"`threadline account link {quote(made.name)}`"
    words = f"{made.name} is a member. {link} prints a login link for them."
    show_result(as_plain(made), words, as_json=as_json)


@app.command()
def link(name: OwnName = OWNER_NAME, database: Database = None, as_json: AsJson = False) -> None:
    """Print a link that logs somebody in once.

    It does so within a quarter of an hour.
    """
    from threadline.config import load_config
    from threadline.store.gateways import list_live_gateways

    settings = {"database": database}
    server = load_config(settings).server

    async def act(opened: "Opened") -> str:
        from threadline.web.auth.login_links import create_login_url

        account = await _find(opened, name)
        now = opened.store.now()
        serving = [
            one for one in await list_live_gateways(opened.database) if not one.is_silent(now)
        ]
        url = next((one.url for one in serving if one.url), None)
        return await create_login_url(opened.store, account, server, url, by=Actor())

    made = in_store(settings, act, make=True)
    if as_json:
        write_json({"link": made, "minutes": int(LINK_LASTS.total_seconds() // 60)})
    else:
        show_text(made)


@app.command()
def password(
    name: OwnName = OWNER_NAME,
    database: Database = None,
    *,
    drop: Annotated[bool, typer.Option("--drop", help="Have no password any more.")] = False,
) -> None:
    """Set somebody's password, and log them out everywhere.

    It is asked for, or read from a pipe.
    """
    new = None if drop else _read_password()

    async def act(opened: "Opened") -> Account:
        from threadline.store.accounts.accounts import set_password
        from threadline.web.auth.passwords import Passwords, checked_password

        account = await _find(opened, name)
        hashed = await Passwords().hash(checked_password(new, account.name)) if new else None
        await opened.database.write(set_password, account.key, hashed, logs_out=True, by=Actor())
        return account

    account = in_store({"database": database}, act, make=True)
    show_text(
        f"{account.name} has no password now." if drop else f"{account.name} has a new password."
    )


@app.command()
def end(name: Name, database: Database = None, as_json: AsJson = False) -> None:
    """Let a member use the web app no more; their conversations stay."""
    from threadline.store.accounts.accounts import end_account

    async def act(opened: "Opened") -> Account:
        account = await _find(opened, name)
        await opened.database.write(end_account, account.key, by=Actor())
        return account

    account = in_store({"database": database}, act)
    show_result({"ended": account.name}, f"{account.name} is logged out for good.", as_json=as_json)


async def _find(opened: "Opened", name: str) -> Account:
    from threadline.store.accounts import accounts

    owner = await accounts.get_owner_account(opened.database)
    if name == OWNER_NAME:
        return owner  # by whatever name they go
    for account in await opened.database.read(accounts.list_accounts):
        if account.name == name:
            return account
    raise NotFound("There is no such account", id=name[:60], hint="See `threadline account list`")


def _password(account: Account) -> str:
    if account.has_password:
        return "yes"
    return "no" if account.role is AccountRole.OWNER else ""


def _read_password() -> str:
    """Ask for a password without showing it, or read the first line of a pipe."""
    if sys.stdin.isatty():
        return str(typer.prompt("New password", hide_input=True, confirmation_prompt=True))
    read = sys.stdin.readline().rstrip("\r\n")
    if not read:
        raise Invalid("No password was given", hint="Write one into the pipe, or use a terminal")
    return read
