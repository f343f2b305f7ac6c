"""Commands over the API: the lines of a chat, given in the conversation that a screen shows."""

from pathlib import Path
from typing import cast

import pytest

from tests.databases import FAST, POSTGRES, on
from tests.web.browser import make_token
from tests.web.resources.callers import Callers, calling
from threadline.core.account import TokenScope
from threadline.core.command import COMMANDS
from threadline.core.message import Role, say
from threadline.gateway.gateway import Gateway
from threadline.platforms.local import Local
from threadline.store import Store
from threadline.store.commands.dispatch import WAITS
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scenario import sqlite_at
from threadline.testing.scripted_agent import Hangs, ScriptedAgent
from threadline.testing.scripted_summarizer import ScriptedSummarizer
from threadline.web.authentication import COOKIE, CSRF_HEADER, csrf_of, hash_secret

JSON = dict[str, object]


async def _as_owner(store: Store) -> dict[str, str]:
    """Log the owner in, and return what their browser sends."""
    owner = await store.owner_account()
    await store.begin_login(owner.key, hash_secret("a secret"), "a browser")
    return {"Cookie": f"{COOKIE}=a secret", CSRF_HEADER: csrf_of("a secret")}


async def give(
    callers: Callers, who: str, id: str, line: str, status: int = 200, key: str | None = None
) -> JSON:
    """Give a command, and answer what is told of it."""
    headers = {} if key is None else {"Idempotency-Key": key}
    url = f"/api/sessions/{id}/commands"
    answer = await getattr(callers, who).post(url, json={"line": line}, headers=headers)
    assert answer.status_code == status, answer.text
    told: JSON = answer.json()
    return told


@on(FAST)
async def test_everybody_is_told_of_the_commands_that_they_may_give(store: Store) -> None:
    """An owner may give all of them in a browser; no token may say who somebody is."""
    async with calling(store) as callers:
        headers = await _as_owner(store)
        browser = (await callers.nobody.get("/api/commands", headers=headers)).json()["items"]
        owner = (await callers.owner.get("/api/commands")).json()["items"]
        member = (await callers.member.get("/api/commands")).json()["items"]

    names = [command.name for command in COMMANDS]
    assert [one["name"] for one in browser] == names
    assert [one["name"] for one in owner] == [one for one in names if "link" not in one]
    (title,) = [one for one in member if one["name"] == "title"]
    assert title == {
        "name": "title",
        "arguments": "[title]",
        "usage": "/title [title]",
        "help": "Show or set the title",
        "while_running": "run",
        "who": "member",
    }
    assert {"platforms", "sethome", "link"}.isdisjoint(one["name"] for one in member)


@on(FAST, POSTGRES)
async def test_a_line_does_what_it_does_in_a_chat(store: Store) -> None:
    """It changes the session in view, and answers the words; the screen is told where to go."""
    async with calling(store) as callers:
        id = await callers.talk("member", "remember the number 7")
        named = await give(callers, "member", id, "/title The number")
        undone = await give(callers, "member", id, "/undo")
        redone = await give(callers, "member", id, "/redo")
        branch = await give(callers, "member", id, "/branch Another way")
        listed = await give(callers, "member", id, "/resume")
        begun = await give(callers, "member", id, "/new")
        row = (await callers.member.get(f"/api/sessions/{id}")).json()

    assert named == {
        "text": "This is “The number” now.",
        "choices": [],
        "session_id": id,
        "turn_id": None,
        "offer": None,
        "download": None,
    }
    assert (undone["offer"], redone["session_id"]) == ("remember the number 7", id)
    assert branch["session_id"] not in {None, id}
    button = {"label": "Another way", "says": f"/resume {branch['session_id']}"}
    assert button in cast("list[JSON]", listed["choices"])
    assert (begun["session_id"], row["end_reason"]) == (None, "new")


@on(FAST, POSTGRES)
async def test_a_command_is_given_once(store: Store) -> None:
    """With a key it is answered as the first time, and nothing is done again."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        first = await give(callers, "member", id, "/branch", key="b1")
        again = await give(callers, "member", id, "/branch", key="b1")
        other = await give(callers, "member", id, "/branch", key="b2")

    assert first == again
    assert other["session_id"] != first["session_id"]


@on(FAST)
async def test_what_is_no_command_is_told_so(store: Store) -> None:
    """An unknown one names what may be meant; words are none at all."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        unknown = await give(callers, "member", id, "/usge", 404)
        words = await give(callers, "member", id, "usage", 422)
        path = await give(callers, "member", id, "/etc/hosts", 422)
        more = await give(callers, "member", id, "/usage month", 422)
        theirs = await give(callers, "member", id, "/platforms", 403)
        hidden = await give(callers, "other", id, "/title mine", 404)

    assert unknown["hint"] == "Did you mean /usage?"
    assert words["detail"] == path["detail"] == "This is not a command"
    assert more["detail"] == "/usage takes nothing after it"
    assert "/platforms is for those" in str(theirs["detail"])
    assert hidden["detail"] == "There is no such session"


@on(FAST)
async def test_what_has_to_wait_says_so(store: Store) -> None:
    """It is carried out after the turn, by whoever serves."""
    async with calling(store) as callers:
        begun = await callers.member.post("/api/sessions", json={"text": "one"})
        id = begun.json()["session_id"]
        waits = await give(callers, "member", id, "/redo")

    assert waits["text"] == WAITS


async def converse(callers: Callers, id: str, times: int = 4) -> None:
    """Go on with a conversation for a while."""
    for _ in range(times):
        await callers.member.post(f"/api/sessions/{id}/messages", json={"text": "more"})
        claim = await callers.store.turns.claim()
        assert claim is not None
        await callers.store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")])


