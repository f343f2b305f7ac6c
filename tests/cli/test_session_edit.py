"""`threadline sessions …`, `projects` and `people`: what is changed is there afterwards."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import threadline
from tests.cli.program import run
from threadline.cli.shell_completion import complete_project, complete_session
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound


@pytest.fixture(name="ids")
def two_sessions() -> list[str]:
    """Make two sessions, of which the one about tea is the latest."""
    run("chat", lines="coffee first\n/new Tea\ntea, please\n")
    return [row["id"] for row in ask("sessions", "list")]


def ask(*words: str) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_title_is_given(ids: list[str]) -> None:
    """It is cleaned, shown, and there in the list."""
    assert run("sessions", "title", ids[1], "Morning\u202e coffee").stdout == (
        "It is called “Morning coffee” now.\n"
    )
    assert [row["title"] for row in ask("sessions", "list")] == ["Tea", "Morning coffee"]


def test_a_pinned_session_stands_first(ids: list[str]) -> None:
    """However long ago it was spoken in, until it is let go."""
    run("sessions", "pin", ids[1])
    assert [row["id"] for row in ask("sessions", "list")] == [ids[1], ids[0]]
    run("sessions", "pin", "--undo", ids[1])
    assert [row["id"] for row in ask("sessions", "list")] == ids


def test_a_session_named_twice_is_counted_once(ids: list[str]) -> None:
    """However it is named."""
    assert run("sessions", "pin", ids[0], ids[0][:-1]).stdout == "1 session pinned.\n"


def test_an_archived_session_is_out_of_sight(ids: list[str]) -> None:
    """The list leaves it out, unless it is asked for."""
    run("sessions", "archive", *ids)
    assert ask("sessions", "list") == []
    assert [row["id"] for row in ask("sessions", "list", "--archived")] == ids
    run("sessions", "archive", "--undo", ids[0])
    assert [row["id"] for row in ask("sessions", "list")] == [ids[0]]


def test_one_bad_id_changes_nothing(ids: list[str]) -> None:
    """What cannot be found is named before anything is done."""
    result = run("sessions", "archive", ids[0], "20000101_000000_00000000")

    assert result.exit_code == 1
    assert "20000101_000000_00000000" in result.stderr
    assert len(ask("sessions", "list")) == 2


def test_sessions_are_grouped_by_projects(ids: list[str]) -> None:
    """A project is made, filled, renamed and deleted; its sessions stay."""
    assert run("projects", "add", "Drinks", "--color", "teal").exit_code == 0
    assert run("sessions", "move", *ids, "--project", "Drinks").stdout == (
        "2 sessions moved into Drinks.\n"
    )
    assert [row["sessions"] for row in ask("projects", "list")] == [2]
    assert len(ask("sessions", "list", "--project", "Drinks")) == 2
    assert run("sessions", "move", ids[0], "--project", "").stdout == (
        "1 session in no project now.\n"
    )
    assert [row["id"] for row in ask("sessions", "list", "--project", "Drinks")] == [ids[1]]
    changed = ask("projects", "change", "Drinks", "--name", "Beverages", "--color", "red")
    assert (changed["name"], changed["color"]) == ("Beverages", "red")
    assert run("projects", "delete", "Beverages").exit_code == 0
    assert ask("projects", "list") == []
    assert len(ask("sessions", "list")) == 2


def test_the_name_of_the_runs_of_jobs_is_kept(ids: list[str]) -> None:
    """Nobody's project can be called so."""
    result = run("projects", "add", "scheduled")

    assert result.exit_code == 1
    assert "This name is reserved for the runs of jobs. Choose another name." in result.stderr


def test_an_unknown_project_is_named() -> None:
    """With those that there are."""
    run("chat", lines="hello\n")
    run("projects", "add", "Drinks")
    result = run("projects", "delete", "Food")

    assert result.exit_code == 1
    assert "There is no such project (Food). There are: Drinks." in result.stderr


