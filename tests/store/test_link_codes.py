"""Linking: each side is told who the other one is, confirms, and the link is in the audit log."""

from datetime import timedelta

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, BOB, DM, GROUP, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.account import Account, AccountRole
from threadline.core.address import Address, Kind, Sender
from threadline.core.command import parse_command
from threadline.core.person import Identity
from threadline.store.commands import CommandReply

PHONE = Address(platform="signal", kind=Kind.DM, chat="+49")
ALLY = Sender(id="+49", name="Ally")
ALLYS = Identity(platform="signal", id="+49")
NAMES_ALICE = "“Alice” (telegram:alice)"


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def code_of(reply: CommandReply) -> str:
    """Read the code that a reply shows."""
    return reply.text.rpartition(" ")[2]


async def on_screen(desk: Desk, account: Account, text: str) -> CommandReply:
    """Give a command in the web app."""
    said = desk.inbound("hello", account.sender, account.place("t1"))
    id = (await desk.store.receive(said)).session_id
    assert id is not None
    call = parse_command(text)
    assert call is not None
    given = desk.inbound(text, account.sender, account.place())
    reply = await desk.store.command_in(id, given, call, AccessLevel.MEMBER)
    assert reply is not None
    return reply


async def acts(desk: Desk) -> list[tuple[str, str, str, str]]:
    """Read the audit log, oldest first."""
    found = reversed(await desk.store.audit(most=50))
    return [(one.account, one.act, one.subject, one.detail) for one in found]


@both
async def test_who_sends_a_code_is_told_who_made_it_and_confirms(desk: Desk) -> None:
    """Nobody is linked before that; both link and unlink are in the audit log."""
    code = await code_of(await desk.asks("/link"))
    offer = await desk.asks(f"/link {code}", ALLY, PHONE)
    before = await desk.store.people.find(ALLYS)
    linked = await desk.asks("/link yes", ALLY, PHONE)
    person = await desk.store.people.find(ALLYS)
    await desk.asks("/unlink", ALLY, PHONE)

    assert NAMES_ALICE in offer.text
    assert "read, continued, exported and deleted" in offer.text
    yes, no = (choice.says for choice in offer.choices)
    assert yes.startswith("/link yes ")
    assert no == "/link no"
    assert code not in offer.text
    assert before is None
    assert NAMES_ALICE in linked.text
    assert person is not None
    assert [str(one.identity) for one in person.senders] == ["telegram:alice", "signal:+49"]
    assert await acts(desk) == [
        ("", "person.linked", "telegram:alice", "signal:+49"),
        ("", "person.unlinked", "", "signal:+49"),
    ]


@both
@pytest.mark.parametrize("side", ["maker", "sender"])
@pytest.mark.parametrize("role", list(AccountRole))
async def test_a_side_that_can_log_in_is_confirmed_by_both(
    desk: Desk, side: str, role: AccountRole
) -> None:
    """Who made the code is told who sent it, even if they confirm blindly, before both are one."""
    store = desk.store
    account = await store.owner_account()
    if role is AccountRole.MEMBER:
        account = await store.make_account("mia", role)
    sides = [lambda text: on_screen(desk, account, text), lambda text: desk.asks(text, ALLY, PHONE)]
    make, send = sides if side == "maker" else reversed(sides)
    code = await code_of(await make("/link"))
    await send(f"/link {code}")
    once = await send("/link yes")
    again = await send("/link yes")
    named = await make("/link yes")
    before = await store.people.find(ALLYS)
    linked = await make("/link yes")

    assert "confirm it there, too" in once.text
    assert "Nothing waits" in again.text
    sender = "signal:+49" if side == "maker" else f"local:{account.sender.id}"
    assert sender in named.text
    assert "Your accounts are linked" not in named.text
    assert before is None
    assert "Your accounts are linked" in linked.text
    assert await store.people.find(ALLYS) is not None
    assert [act for _, act, _, _ in await acts(desk)][-1:] == ["person.linked"]