@on(FAST)
async def test_a_summary_is_written_before_the_answer(store: Store) -> None:
    """The screen is told how it went, and what is said next does not wait for anything."""
    scribe = ScriptedSummarizer()
    # It is not begun, so that nothing happens but what the test does.
    gateway = Gateway(store, ScriptedAgent(), [], scribe=scribe)
    async with calling(store, gateway=gateway) as callers:
        id = await callers.talk("member")
        await converse(callers, id)
        told = await give(callers, "member", id, "/compress the number")
        cuts = (await callers.member.get(f"/api/sessions/{id}/cuts")).json()["items"]
        await converse(callers, id, 1)

    assert str(told["text"]).startswith("A summary stands for the first ")
    assert [asked.focus for asked in scribe.asked] == ["the number"]
    assert [cut["kind"] for cut in cuts] == ["compacted"]


async def test_a_gateway_does_later_what_had_to_wait(tmp_path: Path) -> None:
    """The turn ends, the summary is written, and what is said of it becomes a file here."""
    local = Local(tmp_path / "output")
    house = GatewayScenario(
        sqlite_at(tmp_path / "x.db"), platforms=[local], scribe=ScriptedSummarizer()
    )
    async with house, calling(house.store, gateway=house.gateway) as callers:
        begun = await callers.member.post("/api/sessions", json={"text": "one"})
        id = begun.json()["session_id"]
        for words in ("two", "three", "four"):
            await callers.member.post(f"/api/sessions/{id}/messages", json={"text": words})
        await house.rests()
        house.agent.will(Hangs())
        await callers.member.post(f"/api/sessions/{id}/messages", json={"text": "five"})
        await house.rests()
        waits = await give(callers, "member", id, "/compress")
        house.agent.goes_on()
        await house.rests()
        cuts = (await callers.member.get(f"/api/sessions/{id}/cuts")).json()["items"]
        owed = (await callers.member.get(f"/api/deliveries?session={id}")).json()["items"]

    assert waits["text"] == WAITS
    assert [cut["kind"] for cut in cuts] == ["compacted"]
    assert {one["state"] for one in owed} == {"sent"}
    written = [file.read_text() for file in (tmp_path / "output").rglob("*.md")]
    assert any("A summary stands for the first " in text for text in written)


@on(FAST)
async def test_without_a_scribe_nothing_is_summed_up(store: Store) -> None:
    """The answer says why, and the conversation goes on at once."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        await converse(callers, id)
        told = await give(callers, "member", id, "/compress")
        await converse(callers, id, 1)

    assert "Nobody here can write a summary" in str(told["text"])


@on(FAST)
async def test_a_file_is_to_be_had_where_the_answer_says(store: Store) -> None:
    """A screen downloads it, as it would any export."""
    async with calling(store) as callers:
        id = await callers.talk("member", "remember the number 7")
        told = await give(callers, "member", id, "/export md")
        file = await callers.member.get(str(told["download"]))

    assert "remember the number 7" in file.text


@on(FAST)
async def test_what_is_forgotten_is_left(store: Store) -> None:
    """It is asked for twice; then the screen has nothing to show any more."""
    async with calling(store) as callers:
        id = await callers.talk("member", "remember the number 7")
        asked = await give(callers, "member", id, "/forget this")
        gone = await give(callers, "member", id, "/forget this yes", key="f1")
        missing = await callers.member.get(f"/api/sessions/{id}")
        audit = (await callers.owner.get("/api/audit")).json()["items"]

    assert "/forget this yes" in str(asked["text"])
    assert (gone["session_id"], missing.status_code) == (None, 404)
    assert str(gone["text"]).startswith("Forgotten: ")
    assert audit[0]["act"] == "session.forgotten"


@on(FAST)
async def test_a_code_is_told_once_and_kept_nowhere(store: Store) -> None:
    """Who asks with the same key again is not shown it; a token is refused, whatever it may."""
    async with calling(store) as callers:
        own, theirs = await callers.talk("owner"), await callers.talk("member")
        by_token = await give(callers, "owner", own, "/link", 403)
        del callers.owner.headers["authorization"]
        callers.owner.headers.update(await _as_owner(store))
        code = await give(callers, "owner", own, "/link", key="l1")
        again = await give(callers, "owner", own, "/link", key="l1")
        refused = await give(callers, "member", theirs, "/link", 403)

    assert "/link " in str(code["text"])
    assert again["text"] == "This was said once, and is not kept."
    assert by_token["detail"] == refused["detail"] == "A token may not use /link"


@on(FAST)
async def test_who_may_not_read_may_not_ask(store: Store) -> None:
    """An answer tells what stands in conversations."""
    async with calling(store) as callers:
        id = await callers.talk("owner")
        shown = await make_token(store, TokenScope.WRITE)
        answer = await callers.nobody.post(
            f"/api/sessions/{id}/commands", json={"line": "/status"}, headers=shown
        )

    assert answer.status_code == 403


@pytest.mark.parametrize("after", ["", " 1", " -1", " x y=z", " \u202e\u0000", " " + "9" * 400])
@on(FAST)
async def test_nothing_that_is_written_after_a_name_fails_inside(store: Store, after: str) -> None:
    """Every command is answered, or refused with a sentence."""
    told = {}
    async with calling(store) as callers:
        for command in COMMANDS:
            id = await callers.talk("owner")
            answer = await callers.owner.post(
                f"/api/sessions/{id}/commands", json={"line": f"/{command.name}{after}"}
            )
            told[command.name] = answer.status_code

    assert {status for status in told.values() if status not in {200, 403, 404, 409, 422}} == set()
    assert told["help"] == (422 if after.strip() else 200)
