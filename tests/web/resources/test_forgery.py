"""Requests in somebody else's name: pages of strangers, stolen and replayed things, guesses."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.web.resources.conftest import Template
from tests.web.resources.operation_calls import FOLLOW, ask, request_for
from tests.web.resources.sample_store import Caller, Household, move_in
from tests.web.resources.table import ANYBODY, TABLE
from threadline.web.auth.throttle import NAME_MOST
from threadline.web.authentication import CSRF_HEADER, hash_secret, new_secret

STRANGE = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:8642.evil.example"},
    {"Origin": "http://localhost:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


def changing(household: Household) -> list[str]:
    """Name all operations that may change something, and are for those who are logged in."""
    return [
        name
        for name, (method, _) in household.places.items()
        if method != "GET" and TABLE[name].audience is not ANYBODY
    ]


def without(headers: Mapping[str, str], name: str) -> dict[str, str]:
    """Leave a header out."""
    return {key: value for key, value in headers.items() if key != name}


async def test_no_change_without_the_word_of_the_login(template: Template, tmp_path: Path) -> None:
    """A cookie alone changes nothing, nor does the word of another login or an odd one."""
    async with move_in(*template, tmp_path / "house") as household:
        before = await household.store.feed.end()
        bare = without(household.headers(Caller.OWNER), CSRF_HEADER)
        other = household.headers(Caller.MEMBER)[CSRF_HEADER]
        told = {
            (name, word): await ask(household, name, {**bare, CSRF_HEADER: word})
            for name in changing(household)
            for word in ("", other, "x" * 5000)
        }

        assert len(told) > 150
        assert set(told.values()) == {403}, [one for one, code in told.items() if code != 403]
        assert await household.store.feed.end() == before


@pytest.mark.parametrize("strange", STRANGE)
async def test_no_page_of_a_stranger_changes_anything(
    strange: dict[str, str], template: Template, tmp_path: Path
) -> None:
    """Not even one that knew the word: browsers tell where a request comes from."""
    async with move_in(*template, tmp_path / "house") as household:
        before = await household.store.feed.end()
        headers = {**household.headers(Caller.OWNER), **strange}
        entering = [name for name, row in TABLE.items() if row.audience is ANYBODY]
        told = {
            name: await ask(household, name, headers) for name in (*changing(household), *entering)
        }

        assert set(told.values()) == {403}, [one for one, code in told.items() if code != 403]
        assert await household.store.feed.end() == before


async def test_no_foreign_name_leads_here(template: Template, tmp_path: Path) -> None:
    """A page whose own name was made to lead to this machine is turned away at every door."""
    async with move_in(*template, tmp_path / "house") as household:
        headers = {**household.headers(Caller.OWNER), "Host": "evil.example"}
        told = {name: await ask(household, name, headers) for name in household.places}

    assert set(told.values()) == {421}


async def test_a_link_logs_in_once_and_with_a_new_secret(
    template: Template, tmp_path: Path
) -> None:
    """What a stranger planted is not what the browser has afterwards; the link is worth nothing."""
    async with move_in(*template, tmp_path / "house") as household:
        link = new_secret()
        owner = await household.store.owner_account()
        await household.store.make_link(owner.key, hash_secret(link))
        planted = {"Cookie": "threadline=planted-by-a-stranger"}
        first = await household.client.get(f"/login?link={link}", headers=planted)
        household.client.cookies.clear()
        again = await household.client.get(f"/login?link={link}")
        unknown = await household.client.get(f"/login?link={new_secret()}")

    assert first.status_code == 303
    cookie = first.headers["set-cookie"]
    assert "planted" not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert (again.status_code, unknown.status_code) == (410, 410)
    assert again.text == unknown.text
    assert "set-cookie" not in again.headers


async def test_whoever_guesses_has_to_wait(template: Template, tmp_path: Path) -> None:
    """After ten wrong passwords not even the next one is looked at, whatever the name is."""
    async with move_in(*template, tmp_path / "house") as household:
        told = [
            await household.client.post(
                "/api/login/password", json={"name": name, "password": "is it this one?"}
            )
            for name in ("Mia", "nobody here")
            for _ in range(NAME_MOST + 1)
        ]

    assert [one.status_code for one in told] == ([403] * NAME_MOST + [429]) * 2
    assert int(told[-1].headers["retry-after"]) > 60


async def test_a_token_that_is_shown_counts_alone(template: Template, tmp_path: Path) -> None:
    """With a cookie beside it a wrong token is still wrong, and a small one stays small."""
    async with move_in(*template, tmp_path / "house") as household:
        cookie = household.headers(Caller.OWNER)
        wrong = await ask(household, "list_audit", {**cookie, "Authorization": "Bearer tl_x"})
        small = {**cookie, **household.headers(Caller.READER)}
        told = await ask(household, "list_audit", small)

    assert (wrong, told) == (401, 403)


async def test_nobody_is_told_of_what_is_not_theirs(template: Template, tmp_path: Path) -> None:
    """Another member finds no word and no id of the member in any answer, refused or not."""
    told: dict[str, list[str]] = {}
    async with move_in(*template, tmp_path / "house") as household:
        things = household.inventory.things
        hidden = ["the number", "list the files", "Mia", "What is new?", "a-shared-page"]
        hidden += [str(things[name]) for name in ("talk", "asking", "waiting", "picture")]
        for name, (method, _) in household.places.items():
            if method != "GET" or name == FOLLOW:
                continue
            request = request_for(household, name, household.headers(Caller.OTHER))
            answer = await household.client.send(request)
            asked = str(request.url)
            told[name] = [word for word in hidden if word in answer.text and word not in asked]

    assert len(told) > 45
    assert {name: words for name, words in told.items() if words} == {}
