"""The buttons of a question are shown once, whatever has to be sent again around it."""

import asyncio
from collections import deque
from datetime import timedelta

from tests.databases import OpenStore
from tests.gateway.outbox_setup import Billboard, all_carried, carrying, soon
from tests.gateway.worker_setup import tell
from threadline.core.address import Address, Kind, Sender
from threadline.core.agent import Question
from threadline.core.delivery import GROWING, SendOutcome, SentPiece
from threadline.core.inbound import Inbound
from threadline.core.message import MediaKind, NewMessage, Role, Text
from threadline.core.platform import Capabilities, SendFailed
from threadline.store.turns.live_reply import open_stream
from threadline.testing.clock import FakeClock

HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
REFUSAL = SendFailed("no", outcome=SendOutcome.REJECTED)


async def test_buttons_are_shown_once_though_a_file_is_sent_again(open_store: OpenStore) -> None:
    """A question that was shown with its buttons is not asked anew because of what comes after."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    file = await store.attachments.put(b"pages", "application/pdf", MediaKind.FILE, "plan.pdf")
    inbound = Inbound.text(
        "delete it", address=HERE, sender=Sender(id="alice"), at=store.now(), message_id="1"
    )
    await store.receive(inbound)
    claim = await store.turns.claim()
    assert claim is not None
    line = NewMessage(role=Role.ASSISTANT, parts=(Text(text="The plan."), file))
    await store.turns.append(claim.lease, [line])
    await store.turns.wait(claim.lease, Question(text="Shall I?"))
    board = Billboard(
        capabilities=Capabilities(buttons=True, attachments=True), failures=deque([None, REFUSAL])
    )
    async with carrying(store, board) as outbox:
        await soon(lambda: len(board.attempts) == 2, "the file is refused")
        await outbox.settle()
        clock.advance(timedelta(minutes=1))
        await all_carried(store, outbox)

    assert [len(sent.choices) for sent in board.attempts] == [2, 0, 0]
    assert board.files == [b"pages"]


async def test_buttons_under_a_streamed_question_come_once(open_store: OpenStore) -> None:
    """They have a message of their own, and a file after it that is refused brings no second."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    file = await store.attachments.put(b"pages", "application/pdf", MediaKind.FILE, "plan.pdf")
    await tell(store, "delete it")
    claim = await store.turns.claim()
    assert claim is not None
    stream = await store.database.write(open_stream, claim.lease, owner=store.database.owner)
    assert stream is not None
    can = Capabilities(edits=True, buttons=True, attachments=True)
    board = Billboard(capabilities=can, failures=deque([REFUSAL, None, REFUSAL]))
    board.seen["m0"] = "The"
    await store.deliveries.record_piece(
        stream.delivery, SentPiece(n=0, platform_id="m0", length=GROWING)
    )
    line = NewMessage(role=Role.ASSISTANT, parts=(Text(text="The plan."), file))
    await store.turns.append(claim.lease, [line])
    await store.turns.wait(claim.lease, Question(text="Shall I?"))
    async with carrying(store, board) as outbox:
        for tries in (1, 3):
            while len(board.attempts) < tries:
                await asyncio.sleep(0.002)
            await outbox.settle()
            clock.advance(timedelta(minutes=1))
            outbox.wake()
        await all_carried(store, outbox)

    assert board.texts[0] == "The plan.\n\nShall I?"
    assert [len(sent.choices) for sent in board.attempts] == [2, 2, 0, 0]
    assert len({sent.key for sent in board.attempts}) == 2
    assert board.files == [b"pages"]
