"""The outbox carries what is owed, whatever its platforms do."""

import asyncio
import logging
from collections import deque
from datetime import timedelta

import pytest
from structlog.contextvars import get_contextvars

from tests.databases import OpenStore
from tests.faulty_database import faulty
from tests.gateway.outbox_setup import Billboard, all_carried, carrying, soon
from threadline.core.address import Address, Kind, Sender
from threadline.core.agent import Question
from threadline.core.delivery import (
    REPEAT_MARKER,
    DeliveryState,
    SendOutcome,
)
from threadline.core.event import Cursor, EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import MediaKind, NewMessage, Role, Text, say
from threadline.core.platform import Capabilities, SendFailed
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS

HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
SHORT = Capabilities(text_limit=64)


def refused(after: timedelta | None = None) -> SendFailed:
    """Say no, so that nobody saw it."""
    return SendFailed("no", outcome=SendOutcome.REJECTED, retry_after=after)


def unclear() -> SendFailed:
    """Say nothing, so that somebody may have seen it."""
    return SendFailed("timeout", outcome=SendOutcome.AMBIGUOUS)


async def ended(store: Store, kind: EventKind) -> bool:
    """Tell whether the feed told of such an end."""
    page = await store.feed.read(Cursor("0.0"))
    return any(event.kind is kind for event in page.events)


async def failing(store: Store) -> None:
    """Wait until a delivery has failed."""
    while not await ended(store, EventKind.DELIVERY_FAILED):
        await asyncio.sleep(0.002)


async def test_what_is_owed_is_sent_at_once(store: Store) -> None:
    """The feed wakes the outbox; what was owed before it began comes first."""
    board = Billboard()
    await store.deliveries.create(HERE, "owed before")
    async with carrying(store, board) as outbox:
        await soon(lambda: board.texts == ["owed before"], "the first is sent")
        await store.deliveries.create(HERE, "owed now")
        await soon(lambda: len(board.texts) == 2, "the second is sent")
        await all_carried(store, outbox)

    assert board.texts == ["owed before", "owed now"]


async def test_order_is_kept_though_the_first_attempt_fails(open_store: OpenStore) -> None:
    """The second message waits until the first one was taken."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board = Billboard(failures=_queue(refused(timedelta(seconds=30))))
    for n in range(3):
        await store.deliveries.create(HERE, f"message {n}")
    async with carrying(store, board) as outbox:
        await soon(lambda: len(board.attempts) == 1, "the first attempt")
        await outbox.settle()
        assert len(board.attempts) == 1
        clock.advance(timedelta(seconds=31))
        await all_carried(store, outbox)

    assert board.texts == ["message 0", "message 1", "message 2"]
    keys = [outgoing.key for outgoing in board.attempts]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


async def test_a_flood_wait_pauses_one_address_only(open_store: OpenStore) -> None:
    """Others at the same platform are served meanwhile."""
    store = await open_store(clock=FakeClock())
    board = Billboard(failures=_queue(refused(timedelta(minutes=5))))
    await store.deliveries.create(HERE, "to alice")
    async with carrying(store, board):
        await soon(lambda: len(board.attempts) == 1, "the first attempt")
        await store.deliveries.create(
            Address(platform="telegram", kind=Kind.DM, chat="bob"), "to bob"
        )
        await soon(lambda: board.texts == ["to bob"], "bob is served")


async def test_a_late_renewal_does_not_cancel_the_next_attempt(open_store: OpenStore) -> None:
    """A lease that ended with its own attempt says nothing about the attempt after it."""
    store, database = faulty(await open_store())
    begins, first, second = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def renewal_begins(_: object) -> None:
        await begins.wait()

    database.before["renew_deliveries"] = renewal_begins
    board = Billboard(failures=_queue(refused(timedelta(milliseconds=1))), gate=first)
    await store.deliveries.create(HERE, "hello")
    async with carrying(store, board) as outbox:
        await soon(lambda: len(board.attempts) == 1, "the first attempt")
        renewal = asyncio.create_task(outbox.renew())
        await asyncio.sleep(0)
        board.gate = second
        first.set()
        await soon(lambda: len(board.attempts) == 2, "the second attempt")
        begins.set()
        await renewal
        second.set()
        await all_carried(store, outbox)

    assert board.texts == ["hello"]


async def test_a_platform_that_hangs_harms_no_other(store: Store) -> None:
    """However much hangs on one platform, the other one gets its messages."""
    stuck = Billboard(name="stuck", gate=asyncio.Event())
    board = Billboard()
    for n in range(100):
        chat = Address(platform="stuck", kind=Kind.DM, chat=f"{n}")
        await store.deliveries.create(chat, "never")
    async with carrying(store, stuck, board):
        await soon(lambda: len(stuck.attempts) >= 32, "much hangs")
        await store.deliveries.create(HERE, "hello")
        await soon(lambda: board.texts == ["hello"], "the other one is served")
        assert len(stuck.attempts) < 100


@pytest.mark.parametrize("failure", [unclear(), RuntimeError("odd"), TimeoutError()])
async def test_what_may_have_been_seen_is_repeated_once_and_marked(
    open_store: OpenStore, failure: Exception
) -> None:
    """Nobody is told the same thing twice without being told that it is so."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board = Billboard(failures=_queue(failure), raises_after=True)
    await store.deliveries.create(HERE, "hello")
    async with carrying(store, board) as outbox:
        await soon(lambda: len(board.attempts) == 1 and not outbox._sending, "the first attempt")
        clock.advance(timedelta(minutes=1))
        await all_carried(store, outbox)

    assert board.texts == ["hello", f"{REPEAT_MARKER}\nhello"]


