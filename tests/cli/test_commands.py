"""What the commands of a chat do for one person may not touch another."""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from threadline.assembly import open
from threadline.core.address import Address, Kind, Sender
from threadline.core.command import Call, parse_command
from threadline.core.errors import Invalid, NotFound
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.session import SessionId
from threadline.core.turn import TurnState
from threadline.store import Store
from threadline.store.commands import CommandReply, carry_out, suggest_command
from threadline.store.inbound.deduplication import once

ALICE, BOB = Sender(id="alice"), Sender(id="bob")
GROUP = Address(platform="telegram", kind=Kind.GROUP, chat="100")
THREAD = Address(platform="telegram", kind=Kind.GROUP, chat="100", thread="7")
OTHER_CHAT = Address(platform="telegram", kind=Kind.GROUP, chat="200")
_COUNT = itertools.count()


@pytest.fixture(name="store")
async def a_store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open(tmp_path / "chat.db") as store:
        yield store


def inbound(store: Store, text: str, sender: Sender, at: Address) -> Inbound:
    return Inbound.text(
        text, address=at, sender=sender, at=store.now(), message_id=f"m{next(_COUNT)}"
    )


async def says(store: Store, text: str, sender: Sender, at: Address = GROUP) -> SessionId:
    arrival = await store.receive(inbound(store, text, sender, at))
    assert arrival.session_id is not None
    return arrival.session_id


async def asks(store: Store, text: str, sender: Sender, at: Address = GROUP) -> CommandReply:
    reply = await repeat(store, inbound(store, text, sender, at))
    assert reply is not None
    return reply


async def repeat(store: Store, command: Inbound) -> CommandReply | None:
    call = parse_command(text_of(command))
    assert isinstance(call, Call)
    return await store.database.write(once, command, carry_out, command, call)


def text_of(command: Inbound) -> str:
    return "".join(getattr(part, "text", "") for part in command.parts)


async def test_nobody_sees_or_resumes_the_conversation_of_another(store: Store) -> None:
    """Neither by list, nor by title, nor by id (asks #23)."""
    secret = await says(store, "my secret plan", ALICE)
    await says(store, "hello", BOB)

    assert "secret" not in (await asks(store, "/sessions", BOB)).text
    for wanted in ("my secret plan", secret):
        with pytest.raises(NotFound):
            await asks(store, f"/resume {wanted}", BOB)
    assert "secret" in (await asks(store, "/sessions", ALICE)).text


async def test_a_shared_conversation_is_everybodys_in_its_chat(store: Store) -> None:
    """Who is in the chat may see and resume it; who is in another chat may not."""
    shared = await says(store, "our plan", ALICE, THREAD)

    assert "our plan" in (await asks(store, "/sessions", BOB, THREAD)).text
    assert "our plan" not in (await asks(store, "/sessions", BOB, OTHER_CHAT)).text
    with pytest.raises(NotFound):
        await asks(store, f"/resume {shared}", BOB, OTHER_CHAT)


async def test_several_matches_are_a_choice(store: Store) -> None:
    """Conversations that have nothing to do with each other are offered, none is guessed."""
    await says(store, "shopping", ALICE)
    await says(store, "shopping", ALICE, OTHER_CHAT)
    elsewhere = Address(platform="telegram", kind=Kind.DM, chat="alice")
    reply = await asks(store, "/resume shopping", ALICE, elsewhere)

    assert reply.text.startswith("Several match “shopping”:")
    assert len(reply.choices) == 2


async def test_a_command_that_comes_twice_is_carried_out_once(store: Store) -> None:
    """A platform that repeats /new does not reset twice (asks #3)."""
    await says(store, "hello", ALICE)
    command = inbound(store, "/new", ALICE, GROUP)
    first = await repeat(store, command)
    fresh = await says(store, "fresh", ALICE)

    assert first is not None
    assert await repeat(store, command) is None
    assert (await store.sessions.get(fresh)).ended_at is None


async def test_resume_ends_the_session_it_leaves(store: Store) -> None:
    """And the one it goes to is open again, with its route."""
    old = await says(store, "old", ALICE)
    await asks(store, "/new", ALICE)
    new = await says(store, "new", ALICE)
    await asks(store, "/resume old", ALICE)

    assert (await store.sessions.get(new)).end_reason == "switched"
    assert (await store.sessions.get(old)).is_open
    assert await says(store, "more", ALICE) == old


async def test_status_is_no_activity(store: Store) -> None:
    """Asking how things are does not keep a session from expiring."""
    id = await says(store, "hello", ALICE)
    before = (await store.sessions.get(id)).last_activity_at
    reply = await asks(store, "/status", ALICE)

    assert (await store.sessions.get(id)).last_activity_at == before
    assert "1 message waiting" in reply.text


@pytest.mark.parametrize("text", ["/", "/etc/hosts", "/new x", "/NEW", "/stop@bot", "hello", ""])
def test_words_and_known_commands_are_not_unknown(text: str) -> None:
    """A path, a slash, plain words, and commands in any spelling are left alone."""
    assert suggest_command(text) is None


async def test_what_asks_once_more_can_be_taken_back(store: Store) -> None:
    """A retry that nobody has begun is no dead end: undo and another retry stop it first."""
    dm = Address(platform="telegram", kind=Kind.DM, chat="alice")
    id = await says(store, "hello", ALICE, dm)
    claimed = await store.turns.claim(id)
    assert claimed is not None
    await store.turns.finish(claimed.lease, [say(Role.ASSISTANT, "hi")])

    first = await asks(store, "/retry", ALICE, dm)
    second = await asks(store, "/retry", ALICE, dm)
    undone = await asks(store, "/undo", ALICE, dm)

    assert first.turn_id != second.turn_id
    assert undone.offer == "hello"
    assert [turn.state for turn in await store.turns.list(id)][:2] == [TurnState.STOPPED] * 2


async def test_no_number_is_too_long_for_undo(store: Store) -> None:
    """However many digits somebody types."""
    await says(store, "hello", ALICE)

    with pytest.raises(Invalid, match="is not a number of turns"):
        await asks(store, "/undo 000000001" + "9" * 4400, ALICE)
