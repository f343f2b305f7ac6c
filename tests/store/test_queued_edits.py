"""Messages that wait are changed and taken back, but not once somebody has begun to answer."""

import asyncio

import pytest

from tests.databases import OpenStore
from tests.store.command_setup import both
from threadline.core.account import Account
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Conflict, Invalid, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.message import MessageKey, Part, Text
from threadline.core.session import SessionId
from threadline.core.settings import EditMode, Settings
from threadline.core.turn import TurnState
from threadline.store import Store

ANYTHING: tuple[Part, ...] = (Text(text="something else"),)


async def queue_up(store: Store, who: Account, *texts: str) -> tuple[SessionId, list[MessageKey]]:
    """Let somebody say several things in one conversation, none of which is answered yet."""
    arrivals = [
        await store.receive(
            Inbound.text(
                text,
                address=who.place("t"),
                sender=who.sender,
                at=store.now(),
                message_id=f"{who.key}-{n}",
            )
        )
        for n, text in enumerate(texts)
    ]
    id = arrivals[-1].session_id
    assert id is not None
    return id, [one.key for one in await store.transcripts.waiting(id)]


@both
async def test_a_turn_that_has_begun_is_not_changed(open_store: OpenStore) -> None:
    """Neither its words, nor its run: whoever wanted that is told, and can say it anew."""
    store = await open_store(rules=Settings(edits=EditMode.RERUN))
    owner = await store.owner_account()
    id, (key,) = await queue_up(store, owner, "one")
    claim = await store.turns.claim()
    assert claim is not None
    before, cursor = await store.transcripts.read(id), await store.feed.end()

    for late in (
        store.change_queued(id, key, ANYTHING, owner.sender),
        store.take_back(id, key, owner.sender),
        store.take_back(id, key, Sender(id="somebody")),
    ):
        with pytest.raises(Conflict, match="no longer waiting"):
            await late

    assert await store.transcripts.read(id) == before
    assert (await store.turns.get(claim.turn.id)).state is TurnState.RUNNING
    assert (await store.feed.read(cursor)).events == []
    assert await store.transcripts.revisions(key) == []


@both
async def test_whoever_changes_a_message_is_answered_with_their_words(store: Store) -> None:
    """From several tabs at once: nobody is shown what another one wrote, and none is lost."""
    owner = await store.owner_account()
    id, (_, key) = await queue_up(store, owner, "one", "two")
    words = ["three", "four", "five", "six"]

    answers = await asyncio.gather(
        *(store.change_queued(id, key, (Text(text=text),), owner.sender) for text in words)
    )

    assert [one.text for one in answers] == words
    kept = [plain for one in await store.transcripts.revisions(key) for plain in one.parts]
    assert sorted(str(part) for part in kept) == sorted(
        str(Text(text=text))
        for text in ("two", *set(words) - {(await store.transcripts.waiting(id))[1].text})
    )


@both
async def test_ones_own_words_are_taken_back(store: Store) -> None:
    """They never run; of a turn that answers others, too, the rest does."""
    owner, ada = await store.owner_account(), await store.make_account("ada")
    id, (first, second) = await queue_up(store, owner, "one", "two")
    turn = (await store.transcripts.waiting(id))[1].turn_id

    assert await store.take_back(id, second, owner.sender) == turn
    with pytest.raises(NotFound):
        await store.take_back(id, second, owner.sender)
    assert await store.take_back(id, first, ada.sender) is not None, "what others said"
    assert await store.transcripts.waiting(id) == []
    states = {one.state for one in await store.turns.list(id)}
    assert states == {TurnState.STOPPED}


@both
async def test_nobody_speaks_with_the_words_of_others(store: Store) -> None:
    """Neither an owner for a member, nor somebody who has the same id on a platform."""
    owner, ada = await store.owner_account(), await store.make_account("ada")
    id, (key,) = await queue_up(store, ada, "one")
    elsewhere = Inbound.text(
        "mine",
        address=Address(platform="irc", kind=Kind.DM, chat="owner"),
        sender=Sender(id=owner.sender.id),
        at=store.now(),
        message_id="7",
    )
    there = (await store.receive(elsewhere)).session_id
    assert there is not None
    (foreign,) = await store.transcripts.waiting(there)

    for session, message in ((id, key), (there, foreign.key)):
        with pytest.raises(Refused):
            await store.change_queued(session, message, ANYTHING, owner.sender)
    with pytest.raises(NotFound):
        await store.change_queued(there, key, ANYTHING, ada.sender)
    with pytest.raises(NotFound):
        await store.change_queued(id, MessageKey(99), ANYTHING, ada.sender)
    with pytest.raises(Invalid):
        await store.change_queued(id, key, (), ada.sender)
    assert [one.text for one in await store.transcripts.waiting(id)] == ["one"]
