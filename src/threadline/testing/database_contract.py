"""The database contract: what every database must do, as code that can be run against it.

An adapter's own test is one call for each obligation, on a ground that nobody has used before:

    @pytest.mark.parametrize("obligation", OBLIGATIONS, ids=name_of)
    async def test_the_contract(obligation, ground):
        await obligation(ground)
"""

import asyncio
import subprocess
import sys
import threading
from datetime import timedelta

from threadline.core.errors import Conflict, NotFound, StorageError
from threadline.core.turn import OwnerId
from threadline.store import Store
from threadline.store.blobs import BLOB_LIMIT, hash_of, pieces_of, put_piece, read_piece
from threadline.store.feed import feed_end
from threadline.testing.database_maintenance_contract import CARE
from threadline.testing.database_target import DatabaseTarget, Obligation
from threadline.testing.database_verbs import (
    QUIET,
    STRANGER,
    arrive_slowly,
    count_slowly,
    error_of,
    follow_until_stored,
    knows,
    look,
    note,
    note_all,
    note_and_fail,
    note_late,
    note_many,
    note_slowly,
    quiet,
    raise_error,
    wait_for,
)
from threadline.testing.deadline import HANG_SECONDS

CROWD = 64
_SOON = timedelta(seconds=HANG_SECONDS)


def name_of(obligation: Obligation) -> str:
    """Name an obligation for a test's report."""
    return getattr(obligation, "__name__", str(obligation))


# ── What it does with verbs and values ───────────────────────────────────────────────────────────


async def what_is_written_can_be_read(ground: DatabaseTarget) -> None:
    """A write returns after its commit: from then on everybody sees it, also after reopening."""
    first, second = await ground(), await ground()

    assert await first.write(note, "a") == "a"

    assert await first.read(knows, "a")
    assert await second.read(knows, "a")
    await first.close()
    await second.close()
    assert await (await ground()).read(knows, "a")


async def values_come_back_as_they_were(ground: DatabaseTarget) -> None:
    """Numbers of 64 bits, any text, and nothing at all come back unchanged."""
    database = await ground()
    texts = [
        "",
        " ",
        "%s %(a)s :id ? $1",
        "'\"\\",
        "é e\u0301 漢 🧵 \u202e \x01 \U0010ffff",
        "x" * 100_000,
    ]
    for at, text in enumerate(texts):
        await database.write(note, f"text {at}", outcome=text)
        assert (await database.read(look, f"text {at}")).text("outcome") == text
    for number in (0, -1, 2**31, -(2**63), 2**63 - 1):
        await database.write(note, f"number {number}", number=number)
        assert (await database.read(look, f"number {number}")).number("turn_id") == number
    await database.write(note, "nothing", number=None)
    assert (await database.read(look, "nothing")).number_or_none("turn_id") is None


