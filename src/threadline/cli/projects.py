"""`threadline projects`: groups of sessions."""

from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database, Profile
from threadline.cli.output import as_plain, show_result, show_table, show_text, write_json
from threadline.cli.store_context import in_store
from threadline.core.errors import NotFound
from threadline.core.project import CountedProject, Project, ProjectColor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from threadline.cli.store_opener import Opened

app = typer.Typer(name="projects", help="Group sessions.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME")]
Color = Annotated[ProjectColor, typer.Option("--color", help="How it is shown.")]


@app.command("list")
def list_projects(
    database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """List the projects of a profile."""
    from threadline.store import projects

    async def act(opened: "Opened") -> "Sequence[CountedProject]":
        return await opened.database.read(projects.list_projects, profile=opened.profile)

    found = in_store({"database": database, "profile": profile}, act)
    if as_json:
        write_json(as_plain(found))
    elif not found:
        show_text("There are no projects yet. `threadline projects add NAME` makes one.")
    else:
        rows = [(str(one.sessions), one.project.color, one.project.name) for one in found]
        show_table(("SESSIONS", "COLOR", "NAME"), rows)


@app.command()
def add(
    name: Name,
    color: Color = ProjectColor.BLUE,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Make a project."""
    from threadline.store.projects import make_project

    async def act(opened: "Opened") -> Project:
        return await opened.database.write(make_project, name, color=color, profile=opened.profile)

    made = in_store({"database": database, "profile": profile}, act)
    show_result(as_plain(made), f"{made.name} is there.", as_json=as_json)


@app.command()
def change(
    name: Name,
    *,
    to: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Its new name.")] = None,
    color: Annotated[ProjectColor | None, typer.Option("--color")] = None,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Give a project another name or colour."""
    from threadline.store.projects import change_project

    async def act(opened: "Opened") -> Project:
        project = await find_project(opened, name)
        return await opened.database.write(change_project, project.key, name=to, color=color)

    changed = in_store({"database": database, "profile": profile}, act)
    show_result(as_plain(changed), f"It is {changed.name}, {changed.color}.", as_json=as_json)


@app.command()
def delete(
    name: Name, database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Delete a project; its sessions stay."""
    from threadline.store.projects import delete_whole_project

    async def act(opened: "Opened") -> Project:
        project = await find_project(opened, name)
        await delete_whole_project(opened.database, project.key)
        return project

    gone = in_store({"database": database, "profile": profile}, act)
    show_result(as_plain(gone), f"{gone.name} is gone. Its sessions stay.", as_json=as_json)


async def find_project(opened: "Opened", name: str) -> Project:
    """Find a project of the profile by its name."""
    from threadline.store import projects

    known = [
        one.project
        for one in await opened.database.read(projects.list_projects, profile=opened.profile)
    ]
    for project in known:
        if project.name == name:
            return project
    names = ", ".join(project.name for project in known) or "none yet"
    raise NotFound("There is no such project", id=name, hint=f"There are: {names}")