async def test_a_second_doubt_is_the_last(open_store: OpenStore) -> None:
    """What is unclear twice fails, visibly."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board = Billboard(failures=_queue(unclear(), unclear(), unclear()))
    await store.deliveries.create(HERE, "hello")
    async with carrying(store, board) as outbox:
        await soon(lambda: len(board.attempts) == 1 and not outbox._sending, "the first attempt")
        clock.advance(timedelta(minutes=1))
        await all_carried(store, outbox)
        await asyncio.wait_for(failing(store), HANG_SECONDS)

    assert len(board.attempts) == 2


async def test_an_idempotent_platform_needs_no_marker(open_store: OpenStore) -> None:
    """Where the same key is shown once, the repeat reads as the first attempt."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board = Billboard(capabilities=Capabilities(idempotent=True), failures=_queue(unclear()))
    await store.deliveries.create(HERE, "hello")
    async with carrying(store, board) as outbox:
        await soon(lambda: len(board.attempts) == 1 and not outbox._sending, "the first attempt")
        clock.advance(timedelta(minutes=1))
        await all_carried(store, outbox)

    assert [(sent.key, sent.text) for sent in board.attempts] == [
        (board.attempts[0].key, "hello")
    ] * 2


async def test_a_long_text_goes_on_where_it_was_refused(open_store: OpenStore) -> None:
    """Pieces that were taken are not sent again, and no marker is needed."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board = Billboard(capabilities=SHORT, failures=_queue(None, None, refused()))
    text = " ".join(f"word{n}" for n in range(60))
    await store.deliveries.create(HERE, text)
    async with carrying(store, board) as outbox:
        await soon(lambda: len(board.attempts) == 3 and not outbox._sending, "it is refused")
        clock.advance(timedelta(minutes=1))
        await all_carried(store, outbox)

    assert " ".join(board.texts) == text
    assert all(len(piece) <= 64 for piece in board.texts)
    assert board.attempts[2].key == board.attempts[3].key


async def test_a_crash_while_sending_repeats_one_piece_marked(open_store: OpenStore) -> None:
    """Of many pieces only the one that may have been seen is sent again (ask 3)."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    first = asyncio.Event()
    stuck = Billboard(capabilities=SHORT, gate=first)
    text = " ".join(f"word{n}" for n in range(30))
    await store.deliveries.create(HERE, text)

    async with carrying(store, stuck):
        await soon(lambda: len(stuck.attempts) == 1, "it begins")
        stuck.gate = asyncio.Event()
        first.set()
        await soon(lambda: len(stuck.attempts) == 2, "the second piece is on its way")
    await store.close()

    store = await open_store(clock=clock)
    clock.advance(timedelta(minutes=3))
    await store.deliveries.recover()
    clock.advance(timedelta(minutes=1))
    board = Billboard(capabilities=SHORT)
    async with carrying(store, board) as outbox:
        await all_carried(store, outbox)

    marked = [piece.startswith(REPEAT_MARKER) for piece in board.texts]
    assert marked == [True] + [False] * (len(marked) - 1)
    said = [*stuck.texts, *board.texts]
    assert " ".join(said).replace(f"{REPEAT_MARKER}\n", "") == text


