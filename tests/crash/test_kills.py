"""Kill -9 at random moments, and at every step of the way of a message."""

from collections.abc import Callable
from datetime import UTC, datetime

import apsw
import pytest

from tests.crash.acknowledged import Ledger, Trouble
from tests.crash.dying_database import Moment, Step
from tests.crash.kill_runs import Victim
from tests.crash.verify import Look, broken_feed, broken_laws, broken_promises, looking
from tests.databases import DURABLE, POSTGRES, DatabaseFactory, OpenStore, on
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.session import SessionId

SEED = 20
KILLS = {DURABLE: 20, POSTGRES: 8}
WAY = (
    "receive",
    "claim",
    "checkpoint",
    "append",
    "take_steering",
    "finish",
    "lease_deliveries",
    "record_sent",
    "wait",
    "answer",
    "fail",
    "reset",
    "add_messages",
)


@on(DURABLE, POSTGRES)
async def test_nothing_acknowledged_is_lost_or_doubled(database_factory: DatabaseFactory) -> None:
    """After each of many kills under load the store just opens, and every promise is kept."""
    victim = Victim(database_factory.where, SEED)
    kills = KILLS[database_factory.kind]
    # However slow the machine is: the last one dies only when there was enough to lose.
    far = Step(verb="finish", moment=Moment.COMMITTED, nth=20)

    for number in range(1, kills + 1):
        problems = await victim.kill(far if number == kills else None, whole=number == kills)
        assert not problems, f"kill {number} of seed {SEED}:\n" + "\n".join(map(str, problems))

    assert victim.ledger.did["finish"] > 0
    assert victim.ledger.acknowledged > 100


@on(DURABLE)
@pytest.mark.parametrize("verb", WAY)
async def test_every_step_of_the_way_may_be_the_last(
    database_factory: DatabaseFactory, verb: str
) -> None:
    """Killed inside a verb, after its commit, or after its answer: the next start goes on."""
    victim = Victim(database_factory.where, SEED)

    for moment in Moment:
        if (verb, moment) == ("take_steering", Moment.TOLD):
            continue  # Nobody is told of it.
        problems = await victim.kill(Step(verb=verb, moment=moment), whole=True)
        assert not problems, f"at {verb} {moment}:\n" + "\n".join(map(str, problems))


@on(POSTGRES)
@pytest.mark.parametrize("verb", ["receive", "claim", "append", "finish"])
async def test_an_open_transaction_dies_with_its_client(
    database_factory: DatabaseFactory, verb: str
) -> None:
    """A client killed inside a transaction leaves nothing of it, and no lock either."""
    victim = Victim(database_factory.where, SEED)

    for moment in (Moment.INSIDE, Moment.COMMITTED):
        problems = await victim.kill(Step(verb=verb, moment=moment), whole=True)
        assert not problems, f"at {verb} {moment}:\n" + "\n".join(map(str, problems))


TAMPERING: dict[str, tuple[Callable[[Ledger], None], str | None, Trouble]] = {
    "a message is gone": (
        lambda ledger: None,
        """DELETE FROM messages WHERE key = (SELECT max(message_key) FROM arrivals
           WHERE kind = 'message')""",
        Trouble.LOST,
    ),
    "a message stands twice": (
        lambda ledger: None,
        """INSERT INTO messages (session_key, role, text, at) SELECT session_key, role, text, at
           FROM messages WHERE role = 'user' AND deleted_at IS NULL LIMIT 1""",
        Trouble.DOUBLED,
    ),
    "a number is left out": (
        lambda ledger: None,
        """UPDATE messages SET seq = 1000000 WHERE key = (SELECT max(key) FROM messages
           WHERE seq IS NOT NULL)""",
        Trouble.DISORDER,
    ),
    "an event is gone": (
        lambda ledger: None,
        "DELETE FROM events WHERE id = (SELECT max(id) FROM events)",
        Trouble.DISORDER,
    ),
    "a message never came": (
        lambda ledger: ledger.messages.update({"never": 0}),
        None,
        Trouble.LOST,
    ),
    "an edit is missing": (
        lambda ledger: ledger.messages.update(dict.fromkeys(ledger.messages, 10**6)),
        None,
        Trouble.LOST,
    ),
    "a piece is missing": (lambda ledger: ledger.pieces.update({1: ["<x>"]}), None, Trouble.LOST),
    "a line is missing": (lambda ledger: ledger.lines.append(("s", 1, "x")), None, Trouble.LOST),
    "an end is missing": (lambda ledger: ledger.ends.update({10**6: "done"}), None, Trouble.LOST),
    "a reply was not sent": (lambda ledger: ledger.sent.add(10**6), None, Trouble.DOUBLED),
}


@on(DURABLE)
async def test_the_verification_can_fail(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """Whatever is taken away from a store, or added to it behind our back, is found."""
    victim = Victim(database_factory.where, SEED)
    while not victim.ledger.did["finish"]:
        assert not await victim.kill()

    for name, (forge, sql, trouble) in TAMPERING.items():
        ledger = Ledger()
        ledger.add(victim.ledger)
        forge(ledger)
        hand = apsw.Connection(database_factory.where)
        hand.execute("BEGIN")
        if sql is not None:
            hand.execute(sql)
        found = [*broken_laws(_through(hand)), *broken_promises(_through(hand), ledger)]
        hand.execute("ROLLBACK")
        hand.close()
        assert trouble in {problem.trouble for problem in found}, name
    with looking(database_factory.where) as look:
        assert not broken_laws(look)


def test_a_gap_in_the_feed_is_found() -> None:
    """A feed that leaves out a revision, or lets two turns run at once, does not pass."""

    def event(revision: int, kind: EventKind, subject: int) -> Event:
        return Event(
            cursor=Cursor(f"0.{revision}"),
            kind=kind,
            session_id=SessionId("s"),
            revision=revision,
            subject=subject,
            at=datetime.now(UTC),
        )

    first, second = event(1, EventKind.TURN_RUNNING, 7), event(2, EventKind.TURN_DONE, 7)
    third = event(3, EventKind.TURN_RUNNING, 8)
    assert not broken_feed([first, second, third], {})
    assert broken_feed([first, third], {})
    assert broken_feed([first, event(2, EventKind.TURN_RUNNING, 8)], {})
    assert broken_feed([second], {"s": 0})


def _through(hand: apsw.Connection) -> Look:
    return lambda sql: hand.execute(sql).fetchall()
