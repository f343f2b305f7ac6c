"""`threadline account`: who may use the web app, from the terminal."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

import threadline
from tests.cli.program import run
from threadline.core.account import Login
from threadline.core.errors import Refused
from threadline.store import Store
from threadline.web.auth.passwords import Passwords
from threadline.web.authentication import hash_secret


def ask(*words: str) -> Any:
    result = run("account", *words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def stored(home: Path) -> AbstractAsyncContextManager[Store]:
    return threadline.open(home / ".threadline" / "threadline.db")


def test_the_owner_is_there_from_the_beginning(home: Path) -> None:
    """Before the first start of a server, too."""
    listed = ask("list")

    assert [(one["name"], one["role"]) for one in listed] == [("owner", "owner")]
    assert "owner" in run("account", "list").stdout


def test_a_link_logs_in_once(home: Path) -> None:
    """It is printed alone, so that it can be opened or piped; the database knows only its hash."""

    async def use(link: str) -> Login:
        async with stored(home) as store:
            used = await store.use_link(hash_secret(link.rpartition("=")[2]), "0" * 64, "here")
            with pytest.raises(Refused):
                await store.use_link(hash_secret(link.rpartition("=")[2]), "1" * 64, "here")
            return used

    printed = run("account", "link").stdout
    link = printed.strip()

    assert printed == f"{link}\n"
    assert link.startswith("http://127.0.0.1:8642/login?link=")
    assert asyncio.run(use(link)).account.name == "owner"
    assert (
        link.rpartition("=")[2].encode()
        not in (home / ".threadline" / "threadline.db").read_bytes()
    )


def test_a_link_leads_to_the_address_of_the_settings(home: Path) -> None:
    """A proxy's address wins over the one of this machine."""
    (home / ".threadline").mkdir(exist_ok=True)
    settings = '[server]\nurl = "https://chat.example.org"\n'
    (home / ".threadline" / "threadline.toml").write_text(settings, encoding="utf-8")

    assert ask("link")["link"].startswith("https://chat.example.org/login?link=")


def test_a_member_comes_and_goes(home: Path) -> None:
    """They are added, get a link of their own, and are ended; then nobody is called so."""
    told = "Ada is a member. `threadline account link Ada` prints a login link for them.\n"
    assert run("account", "add", "Ada").stdout == told
    assert "/login?link=" in ask("link", "Ada")["link"]
    again = run("account", "add", "Ada")
    ended = run("account", "end", "Ada")
    gone = run("account", "link", "Ada")

    assert (again.exit_code, gone.exit_code) == (1, 1)
    assert "already" in again.stderr
    assert ended.stdout == "Ada is logged out for good.\n"
    assert "There is no such account" in gone.stderr
    assert [one["name"] for one in ask("list")] == ["owner"]


def test_a_member_may_belong_to_a_profile(home: Path) -> None:
    """One that cannot be a profile is refused."""
    made = ask("add", "Ada", "--profile", "work")

    assert made["profile"] == "work"
    assert run("account", "add", "Bob", "--profile", "../x").exit_code == 1


def test_the_owner_cannot_be_ended(home: Path) -> None:
    """Somebody has to be there."""
    run("account", "list")
    assert run("account", "end", "owner").exit_code == 1


def test_a_password_is_read_from_a_pipe(home: Path) -> None:
    """It is shown nowhere, fits afterwards, and can be dropped."""

    async def fits(store: Store) -> bool:
        found = await store.password_hash_of("owner")
        return found is not None and await Passwords().is_right("a bridge of sighs", found[1])

    async def look() -> bool:
        async with stored(home) as store:
            return await fits(store)

    result = run("account", "password", lines="a bridge of sighs\n")
    assert result.stdout == "owner has a new password.\n"
    assert asyncio.run(look())
    assert ask("list")[0]["has_password"] is True

    assert "no password now" in run("account", "password", "--drop").stdout
    assert not asyncio.run(look())


@pytest.mark.parametrize("lines", ["", "\n", "short\n", "qwertyuiop\n"])
def test_a_bad_password_is_refused(home: Path, lines: str) -> None:
    """And changes nothing."""
    result = run("account", "password", lines=lines)

    assert result.exit_code == 1
    assert "password" in result.stderr
    assert ask("list")[0]["has_password"] is False


def test_what_is_done_here_is_written_down(home: Path) -> None:
    """The audit log names no account, as it was done at the terminal."""

    async def acts() -> list[str]:
        async with stored(home) as store:
            return [one.act for one in await store.audit()]

    run("account", "add", "Ada")
    run("account", "link", "Ada")
    run("account", "end", "Ada")

    assert asyncio.run(acts()) == ["account.ended", "link.made", "account.made"]