@both
async def test_a_link_is_refused_by_either_side_or_too_late(desk: Desk) -> None:
    """After a no the code is used up, and what nobody confirms in ten minutes is over."""
    owner = await desk.store.owner_account()
    code = await code_of(await desk.asks("/link"))
    await desk.asks(f"/link {code}", ALLY, PHONE)
    no = await desk.asks("/link no", ALLY, PHONE)
    used = await desk.asks(f"/link {code}", ALLY, PHONE)
    code = await code_of(await on_screen(desk, owner, "/link"))
    await desk.asks(f"/link {code}", ALLY, PHONE)
    await desk.asks("/link yes", ALLY, PHONE)
    named = await on_screen(desk, owner, "/link")
    await on_screen(desk, owner, "/link no")
    late = await code_of(await desk.asks("/link"))
    await desk.asks(f"/link {late}", ALLY, PHONE)
    desk.clock.advance(timedelta(minutes=10))
    over = await desk.asks("/link yes", ALLY, PHONE)

    assert no.text == "Nothing was linked."
    assert "not valid" in used.text
    assert "“Ally” (signal:+49)" in named.text
    assert "Nothing waits" in over.text
    assert await desk.store.people.list() == []
    assert await acts(desk) == []


@both
async def test_a_code_that_one_sender_claimed_is_worth_nothing_to_others(desk: Desk) -> None:
    """Who comes second learns nothing, and cannot confirm what was named to the first."""
    code = await code_of(await desk.asks("/link"))
    await desk.asks(f"/link {code}", ALLY, PHONE)
    second = await desk.asks(f"/link {code}", BOB, Address(platform="x", kind=Kind.DM, chat="bob"))
    blind = await desk.asks("/link yes", BOB, Address(platform="x", kind=Kind.DM, chat="bob"))

    assert "not valid" in second.text
    assert "Nothing waits" in blind.text
    assert await desk.store.people.list() == []


@both
async def test_nobody_is_named_where_others_read(desk: Desk) -> None:
    """A code is sent in a private chat, and one that others could read is worth nothing to them."""
    code = await code_of(await desk.asks("/link"))
    said = await desk.asks(f"/link {code}", BOB, GROUP)
    stolen = await desk.asks(f"/link {code}", ALLY, PHONE)

    assert "private chat" in said.text
    assert "lice" not in said.text
    assert "not valid" in stolen.text


@both
async def test_the_button_of_an_earlier_offer_confirms_no_later_one(desk: Desk) -> None:
    """Who sent two codes is linked with the side that stands above the button."""
    first = await code_of(await desk.asks("/link"))
    offer = await desk.asks(f"/link {first}", ALLY, PHONE)
    there = Address(platform="x", kind=Kind.DM, chat="bob")
    second = await code_of(await desk.asks("/link", BOB, there))
    later = await desk.asks(f"/link {second}", ALLY, PHONE)
    stale = await desk.asks(offer.choices[0].says, ALLY, PHONE)
    linked = await desk.asks(later.choices[0].says, ALLY, PHONE)

    assert "Nothing waits" in stale.text
    assert "x:" in linked.text
    assert "Your accounts are linked" in linked.text


@both
async def test_a_name_cannot_look_like_the_id_of_another_side(desk: Desk) -> None:
    """Neither quotes and brackets nor Markdown in a name hide who the other side is."""
    liar = Sender(id="666", name="Alice” (telegram:alice), [a](https://x.example) “")
    there = Address(platform="x", kind=Kind.DM, chat="666")
    code = await code_of(await desk.asks("/link", liar, there))
    offer = await desk.asks(f"/link {code}", ALLY, PHONE)

    assert "(x:666)" in offer.text
    assert offer.text.count("(") == offer.text.count("“") == 1
    assert "[" not in offer.text


@both
async def test_a_forgotten_person_is_in_no_link_and_no_audit_entry(desk: Desk) -> None:
    """Claims that wait go with them, and of the acts only that there were some is left."""
    await desk.says("hello")
    code = await code_of(await desk.asks("/link"))
    await desk.asks(f"/link {code}", ALLY, PHONE)
    await desk.asks("/link yes", ALLY, PHONE)
    await desk.asks("/unlink", ALLY, PHONE)
    code = await code_of(await desk.asks("/link", BOB, Address(platform="x", kind=Kind.DM)))
    await desk.asks(f"/link {code}", ALLY, PHONE)
    await desk.store.people.delete(ALLYS)

    assert desk.factory.tamper("SELECT hash FROM link_codes WHERE claimed_by IS NOT NULL") == []
    assert "+49" not in str(await acts(desk))
    assert DM.chat == ALICE.id