async def large_bytes_come_back_as_they_were(ground: DatabaseTarget) -> None:
    """An attachment of the largest size comes back piece by piece, byte for byte."""
    database = await ground()
    data = bytes(range(256)) * (BLOB_LIMIT // 256)
    name = hash_of(data)
    pieces = pieces_of(data)

    for n, piece in enumerate(pieces):
        await database.write(put_piece, name, n, piece)

    for n, piece in enumerate(pieces):
        assert await database.read(read_piece, name, n) == piece
    assert await database.read(read_piece, name, len(pieces)) is None


async def a_failing_verb_leaves_nothing(ground: DatabaseTarget) -> None:
    """The error of a verb is raised as it is, and everything the verb did before is undone."""
    database = await ground()
    for error in (NotFound("not here", id="7"), ValueError("a bug"), KeyError("another")):
        raised = await error_of(database.write(note_and_fail, "a", error))
        assert raised is error
        assert not await database.read(knows, "a")
        assert await error_of(database.read(raise_error, error)) is error
    assert await database.write(note, "a") == "a"


async def a_broken_rule_is_a_conflict(ground: DatabaseTarget) -> None:
    """What a constraint forbids raises Conflict, and the whole verb is undone."""
    database = await ground()
    await database.write(note, "a")

    assert isinstance(await error_of(database.write(note_all, ["b", "a"])), Conflict)
    assert isinstance(await error_of(database.write(note_many, ["b", "c", "a"])), Conflict)

    assert not await database.read(knows, "b")
    await database.write(note_many, ["b", "c"])
    await database.write(note_many, ["d"])
    await database.write(note_many, [])
    assert all([await database.read(knows, name) for name in "abcd"])


async def one_failure_harms_nobody_else(ground: DatabaseTarget) -> None:
    """Of many verbs at once those that fail raise their own error, and all others are stored."""
    database = await ground()
    await database.write(note, "taken")
    for n, bad in enumerate((NotFound("gone"), ValueError("a bug"), None)):
        names = [f"{n}.{at}" for at in range(CROWD)]
        calls = [
            database.write(note, name if bad is not None or at != 7 else "taken")
            if bad is None or at != 7
            else database.write(note_and_fail, name, bad)
            for at, name in enumerate(names)
        ]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)

        failed = [at for at, outcome in enumerate(outcomes) if isinstance(outcome, Exception)]
        assert failed == [7]
        assert outcomes[7] is bad or (bad is None and isinstance(outcomes[7], Conflict))
        stored = [await database.read(knows, name) for name in names]
        assert stored == [at != 7 for at in range(CROWD)]


async def a_read_sees_one_state(ground: DatabaseTarget) -> None:
    """A query sees the store at one moment, whatever is committed while it looks around."""
    reader, writer = await ground(), await ground()
    over = False

    async def write_pairs() -> int:
        n = 0
        while not over:
            await writer.write(note_all, [f"left {n}", f"right {n}"])
            # Slower than the reader, who would never come to an end otherwise.
            await asyncio.sleep(0.005)
            n += 1
        return n

    writing = asyncio.create_task(write_pairs())
    try:
        for _ in range(20):
            lefts, rights = await reader.read(count_slowly)
            assert lefts == rights
    finally:
        over = True
        written = await writing
    assert await reader.read(count_slowly) == (written, written)


# ── What it does for callers that are cancelled, and at its end ──────────────────────────────────


async def a_verb_that_has_not_started_can_be_withdrawn(ground: DatabaseTarget) -> None:
    """Who is cancelled while the verb still waits gets away at once, and nothing is stored."""
    database = await ground()
    go_on = threading.Event()
    busy = [asyncio.create_task(database.write(wait_for, go_on)) for _ in range(CROWD)]
    await asyncio.sleep(0.1)
    waiting = asyncio.create_task(database.write(note, "withdrawn"))
    await asyncio.sleep(0.05)

    waiting.cancel()
    done, _ = await asyncio.wait([waiting], timeout=HANG_SECONDS)
    go_on.set()

    assert done == {waiting}
    assert waiting.cancelled()
    await asyncio.gather(*busy)
    assert not await database.read(knows, "withdrawn")


async def a_verb_that_has_started_is_waited_for(ground: DatabaseTarget) -> None:
    """Who is cancelled while the verb runs learns of it after its end, however often that is."""
    database = await ground()
    started, go_on = threading.Event(), threading.Event()
    running = asyncio.create_task(database.write(note_late, "kept", started, go_on))
    await asyncio.to_thread(started.wait, HANG_SECONDS)

    for _ in range(3):
        running.cancel()
        await asyncio.wait([running], timeout=0.05)
        assert not running.done()
    go_on.set()

    await asyncio.wait([running], timeout=HANG_SECONDS)
    assert running.cancelled()
    assert await database.read(knows, "kept")