def test_turns_are_undone_and_redone(ids: list[str]) -> None:
    """What was taken back is out of the transcript, and comes back."""
    undone = ask("sessions", "undo", ids[0])
    assert (undone["turns"], undone["texts"]) == (1, ["tea, please"])
    assert "tea, please" not in run("sessions", "show", ids[0]).stdout
    assert run("sessions", "undo", ids[0], "--redo").stdout == "Brought back 2 messages.\n"
    assert "tea, please" in run("sessions", "show", ids[0]).stdout


def test_undoing_is_told_as_in_the_chat(ids: list[str]) -> None:
    """With turns and messages; a number that makes no sense is refused."""
    assert run("sessions", "undo", ids[0], "5").stdout == (
        "Took back 1 turn (2 messages). There was no more. --redo brings them back.\n"
    )
    assert "--redo takes no number" in run("sessions", "undo", ids[0], "2", "--redo").stderr
    assert "0 is not a number of turns" in run("sessions", "undo", ids[0], "0").stderr


def test_a_session_branches_at_a_line(ids: list[str]) -> None:
    """The branch shows what was said up to there."""
    lines = ask("sessions", "show", ids[1])["messages"]
    first = next(line for line in lines if line["role"] == "user")
    branch = ask("sessions", "branch", ids[1], "--at", str(first["seq"]), "--title", "Mocha")
    shown = ask("sessions", "show", branch["id"])

    assert shown["title"] == "Mocha"
    assert shown["messages"][-1]["text"] == "coffee first"


def test_search_finds_what_was_said(ids: list[str]) -> None:
    """In all sessions, or in one; with the place where it stands."""
    (hit, *_) = ask("search", "coffee", "--role", "user")["hits"]
    assert (hit["session_id"], hit["snippet"]["text"]) == (ids[1], "coffee first")
    assert "[coffee] first" in run("sessions", "search", "coffee").stdout
    assert run("search", "coffee", "--session", ids[0]).stdout == "Nothing was found.\n"
    assert "Name a word to look for" in run("search", "--", "-coffee").stderr


async def test_two_senders_are_joined_and_parted(home: Path) -> None:
    """By whoever runs the installation, and by name."""
    async with threadline.open(home / "two.db") as store:
        for platform in ("telegram", "signal"):
            await store.receive(
                Inbound.text(
                    "hello",
                    address=Address(platform=platform, kind=Kind.DM, chat="42"),
                    sender=Sender(id="42", name="Ann"),
                    at=store.now(),
                    message_id="1",
                )
            )
    join = ("people", "join", "telegram:42", "-d", "two.db")

    def in_threads(*words: str) -> Result:
        return run(*words, "-d", "two.db")

    assert "telegram:42" in (await asyncio.to_thread(run, *join, "signal")).stderr
    joined = await asyncio.to_thread(run, *join, "signal:42")
    assert joined.stdout == "They are one person: telegram:42, signal:42.\n"
    listed = await asyncio.to_thread(in_threads, "people", "list")
    assert listed.stdout.splitlines()[1].split() == ["1", "Ann", "telegram:42,", "signal:42"]
    renamed = await asyncio.to_thread(in_threads, "people", "rename", "1", "Annie")
    assert renamed.stdout == "They are called Annie now.\n"
    parted = await asyncio.to_thread(in_threads, "people", "part", "signal:42")
    assert parted.stdout == "They are on their own now.\n"
    assert "Nobody is linked yet" in (await asyncio.to_thread(in_threads, "people", "list")).stdout


def test_a_shell_offers_ids_and_names(ids: list[str]) -> None:
    """Those that begin as typed; without a database it offers nothing, and says nothing."""
    run("projects", "add", "Drinks")
    assert complete_session(ids[0][:8]) == [(ids[0], "Tea"), (ids[1], "coffee first")]
    assert complete_session(ids[1]) == [(ids[1], "coffee first")]
    assert complete_project("dr") == ["Drinks"]


def test_without_a_database_a_shell_offers_nothing() -> None:
    """Completing never fails, and never makes a database."""
    assert complete_session("") == []
    assert complete_project("") == []