async def test_a_dead_target_fails_at_once(store: Store) -> None:
    """Where nobody is any more nothing is tried twice."""
    board = Billboard(failures=_queue(SendFailed("blocked", outcome=SendOutcome.DEAD)))
    await store.deliveries.create(HERE, "hello")
    async with carrying(store, board):
        await asyncio.wait_for(failing(store), HANG_SECONDS)

    assert [dead.why for dead in await store.dead_targets()] == ["blocked."]


async def test_files_are_sent_or_named(store: Store) -> None:
    """What a platform cannot show is at least mentioned."""
    file = await store.attachments.put(b"pages", "application/pdf", MediaKind.FILE, "report.pdf")
    with_files = Billboard(capabilities=Capabilities(attachments=True))
    without = Billboard(name="sms")
    await store.deliveries.create(HERE, "here", [file])
    await store.deliveries.create(Address(platform="sms", kind=Kind.DM, chat="1"), "here", [file])
    async with carrying(store, with_files, without) as outbox:
        await all_carried(store, outbox)

    assert (with_files.texts, with_files.files) == (["here", ""], [b"pages"])
    assert without.texts == ["here\n\n[report.pdf cannot be sent here]"]


async def test_a_question_has_buttons(store: Store) -> None:
    """Where there are buttons an answer needs one touch."""
    inbound = Inbound.text(
        "delete it", address=HERE, sender=Sender(id="alice"), at=store.now(), message_id="1"
    )
    await store.receive(inbound)
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.wait(claim.lease, Question(text="Shall I?"))
    board = Billboard(capabilities=Capabilities(buttons=True))
    async with carrying(store, board) as outbox:
        await all_carried(store, outbox)

    (asked,) = board.attempts
    assert asked.text == "Shall I?"
    id = claim.turn.id
    assert [choice.says for choice in asked.choices] == [f"/approve {id}.1", f"/deny {id}.1"]