async def closing_finishes_what_was_begun(ground: DatabaseTarget) -> None:
    """Verbs that were handed over before the close are carried out and answered."""
    database = await ground()
    names = [str(n) for n in range(CROWD)]
    calls = [asyncio.create_task(database.write(note_slowly, name)) for name in names]
    await asyncio.sleep(0)

    await database.close()

    assert await asyncio.gather(*calls) == names
    again = await ground()
    assert all([await again.read(knows, name) for name in names])


async def nothing_is_taken_in_after_the_close(ground: DatabaseTarget) -> None:
    """Who comes after the close, even a second close, is told so and does not wait for ever."""
    database = await ground()
    await database.close()
    await database.close()

    for call in (database.write(note, "a"), database.read(knows, "a")):
        assert isinstance(await asyncio.wait_for(error_of(call), HANG_SECONDS), StorageError)


# ── What it does for others ──────────────────────────────────────────────────────────────────────


async def a_watch_wakes_for_every_commit(ground: DatabaseTarget) -> None:
    """A watch notices commits of its own process and of others, and is silent without any."""
    mine, other = await ground(), await ground()
    with mine.watch() as watch:
        await quiet(watch)
        for n, writer in enumerate((mine, other, mine, other)):
            await writer.write(note, str(n))
            assert await watch.wait(_SOON), "a commit was not noticed"
            await quiet(watch)
        # What is committed while nobody waits is not forgotten.
        await other.write(note, "meanwhile")
        await asyncio.sleep(QUIET.total_seconds())
        assert await watch.wait(_SOON)


async def a_dead_owner_is_noticed(ground: DatabaseTarget) -> None:
    """A process that was killed is known to be dead soon; one that lives, and oneself, never."""
    database, friend = await ground(), await ground()
    process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own program, and only a contract
        [sys.executable, "-c", STRANGER, ground.where], stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            stranger = OwnerId((await asyncio.to_thread(process.stdout.readline)).strip())
            everybody = frozenset({database.owner, friend.owner, stranger})
            assert len(everybody) == 3
            assert await database.dead(everybody) == frozenset()
        finally:
            process.kill()
    dead: frozenset[OwnerId] = frozenset()
    async with asyncio.timeout(HANG_SECONDS):
        while not dead:
            dead = await database.dead(everybody)
    assert dead == {stranger}
    assert await friend.dead(everybody) == {stranger}


async def the_feed_skips_nothing(ground: DatabaseTarget) -> None:
    """A follower sees every event of every session, in order of revision and without a gap.

    Many write at the same time, and some commit long after they wrote.
    """
    databases = [await ground() for _ in range(3)]
    reader = Store(databases[0])
    begin = await reader.database.read(feed_end)
    rounds, writers = 12, 8

    async def write(writer: int) -> None:
        database = databases[writer % 3]
        for n in range(rounds):
            pause = 0.02 if (n + writer) % 4 == 0 else 0.0
            # Half of them talk in a chat of their own, the others all in one.
            chat = str(writer) if writer % 2 else "all"
            await database.write(arrive_slowly, chat, f"{writer}-{n}", pause)

    following = asyncio.create_task(follow_until_stored(reader, begin, messages=rounds * writers))
    await asyncio.gather(*(write(writer) for writer in range(writers)))
    seen = await asyncio.wait_for(following, HANG_SECONDS)

    assert len(seen) == 1 + writers // 2
    for revisions in seen.values():
        assert revisions == list(range(1, len(revisions) + 1))


OBLIGATIONS: tuple[Obligation, ...] = (
    what_is_written_can_be_read,
    values_come_back_as_they_were,
    large_bytes_come_back_as_they_were,
    a_failing_verb_leaves_nothing,
    a_broken_rule_is_a_conflict,
    one_failure_harms_nobody_else,
    a_read_sees_one_state,
    a_verb_that_has_not_started_can_be_withdrawn,
    a_verb_that_has_started_is_waited_for,
    closing_finishes_what_was_begun,
    nothing_is_taken_in_after_the_close,
    a_watch_wakes_for_every_commit,
    a_dead_owner_is_noticed,
    the_feed_skips_nothing,
    *CARE,
)
