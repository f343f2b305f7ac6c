"""What an agent is shown of a conversation that several people share."""

from dataclasses import replace

import pytest

from tests.databases import OpenStore
from tests.gateway.scene import becomes, unhurried
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
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
from threadline.core.session import SessionId
from threadline.core.text import TEXT_LIMIT
from threadline.core.turn import TurnState
from threadline.gateway.request import name_sender
from threadline.gateway.worker import Worker
from threadline.sessions.store import Store
from threadline.testing.agent import ScriptedAgent
from threadline.testing.clock import FakeClock

PICTURE = Attachment(kind=MediaKind.IMAGE, blob=BlobHash("0" * 64), media_type="image/png", size=1)
THREAD = Address(platform="discord", kind=Kind.GROUP, chat="family", thread="holidays")


def line(*parts: Part, name: str | None = "Alice", id: str | None = "a1") -> Message:
    return Message(
        key=MessageKey(1),
        session_id=SessionId("s"),
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
            await becomes(store, (await store.arrive(inbound)).turn_id, TurnState.DONE)

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
            arrivals.append(await store.arrive(inbound))
            await becomes(store, arrivals[-1].turn_id, TurnState.DONE)
        assert arrivals[0].session_id is not None
        branch = await store.branch(arrivals[0].session_id)
        retried = await store.retry(branch.id)
        await becomes(store, retried.turn_id, TurnState.DONE)

    assert agent.last.session.id == branch.id
    assert agent.lines(Role.USER) == ["[Alice] I am Alice", "[Bob] I am Bob"]