async def test_an_idempotent_platform_is_asked_until_it_answers(open_store: OpenStore) -> None:
    """Where nothing is shown twice, silence is no reason to give up after the second attempt."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board = Billboard(
        capabilities=Capabilities(idempotent=True),
        failures=_queue(unclear(), unclear(), unclear()),
    )
    await store.deliveries.create(HERE, "hello")
    async with carrying(store, board) as outbox:
        for tries in (1, 2, 3):
            while len(board.attempts) < tries:
                await asyncio.sleep(0.002)
            await outbox.settle()
            clock.advance(timedelta(minutes=5))
            outbox.wake()
        await all_carried(store, outbox)

    assert board.texts == ["hello"]
    assert {sent.text for sent in board.attempts} == {"hello"}


async def test_an_empty_answer_is_carried_without_a_message(store: Store) -> None:
    """Who says nothing is not shown as an empty message, and holds nothing up."""
    inbound = Inbound.text(
        "hush", address=HERE, sender=Sender(id="alice"), at=store.now(), message_id="1"
    )
    await store.receive(inbound)
    claim = await store.turns.claim()
    assert claim is not None
    silence = NewMessage(role=Role.ASSISTANT, parts=(Text(text=" "),))
    await store.turns.finish(claim.lease, [silence])
    board = Billboard()
    async with carrying(store, board) as outbox:
        await all_carried(store, outbox)

    assert board.attempts == []
    assert await ended(store, EventKind.DELIVERY_SENT)


async def test_something_can_be_said_directly(store: Store) -> None:
    """A secret is said without being kept, and a platform that fails only answers False."""
    board = Billboard(failures=_queue(None, RuntimeError("odd")))
    async with carrying(store, board) as outbox:
        assert await outbox.say(HERE, "your code is 1234")
        assert not await outbox.say(HERE, "and again")
        assert not await outbox.say(Address(platform="x", kind=Kind.DM, chat="y"), "nowhere")

    assert board.texts == ["your code is 1234"]
    assert not (await store.feed.read(Cursor("0.0"))).events


async def test_what_is_being_sent_may_end(store: Store) -> None:
    """A graceful stop sends what is due, and waits for what is on its way."""
    board = Billboard(gate=asyncio.Event())
    await store.deliveries.create(HERE, "hello")
    async with carrying(store, board) as outbox:
        await soon(lambda: len(board.attempts) == 1, "it is on its way")
        draining = asyncio.create_task(outbox.drain(timedelta(hours=1)))
        await asyncio.sleep(0)
        assert board.gate is not None
        board.gate.set()
        await draining
        assert await ended(store, EventKind.DELIVERY_SENT)
        await store.deliveries.create(HERE, "too late")
        outbox.wake()
        await asyncio.sleep(0.05)

    assert board.texts == ["hello"]


async def test_two_outboxes_send_everything_once(open_store: OpenStore) -> None:
    """Processes share the work, and nothing is sent by both."""
    stores = [await open_store(), await open_store()]
    boards = [Billboard(), Billboard()]
    async with carrying(stores[0], boards[0]) as one, carrying(stores[1], boards[1]) as two:
        for n in range(40):
            chat = Address(platform="telegram", kind=Kind.DM, chat=f"{n % 7}")
            await stores[n % 2].deliveries.create(chat, f"message {n}")
        await all_carried(stores[0], one, two)

    said = [text for board in boards for text in board.texts]
    assert sorted(said) == sorted(f"message {n}" for n in range(40))


async def test_states_are_counted(store: Store) -> None:
    """The meters show what became of attempts."""
    board = Billboard()
    await store.deliveries.create(HERE, "hello")
    async with carrying(store, board) as outbox:
        await all_carried(store, outbox)
        await asyncio.sleep(0)
        meters = outbox._meters
        assert meters is not None
        line = f'threadline_deliveries_total{{platform="telegram",state="{DeliveryState.SENT}"}}'
        await soon(lambda: f"{line} 1.0" in meters.text().decode(), "it is counted")


async def test_the_lines_of_an_answer_are_one_message(store: Store) -> None:
    """What a turn said in several steps is read as one reply."""
    inbound = Inbound.text(
        "hi", address=HERE, sender=Sender(id="alice"), at=store.now(), message_id="1"
    )
    await store.receive(inbound)
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "one"), say(Role.ASSISTANT, "two")])
    board = Billboard()
    async with carrying(store, board) as outbox:
        await all_carried(store, outbox)

    assert board.texts == ["one\n\ntwo"]


def _queue(*failures: BaseException | None) -> deque[BaseException | None]:
    return deque(failures)


async def test_the_log_tells_of_a_delivery_with_its_ids(
    open_store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Every attempt is a line; one that fails again and again is a warning."""
    caplog.set_level(logging.INFO, "threadline.gateway")
    seen: list[dict[str, object]] = []
    clock = FakeClock()
    store = await open_store(clock=clock)
    board = Billboard(failures=_queue(*[refused()] * 3))

    def note_ids(_: logging.LogRecord) -> bool:
        seen.append(get_contextvars())
        return True

    caplog.handler.addFilter(note_ids)
    id = await store.deliveries.create(HERE, "hello")

    def told() -> list[logging.LogRecord]:
        return [one for one in caplog.records if one.getMessage().startswith(f"Delivery {id} ")]

    async with carrying(store, board) as outbox:
        for n in (1, 2, 3):
            await soon(lambda: len(told()) == n, "an attempt has failed")  # noqa: B023
            clock.advance(timedelta(hours=1))
        await all_carried(store, outbox)

    assert [one.levelname for one in told()] == ["INFO", "INFO", "WARNING", "INFO"]
    assert told()[-1].getMessage().startswith(f"Delivery {id} was sent ")
    assert seen
    assert all(one == {"delivery_id": id, "platform": "telegram"} for one in seen)
