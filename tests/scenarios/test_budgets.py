"""Usage added up in every way, and caps that warn, refuse, and begin anew."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from threadline.core.budget import CapKind, SpendCaps, midnight
from threadline.core.errors import CapReached, Invalid, NotFound
from threadline.core.inbound import Inbound
from threadline.core.message import MarkerKind, Role, say
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.core.turn import TurnState
from threadline.core.usage import CostStatus, Usage, UsageBy
from threadline.store.turns.finish import spend
from threadline.store.usage import approve_spending, approve_spending_for
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Asks, Hangs, Says, Spends, Step

BERLIN = ZoneInfo("Europe/Berlin")


def paid(dollars: str | None, model: str = "gpt", task: str = "turn") -> Spends:
    """Spend some dollars; None: nobody knows how many."""
    cost = None if dollars is None else Decimal(dollars)
    status = CostStatus.UNKNOWN if cost is None else CostStatus.EXACT
    return Spends(
        Usage(
            provider="open",
            model=model,
            task=task,
            input_tokens=10,
            output_tokens=2,
            cost=cost,
            cost_status=status,
        )
    )


def capped(house: Scenario, **caps: str) -> None:
    """Let the house live by caps."""
    zone = caps.pop("zone", None)
    limits = {name: Decimal(cap) for name, cap in caps.items()}
    tz = UTC if zone is None else ZoneInfo(zone)
    house.lives_by(Settings(spend=SpendCaps(**limits, timezone=tz)))


async def sums(house: Scenario, by: UsageBy, **wishes: object) -> dict[str, Decimal | None]:
    """Add up, and name each sum."""
    found = await house.store.usage.sum(by, **wishes)  # type: ignore[arg-type]
    return {one.subject: one.cost for one in found}


async def test_usage_is_added_up_in_every_way(house: Scenario) -> None:
    """By turn, session, model, task, person and day, and each of them says how well it knows."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    house.agent.will(paid("1"), paid("0.5", "mini", "title"), Says("ok"))
    one = await alice.says("hi")
    house.agent.will(paid("2"), paid(None), Says("ok"))
    two = await bob.says("hi")

    assert await sums(house, UsageBy.TURN) == {
        str(two.turn_id): Decimal(2), str(one.turn_id): Decimal("1.5"),
    }  # fmt: skip
    assert await sums(house, UsageBy.SESSION) == {two.session_id: 2, one.session_id: Decimal("1.5")}
    assert await sums(house, UsageBy.MODEL) == {"open/gpt": 3, "open/mini": Decimal("0.5")}
    assert await sums(house, UsageBy.TASK) == {"turn": 3, "title": Decimal("0.5")}
    people = await sums(house, UsageBy.PERSON)
    assert list(people.values()) == [Decimal(2), Decimal("1.5")]
    assert await sums(house, UsageBy.DAY) == {"2026-03-02": Decimal("3.5")}
    (bobs, alices) = await house.store.usage.sum(UsageBy.SESSION)
    assert (bobs.calls, bobs.unpriced, bobs.cost_status) == (2, 1, CostStatus.ESTIMATED)
    assert (alices.calls, alices.unpriced, alices.cost_status) == (2, 0, CostStatus.EXACT)
    assert (alices.input_tokens, alices.output_tokens, alices.name) == (20, 4, "hi")


