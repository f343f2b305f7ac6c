"""What an agent is shown of a conversation, and of the place where it is."""

import pytest
from msgspec.structs import replace

from tests.databases import OpenStore
from tests.gateway.worker_setup import becomes, tell, unhurried
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.instructions import Instructions
from threadline.core.message import (
    Attachment,
    BlobHash,
    MediaKind,
    Message,
    MessageKey,
    Part,
    Role,
    Text,
)
from threadline.core.person import Identity
from threadline.core.platform import Capabilities, PlatformDirectory
from threadline.core.session import SessionId
from threadline.core.turn import TurnState
from threadline.core.validation import TEXT_LIMIT
from threadline.gateway.request import name_sender
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.turns.pseudonyms import make_pseudonymizer
from threadline.testing.clock import FakeClock
from threadline.testing.scripted_agent import ScriptedAgent

PICTURE = Attachment(kind=MediaKind.IMAGE, blob=BlobHash("0" * 64), media_type="image/png", size=1)
THREAD = Address(platform="discord", kind=Kind.GROUP, chat="family", thread="holidays")


def line(*parts: Part, name: str | None = "Alice", id: str | None = "a1") -> Message:
    return Message(
        key=MessageKey(1),
        session_id=SessionId("20260302_090000_00000001"),
        seq=1,
        role=Role.USER,
        parts=parts,
        at=FakeClock()(),
        sender_id=id,
        sender_name=name,
    )


@pytest.mark.parametrize("length", [TEXT_LIMIT - 8, TEXT_LIMIT - 7, TEXT_LIMIT])
def test_a_long_text_is_named_too(length: int) -> None:
    """The name stands before the text, in one part with it or, where that is full, in its own."""
    shown = name_sender(line(PICTURE, Text(text="x" * length))).parts
    texts = [part.text for part in shown if isinstance(part, Text)]

    assert shown[0] == PICTURE
    assert "".join(texts).replace(" ", "") == "[Alice]" + "x" * length
    assert len(texts) == (1 if length + len("[Alice] ") <= TEXT_LIMIT else 2)


def test_no_name_is_too_long_or_looks_like_somebody_else() -> None:
    """A name is one short line without brackets; who has none is named by their id."""
    words = Text(text="hi")

    assert len(name_sender(line(words, name="x" * TEXT_LIMIT)).text) < 300
    assert name_sender(line(words, name="Al\n[Bob] ice\x1b")).text == "[Al (Bob) ice] hi"
    assert name_sender(line(words, name="\u202e")).text == "[a1] hi"
    assert name_sender(line(words, name=None, id=None)).text == "[somebody] hi"
    assert name_sender(line(PICTURE)).parts == (Text(text="[Alice]"), PICTURE)
    notice = replace(line(words), role=Role.SYSTEM)
    assert name_sender(notice) is notice


async def test_the_longest_message_does_not_end_a_shared_conversation(
    open_store: OpenStore,
) -> None:
    """Somebody sends as much as a message holds: that turn is answered, and so is the next."""
    store: Store = await open_store()
    agent = ScriptedAgent()
    async with Worker(store, agent, pace=unhurried()):
        for n, text in enumerate(["x" * TEXT_LIMIT, "and now?"]):
            inbound = Inbound.text(
                text,
                address=THREAD,
                sender=Sender(id="alice", name="Alice"),
                at=store.now(),
                message_id=str(n),
            )
            await becomes(store, (await store.receive(inbound)).turn_id, TurnState.DONE)

    assert agent.lines(Role.USER) == ["[Alice]\n" + "x" * TEXT_LIMIT, "[Alice] and now?"]


async def test_a_branch_of_a_shared_conversation_names_its_people(open_store: OpenStore) -> None:
    """No route is bound to it, and still each line says who said it."""
    store: Store = await open_store()
    agent, arrivals = ScriptedAgent(), []
    async with Worker(store, agent, pace=unhurried()):
        for name in ("Alice", "Bob"):
            inbound = Inbound.text(
                f"I am {name}",
                address=THREAD,
                sender=Sender(id=name.lower(), name=name),
                at=store.now(),
                message_id=name,
            )
            arrivals.append(await store.receive(inbound))
            await becomes(store, arrivals[-1].turn_id, TurnState.DONE)
        assert arrivals[0].session_id is not None
        branch = await store.transcripts.branch(arrivals[0].session_id)
        retried = await store.transcripts.retry(branch.id)
        await becomes(store, retried.turn_id, TurnState.DONE)

    assert agent.last.session.id == branch.id
    assert agent.lines(Role.USER) == ["[Alice] I am Alice", "[Bob] I am Bob"]


