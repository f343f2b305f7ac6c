"""`threadline people`: who speaks through several senders."""

from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database, read_identity
from threadline.cli.output import as_plain, show_result, show_table, show_text, write_json
from threadline.cli.store_context import in_store
from threadline.core.account import Actor
from threadline.core.person import Person, PersonKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from threadline.cli.store_opener import Opened
    from threadline.store.person_links.unlink import Parting

app = typer.Typer(name="people", help="Say who is the same person.", no_args_is_help=True)

Who = Annotated[str, typer.Argument(metavar="PLATFORM:ID", help="As in telegram:42.")]


@app.command("list")
def list_people(database: Database = None, as_json: AsJson = False) -> None:
    """List everybody who speaks through several senders."""
    from threadline.core.validation import COUNT_LIMIT
    from threadline.store.people.persons import people

    async def act(opened: "Opened") -> "Sequence[Person]":
        return await opened.database.read(people, after=0, most=COUNT_LIMIT)

    found = in_store({"database": database}, act)
    if as_json:
        write_json(as_plain(found))
    elif not found:
        show_text(
            "Nobody is linked yet. People do it with /link; `threadline people join` does it, too."
        )
    else:
        rows = [(str(one.key), one.name or "", _senders(one)) for one in found]
        show_table(("KEY", "NAME", "SENDERS"), rows)


@app.command()
def join(one: Who, other: Who, database: Database = None, as_json: AsJson = False) -> None:
    """Make two senders one person."""
    from threadline.store.people import persons

    async def act(opened: "Opened") -> Person:
        return await opened.database.write(
            persons.join_people, read_identity(one), read_identity(other), by=Actor()
        )

    person = in_store({"database": database}, act)
    show_result(as_plain(person), f"They are one person: {_senders(person)}.", as_json=as_json)


@app.command()
def part(who: Who, database: Database = None, as_json: AsJson = False) -> None:
    """Let a sender be a person of their own again."""
    from threadline.store.person_links.unlink import unlink_sender

    async def act(opened: "Opened") -> "Parting | None":
        return await opened.database.write(unlink_sender, read_identity(who), by=Actor())

    parting = in_store({"database": database}, act)
    words = "They were linked with nobody." if parting is None else "They are on their own now."
    show_result(as_plain(parting), words, as_json=as_json)


@app.command()
def rename(
    key: Annotated[int, typer.Argument(metavar="KEY", help="As `people list` shows it.")],
    name: Annotated[str, typer.Argument(metavar="NAME")],
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Call a person by another name."""
    from threadline.store.people.persons import rename_person

    async def act(opened: "Opened") -> Person:
        return await opened.database.write(rename_person, PersonKey(key), name, by=Actor())

    person = in_store({"database": database}, act)
    show_result(as_plain(person), f"They are called {person.name} now.", as_json=as_json)


def _senders(person: Person) -> str:
    return ", ".join(str(sender.identity) for sender in person.senders)