async def test_sums_can_be_of_some_only(house: Scenario) -> None:
    """Of a session, a sender, a profile, or a time, whose end does not count any more."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    house.agent.will(paid("1"), Says("ok"))
    one = await alice.says("hi")
    await house.time_passes(hours=1)
    house.agent.will(paid("2"), Says("ok"))
    await bob.says("hi")
    later = house.clock()

    assert await sums(house, UsageBy.TASK, id=one.session_id) == {"turn": 1}
    assert await sums(house, UsageBy.TASK, since=later) == {"turn": 2}
    assert await sums(house, UsageBy.TASK, until=later) == {"turn": 1}
    (name,) = await sums(house, UsageBy.PERSON, id=one.session_id)
    who = Identity(platform="telegram", id=name.partition(":")[2])
    assert await sums(house, UsageBy.TASK, sender=who) == {"turn": 1}
    assert await sums(house, UsageBy.TASK, sender=Identity(platform="slack", id="x")) == {}
    assert await sums(house, UsageBy.TASK, profile="work") == {}
    with pytest.raises(NotFound):
        await sums(house, UsageBy.TASK, id=SessionId("20260101_000000_00000000"))
    for wrong in ({"since": datetime(2026, 1, 1)}, {"person": 0}, {"timezone": "UTC"}):
        with pytest.raises(Invalid):
            await sums(house, UsageBy.TASK, **wrong)
    with pytest.raises(Invalid):
        await house.store.usage.sum("moon")  # type: ignore[arg-type]


async def test_the_dearest_come_first_and_a_slice_is_enough(house: Scenario) -> None:
    """Nobody who wants to see ten conversations reads all of them; days come whole."""
    costs = ("1", "4", "2", None, "3")
    for number, cost in enumerate(costs):
        house.agent.will(paid(cost), Says("ok"))
        await house.person(f"p{number}", on="telegram").says("hi")
        await house.time_passes(hours=24)

    found = list((await sums(house, UsageBy.SESSION)).values())
    assert found == [Decimal(4), Decimal(3), Decimal(2), Decimal(1), None]
    first = list((await sums(house, UsageBy.SESSION, most=2)).values())
    rest = list((await sums(house, UsageBy.SESSION, after=2, most=9)).values())
    assert (first, rest) == (found[:2], found[2:])
    assert len(await sums(house, UsageBy.DAY, most=2)) == 5
    with pytest.raises(Invalid):
        await sums(house, UsageBy.SESSION, most=0)


async def test_a_day_is_a_day_of_its_zone(house: Scenario) -> None:
    """The same calls fall on other days elsewhere, also where clocks are a quarter off."""
    alice = house.person("alice", on="telegram")
    house.clock.set(datetime(2026, 3, 28, 22, 50, tzinfo=UTC))
    for _ in range(4):  # 22:50, 23:05, 23:20 and 23:35; the clocks of Berlin go forward that night
        house.agent.will(paid("1"), Says("ok"))
        await alice.says("hi")
        await house.time_passes(minutes=15)

    assert await sums(house, UsageBy.DAY) == {"2026-03-28": 4}
    berlin = await sums(house, UsageBy.DAY, timezone=BERLIN)
    assert berlin == {"2026-03-28": 1, "2026-03-29": 3}
    odd = timezone(timedelta(hours=0, minutes=45))
    assert await sums(house, UsageBy.DAY, timezone=odd) == {"2026-03-28": 2, "2026-03-29": 2}


async def test_a_cap_warns_once_and_then_refuses(house: Scenario) -> None:
    """At 80 % the reply carries a warning, once; at 100 % the turn fails, and nothing is called."""
    capped(house, session="1")
    alice = house.person("alice", on="telegram")
    house.agent.will(paid("0.8"), Says("one"))
    house.agent.will(paid("0.1"), Says("two"))
    house.agent.will(paid("0.1"), Says("three"))
    for text in ("a", "b", "c"):
        await alice.says(text)
    said = await alice.says("d")

    replies = [reply.text for reply in await house.replies_to(alice)]

    assert replies[0] == "one"
    assert replies[1].startswith(
        "What this conversation may cost is nearly used up: $0.80 of $1.00"
    )
    assert replies[1].endswith("two")
    assert replies[2] == "three"
    assert "has reached its limit: $1.00 of $1.00" in replies[3]
    assert len(house.agent.requests) == 3
    turn = await house.store.turns.get(said.turn_id)
    assert turn.state is TurnState.FAILED
    assert "reached its limit" in (turn.error or "")
    kinds = [
        part.kind
        for line in await house.transcript_of(alice)
        for part in line.parts
        if hasattr(part, "kind")
    ]
    assert kinds == [MarkerKind.SPENDING, MarkerKind.FAILED]


@pytest.mark.parametrize(
    ("spent", "warned", "refused"),
    [("0.79", 0, 0), ("0.799999999", 0, 0), ("0.8", 1, 0), ("0.999999999", 1, 0), ("1", 0, 1)],
)
async def test_caps_are_held_at_their_edge(
    house: Scenario, spent: str, warned: int, refused: int
) -> None:
    """A billionth below the mark is below it."""
    capped(house, day="1")
    alice = house.person("alice", on="telegram")
    house.agent.will(paid(spent), Says("ok"))
    await alice.says("a")
    await alice.says("b")

    last = (await house.replies_to(alice))[-1].text

    assert ("nearly used up" in last, "reached its limit" in last) == (bool(warned), bool(refused))


async def test_a_person_has_their_own_cap(house: Scenario) -> None:
    """What one person spent, in whatever session, keeps nobody else from speaking."""
    capped(house, person_day="1")
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    house.agent.will(paid("1"), Says("ok"))
    await alice.says("a")
    await house.store.sessions.reset(alice.address, alice.sender)
    await alice.says("again")
    await bob.says("b")

    assert "reached its limit" in (await house.replies_to(alice))[-1].text
    assert (await house.replies_to(bob))[-1].text == "ok"


async def test_a_cap_begins_anew_with_its_day(house: Scenario) -> None:
    """The night after the clocks went forward a day has 23 hours, and the cap knows."""
    capped(house, day="1", zone="Europe/Berlin")
    alice = house.person("alice", on="telegram")
    house.clock.set(datetime(2026, 3, 28, 22, 59, 59, tzinfo=UTC))  # then it strikes midnight
    house.agent.will(paid("1"), Says("ok"))
    await alice.says("a")
    house.clock.set(datetime(2026, 3, 29, 21, 59, 58, tzinfo=UTC))
    await alice.says("b")
    house.clock.set(datetime(2026, 3, 29, 21, 59, 59, tzinfo=UTC))
    await alice.says("c")

    replies = [reply.text for reply in await house.replies_to(alice)]

    assert "It begins anew on 2026-03-30 at 00:00." in replies[1]
    assert replies[2] == "ok"


async def test_unknown_costs_count_as_nothing_and_that_is_said(house: Scenario) -> None:
    """A call without a price never reaches a cap, but whoever is refused hears of it."""
    capped(house, month="1")
    alice = house.person("alice", on="telegram")
    house.agent.will(*[paid(None)] * 3, Says("ok"))
    await alice.says("a")
    house.agent.will(paid("5"), Says("ok"))
    await alice.says("b")
    await alice.says("c")

    replies = [reply.text for reply in await house.replies_to(alice)]

    assert replies[:2] == ["ok", "ok"]
    assert "What 3 calls cost is not known; they count as nothing." in replies[2]


async def test_without_a_cap_nothing_is_asked(house: Scenario) -> None:
    """A turn costs no statement more where nothing is capped."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("hi")
    claim = (await house.turns_of(alice))[-1]
    before = (await house.store.sessions.get(claim.session_id)).revision

    assert await approve_spending(house.store.database, None) == ()  # type: ignore[arg-type]
    assert (await house.store.sessions.get(claim.session_id)).revision == before
    house.agent.goes_on()


