"""Kill -9 of a whole gateway, at random and at every step: everybody is answered, in order."""

import ast
from collections.abc import AsyncIterator, Callable

import apsw
import pytest

from tests.architecture.source import PACKAGE
from tests.crash.acknowledged import Problem, Trouble
from tests.crash.dying_database import Moment, Step
from tests.crash.gateway.chat_platform import Exchange, Shown
from tests.crash.gateway.invariants import Casualties, asked_again, broken_in_the_end
from tests.crash.gateway.kill_runs import ServingVictim, serving_victim
from tests.databases import DURABLE, POSTGRES, DatabaseFactory, on
from threadline.core.delivery import REPEAT_MARKER

SEED = 4
KILLS = {DURABLE: 20, POSTGRES: 8}
UNDER_WAY = 7
"""So often a step is taken before it is the last one, so that much else goes on beside it."""
AT_THE_START = ("interrupt", "recover_deliveries", "recover")
WAY = (
    "receive",
    "claim",
    "checkpoint",
    "append",
    "finish",
    "open_stream",
    "lease_deliveries",
    "record_piece",
    "record_sent",
)
STEPS = (
    *(Step(verb=verb, moment=moment, nth=UNDER_WAY)
      for verb in WAY for moment in (Moment.INSIDE, Moment.COMMITTED)),
    *(Step(verb=verb, moment=moment, nth=UNDER_WAY)
      for verb in ("take", "send") for moment in (Moment.INSIDE, Moment.TOLD)),
    *(Step(verb="edit", moment=moment) for moment in (Moment.INSIDE, Moment.TOLD)),
    *(Step(verb="ack", moment=moment, nth=2) for moment in (Moment.INSIDE, Moment.TOLD)),
    *(Step(verb=verb, moment=moment)
      for verb in AT_THE_START for moment in (Moment.INSIDE, Moment.COMMITTED)),
)  # fmt: skip


@pytest.fixture
async def victim(database_factory: DatabaseFactory) -> AsyncIterator[ServingVictim]:
    """Have a fresh store that is served, and people who write."""
    async with serving_victim(database_factory.where, SEED) as victim:
        yield victim


@on(DURABLE, POSTGRES)
async def test_everybody_is_answered_once_and_in_order(
    victim: ServingVictim, database_factory: DatabaseFactory
) -> None:
    """After each of many kills under load, and in the end, every promise to people is kept."""
    kills = KILLS[database_factory.kind]
    for number in range(1, kills + 1):
        assert_kept(await victim.kill(), f"kill {number} of seed {SEED}")
    assert_kept(await victim.rest(), f"the end of seed {SEED}")

    assert len(victim.exchange.acknowledged) > 100
    assert any(one.edits for one in victim.exchange.shown)


@on(DURABLE)
async def test_every_step_of_serving_may_be_the_last(victim: ServingVictim) -> None:
    """Wherever on the way of a message a gateway dies, the next one goes on from there."""
    for step in STEPS:
        assert_kept(await victim.kill(step), f"at {step}")
    assert_kept(await victim.rest(), "the end")

    assert any(one.is_marked for one in victim.exchange.shown)


@pytest.mark.parametrize("verb", [*WAY, *AT_THE_START])
def test_every_step_is_a_verb_of_the_store(verb: str) -> None:
    """A step that no process takes would never kill one, and the load would go on without end."""
    verbs = {
        node.name.lstrip("_")
        for path in (PACKAGE / "store").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }

    assert verb in verbs


def assert_kept(problems: list[Problem], when: str) -> None:
    """Fail with all that is wrong."""
    assert not problems, f"{when}:\n" + "\n".join(str(problem)[:1000] for problem in problems[:20])


def _long_answer(exchange: Exchange) -> list[Shown]:
    """Find the messages of an answer that took several and was never repeated."""
    for one in exchange.shown:
        pieces = [other for other in exchange.shown if other.delivery == one.delivery]
        if len(pieces) > 2 and not any(piece.is_marked for piece in pieces):
            return pieces
    raise AssertionError("No answer was long")