async def test_who_has_no_name_is_named_by_a_hash_where_ids_are_hidden(
    open_store: OpenStore,
) -> None:
    """In a shared conversation neither the text nor the data of a line shows an id."""
    store: Store = await open_store()
    agent = ScriptedAgent()
    around = PlatformDirectory(capabilities={"signal": Capabilities(raw_ids=False)}, redact=True)
    group = replace(THREAD, platform="signal")
    async with Worker(store, agent, pace=unhurried(), surroundings=lambda: around):
        inbound = Inbound.text(
            "hi", address=group, sender=Sender(id="+49170"), at=store.now(), message_id="1"
        )
        await becomes(store, (await store.receive(inbound)).turn_id, TurnState.DONE)

    hidden = (await make_pseudonymizer(store.database)).user("signal", "+49170")
    assert agent.lines(Role.USER) == [f"[{hidden}] hi"]
    assert [line.sender_id for line in agent.last.history if line.sender_id] == [hidden]
    assert "+49170" not in agent.last.instructions


async def test_what_opens_the_sessions_of_a_chat_is_told_there_alone(
    open_store: OpenStore,
) -> None:
    """Instructions for one chat reach the agent there, and nowhere else."""
    store: Store = await open_store()
    agent = ScriptedAgent()
    rule = Instructions(text="Answer in French.", platform="telegram", chat="alice")
    around = PlatformDirectory(instructions=(rule,))
    async with Worker(store, agent, pace=unhurried(), surroundings=lambda: around):
        for who in ("alice", "bob"):
            await becomes(store, (await tell(store, "hi", who=who)).turn_id, TurnState.DONE)

    french = ["Answer in French." in request.instructions for request in agent.requests]
    assert french == [True, False]


async def test_home_channels_are_told(open_store: OpenStore) -> None:
    """With tools that send, the agent is told the homes: of the settings, then of a chat."""
    store: Store = await open_store()
    agent = ScriptedAgent()
    configured = Address(platform="telegram", kind=Kind.DM, chat="42")
    around = PlatformDirectory(
        capabilities={"telegram": Capabilities()}, homes=(configured,), has_delivery_tools=True
    )
    home = Address(platform="telegram", kind=Kind.GROUP, chat="-1", chat_name="Family")
    async with Worker(store, agent, pace=unhurried(), surroundings=lambda: around):
        await becomes(store, (await tell(store, "one")).turn_id, TurnState.DONE)
        await store.deliveries.set_home(home)
        await becomes(store, (await tell(store, "two")).turn_id, TurnState.DONE)

    before, after = (request.context for request in agent.requests)
    assert [spot.target for spot in before.homes] == ["telegram:42"]
    assert [spot.target for spot in after.homes] == ["telegram:-1"]
    assert before.targets == after.targets == ("origin", "local", "telegram", "all")
    assert 'telegram "Family" ("telegram:-1")' in agent.last.instructions


async def test_a_message_that_is_forgotten_leaves_no_id(open_store: OpenStore) -> None:
    """Where a shared transcript stays, the platform's ids of what somebody said there go."""
    store: Store = await open_store()
    inbound = replace(
        Inbound.text(
            "hi", address=THREAD, sender=Sender(id="alice"), at=store.now(), message_id="m-1"
        ),
        reply_to="m-0",
        observed=True,
    )
    arrival = await store.receive(inbound)
    assert arrival.session_id is not None
    *_, before = await store.transcripts.read(arrival.session_id)
    await store.people.delete(Identity(platform="discord", id="alice"))
    after = await store.transcripts.read(arrival.session_id, hidden=True)

    assert (before.platform_id, before.reply_to) == ("m-1", "m-0")
    assert after
    assert {(line.platform_id, line.reply_to) for line in after} == {(None, None)}