@pytest.mark.parametrize("ending", ["stop", "question"])
async def test_what_was_spent_is_recorded_however_a_turn_ends(house: Scenario, ending: str) -> None:
    """A turn that was stopped has to be paid, and one that asked is paid once."""
    alice = house.person("alice", on="telegram")
    steps: dict[str, tuple[Step, ...]] = {
        "stop": (paid("1"), Hangs()), "question": (paid("1"), Asks("May I?")),
    }  # fmt: skip
    house.agent.will(*steps[ending])
    said = await alice.says("hi")
    if ending == "stop":
        await house.store.turns.stop(said.turn_id)
        await house.rests()
    else:
        await alice.answers("yes")

    assert await sums(house, UsageBy.TURN) == {str(said.turn_id): 1}
    assert list(await sums(house, UsageBy.PERSON)) != [""]


async def test_nothing_is_paid_twice(house: Scenario) -> None:
    """A worker that does not know that its turn ended records its usage again, in vain."""
    store, alice = house.store, house.person("alice", on="telegram")
    await house.worker.stop()
    house.clock.advance(timedelta(seconds=1))
    await store.receive(
        Inbound.text("hi", address=alice.address, sender=alice.sender, at=store.now())
    )
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "ok")], usage=[paid("1").usage])

    await store.database.write(spend, claim.lease, [paid("1").usage])

    assert await sums(house, UsageBy.TURN) == {str(claim.turn.id): 1}


def _from(day: date, zone: str) -> datetime:
    return midnight(day, ZoneInfo(zone))