def _show_again(exchange: Exchange, text: str = "") -> None:
    old = _long_answer(exchange)[1]
    again = Shown(
        id="x", platform=old.platform, chat=old.chat, key=old.key, text=text + old.text, round=0
    )
    exchange.shown.insert(exchange.shown.index(old) + 1, again)


def _swap(exchange: Exchange) -> None:
    """Show an answer before the one to an earlier question."""
    chat = _long_answer(exchange)[0].chat
    at = [n for n, one in enumerate(exchange.shown) if one.chat == chat and one.tokens]
    first, last = at[0], at[-1]
    exchange.shown[first], exchange.shown[last] = exchange.shown[last], exchange.shown[first]


FORGERIES: dict[str, tuple[Callable[[Exchange], None], Trouble]] = {
    "a message of an answer was never shown": (
        lambda exchange: exchange.shown.remove(_long_answer(exchange)[1]),
        Trouble.LOST,
    ),
    "a message reads differently": (
        lambda exchange: setattr(_long_answer(exchange)[0], "text", "Hm?"),
        Trouble.LOST,
    ),
    "a message begins with an empty line": (
        lambda exchange: setattr(
            _long_answer(exchange)[1], "text", "\n" + _long_answer(exchange)[1].text
        ),
        Trouble.LOST,
    ),
    "a message was shown twice": (_show_again, Trouble.UNMARKED),
    "answers came in another order": (_swap, Trouble.DISORDER),
    "a message never came": (lambda exchange: exchange.acknowledged.add("0.999"), Trouble.LOST),
}
TAMPERING: dict[str, tuple[str, Trouble]] = {
    "a turn is still queued": (
        "UPDATE turns SET state = 'queued', ended_at = NULL WHERE id = 1",
        Trouble.LOST,
    ),
    "a turn failed for no reason": ("UPDATE turns SET state = 'failed' WHERE id = 1", Trouble.LOST),
    "an answer is still owed": (
        "UPDATE deliveries SET state = 'pending' WHERE turn_id = 1",
        Trouble.LOST,
    ),
    "an answer was given up": (
        "UPDATE deliveries SET state = 'failed' WHERE turn_id = 1",
        Trouble.LOST,
    ),
    "an agent was asked twice": ("UPDATE turns SET attempts = 2 WHERE id = 1", Trouble.DOUBLED),
    "nothing is owed for a turn": (
        "UPDATE deliveries SET turn_id = NULL WHERE turn_id = 1",
        Trouble.LOST,
    ),
}


@on(DURABLE)
async def test_the_laws_can_be_broken(victim: ServingVictim) -> None:
    """Whatever people did not see, or saw twice or too early, is found; a marked repeat is none."""
    await victim.start(victim.nursery)
    await victim.nursery.ready()
    await victim.exchange.until(lambda: len(victim.exchange.shown) > 150)
    await victim.calm_down()
    await victim.nursery.kill()
    shown, acknowledged = list(victim.exchange.shown), set(victim.exchange.acknowledged)
    texts = [one.text for one in shown]

    def found(sql: str | None = None) -> set[Trouble]:
        hand = apsw.Connection(victim.where)
        hand.execute("PRAGMA foreign_keys = OFF; BEGIN;" + (sql or ""))
        look, casualties = (lambda sql: hand.execute(sql).fetchall()), Casualties()
        problems = broken_in_the_end(look, victim.exchange, casualties)
        problems += asked_again(look, casualties)
        hand.execute("ROLLBACK")
        hand.close()
        victim.exchange.shown[:] = shown
        victim.exchange.acknowledged = set(acknowledged)
        for one, text in zip(shown, texts, strict=True):
            one.text = text
        return {problem.trouble for problem in problems}

    assert found() == set()
    for name, (forge, trouble) in FORGERIES.items():
        forge(victim.exchange)
        assert trouble in found(), name
    for name, (sql, trouble) in TAMPERING.items():
        assert trouble in found(sql), name
    _show_again(victim.exchange, f"{REPEAT_MARKER}\n")
    assert found() == set()