@pytest.mark.parametrize(
    ("day", "zone", "moment"),
    [
        (date(2026, 3, 29), "Europe/Berlin", datetime(2026, 3, 28, 23, tzinfo=UTC)),
        (date(2026, 3, 30), "Europe/Berlin", datetime(2026, 3, 29, 22, tzinfo=UTC)),
        (date(2026, 10, 26), "Europe/Berlin", datetime(2026, 10, 25, 23, tzinfo=UTC)),
        # In Havana midnight itself is skipped in spring, and comes twice in autumn.
        (date(2026, 3, 8), "America/Havana", datetime(2026, 3, 8, 5, tzinfo=UTC)),
        (date(2026, 11, 1), "America/Havana", datetime(2026, 11, 1, 4, tzinfo=UTC)),
    ],
)
def test_a_day_begins_at_its_first_midnight(day: date, zone: str, moment: datetime) -> None:
    """Also where the clocks jump over midnight, or come to it twice."""
    assert _from(day, zone) == moment


@pytest.mark.parametrize("kind", [CapKind.MONTH, CapKind.PERSON_MONTH])
@pytest.mark.parametrize(
    ("now", "name", "ends"),
    [
        ("2026-01-31 22:59", "2026-01", "2026-01-31 23:00"),
        ("2026-01-31 23:00", "2026-02", "2026-02-28 23:00"),
        ("2026-12-15 00:00", "2026-12", "2026-12-31 23:00"),
    ],
)  # fmt: skip
def test_a_month_is_of_its_zone(kind: CapKind, now: str, name: str, ends: str) -> None:
    """A month ends with its last local day, and the year with its last month."""
    period = SpendCaps(timezone=BERLIN).period(kind, datetime.fromisoformat(f"{now}Z"))

    assert period is not None
    assert (period.name, period.ends_at) == (name, datetime.fromisoformat(f"{ends}Z"))


@pytest.mark.parametrize("cap", [Decimal(-1), Decimal("NaN"), Decimal("Infinity"), 1, "$1", 10.5])
def test_a_cap_is_an_amount(cap: object) -> None:
    """What cannot be held against a sum is no cap."""
    with pytest.raises(Invalid):
        SpendCaps(day=cap)  # type: ignore[arg-type]
    assert not SpendCaps().is_set
    assert SpendCaps(day=Decimal(0)).is_set


async def test_what_is_spent_beside_a_turn_counts_and_is_capped(house: Scenario) -> None:
    """A title and a summary are paid for by the session, under their task, within its caps."""
    capped(house, session="1")
    alice = house.person("alice", on="telegram")
    said = await alice.says("hi")
    id = said.session_id
    await approve_spending_for(house.store.database, id)

    await house.store.usage.record(id, [paid("0.4", task="title").usage])
    await approve_spending_for(house.store.database, id)
    await house.store.usage.record(id, [paid("0.6", task="summary").usage])

    with pytest.raises(CapReached):
        await approve_spending_for(house.store.database, id)
    assert await sums(house, UsageBy.TASK) == {"title": Decimal("0.4"), "summary": Decimal("0.6")}
    assert list(await sums(house, UsageBy.PERSON)) == ["telegram:id-of-alice"]
    again = await alice.says("and now?")
    assert (await house.store.turns.get(again.turn_id)).state is TurnState.FAILED


async def test_nothing_is_asked_beside_a_turn_where_nothing_is_capped(house: Scenario) -> None:
    """A session that is not there is an error only for who wants to spend on it."""
    unknown = SessionId("20260101_120000_0a1b2c3d")
    await approve_spending_for(house.store.database, unknown)
    capped(house, day="1")

    with pytest.raises(NotFound):
        await approve_spending_for(house.store.database, unknown)
    with pytest.raises(NotFound):
        await house.store.usage.record(unknown, [paid("1").usage])
    assert await sums(house, UsageBy.TASK) == {}


async def test_a_person_who_spent_enough_gets_no_title_either(house: Scenario) -> None:
    """Whoever owns a session is taken for whoever asks, and others are not kept from theirs."""
    capped(house, person_day="1")
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    house.agent.will(paid("1"), Says("ok"))
    hers, his = await alice.says("hi"), await bob.says("hi")

    with pytest.raises(CapReached):
        await approve_spending_for(house.store.database, hers.session_id)
    await approve_spending_for(house.store.database, his.session_id)
