"""What models cost: booked by turn and task, capped before anybody is asked; and their titles."""

from decimal import Decimal

from msgspec.structs import replace

from tests.agents.model.provider_agent import arithmetic, settings_of
from tests.doubles.providers import Calls, Fails, ProviderDouble, Says, Spends, Thinks
from tests.scenarios.models.model_scenario import ModelHouse
from threadline.core.budget import SpendCaps
from threadline.core.session import TitleSource
from threadline.core.settings import Settings
from threadline.core.summarizer import TITLE_TASK
from threadline.core.usage import CostStatus, UsageBy
from threadline.testing.scenario import OpenStore

ANSWERS, WRITES = "openai:gpt-5", "anthropic:claude-haiku-4-5"
A_MILLION = 1_000_000
DEAR = Spends(10, A_MILLION // 5)
"""Two dollars, for words that the next turn does not have to read."""
A_DOLLAR = Settings(spend=SpendCaps(person_day=Decimal(1)))


def house_of(
    open_again: OpenStore,
    double: ProviderDouble,
    *,
    rules: Settings | None = None,
    titles: bool = True,
) -> ModelHouse:
    """Build a house where one model answers and another one writes."""
    models = replace(settings_of(double, ANSWERS), scribe=WRITES)
    return ModelHouse(open_again, double, models, arithmetic(), rules=rules, titles=titles)


async def test_every_call_is_booked_for_its_turn(
    open_again: OpenStore, double: ProviderDouble
) -> None:
    """With provider, model, tokens and a cost by the list of prices, each turn apart."""
    async with house_of(open_again, double, titles=False) as house:
        alice = house.guest("Alice")
        double.will(Thinks("Hm."), Calls(("add", {"a": 1, "b": 2})), Spends(A_MILLION, 0))
        double.will(Says("3."), Spends(A_MILLION, A_MILLION))
        await alice.says("1 + 2?")
        double.will(Says("You are welcome."), Spends(A_MILLION, 0, cache_read=A_MILLION))
        await alice.says("thank you")

        first, second = (str(turn.id) for turn in await alice.turns())
        sums = {one.subject: one for one in await house.store.usage.sum(UsageBy.TURN)}
        models = await house.store.usage.sum(UsageBy.MODEL)

    assert (sums[first].calls, sums[second].calls) == (2, 1)
    assert (sums[first].input_tokens, sums[first].output_tokens) == (2 * A_MILLION, A_MILLION)
    # A million tokens of gpt-5 cost 1.25 dollars to read, 10 to write, and 0.125 from the cache.
    assert sums[first].cost == Decimal("12.50")
    assert sums[second].cost == Decimal("0.125")
    assert {one.cost_status for one in sums.values()} == {CostStatus.ESTIMATED}
    assert [one.subject for one in models] == ["openai/gpt-5"]


async def test_a_conversation_gets_a_title(open_again: OpenStore, double: ProviderDouble) -> None:
    """After the first exchange, by the cheap model, which is paid under its own task."""
    async with house_of(open_again, double) as house:
        alice = house.guest("Alice")
        double.will(Says("They climb."))
        double.will(Says('"How Peas Grow."\n'), Spends(80, 4))
        await alice.says("how do peas grow?")

        session = await alice.session()
        double.will(Says("They do not."))
        await alice.says("and stones?")
        used = {one.task: one for one in await house.store.usage.of_session(session.id)}

    assert (session.title, session.titled_by) == ("How Peas Grow", TitleSource.MODEL)
    assert alice.sees == ["They climb.", "They do not."]
    assert used[TITLE_TASK].provider == "anthropic"
    assert used[TITLE_TASK].input_tokens == 80
    assert len(double.requests) == 3


async def test_a_title_that_fails_disturbs_nobody(
    open_again: OpenStore, double: ProviderDouble
) -> None:
    """The answer is there, the first words are the title, and the next exchange tries again."""
    async with house_of(open_again, double) as house:
        alice = house.guest("Alice")
        double.will(Says("They climb."))
        double.will(Fails(401))
        assert await alice.asks("how do peas grow?") == "They climb."
        assert (await alice.session()).titled_by is TitleSource.FIRST_WORDS

        double.will(Says("They do not."))
        double.will(Says("Peas and Stones"))
        await alice.says("and stones?")
        assert (await alice.session()).title == "Peas and Stones"


async def test_a_cap_is_asked_before_the_model(
    open_again: OpenStore, double: ProviderDouble
) -> None:
    """Whoever has spent what they may gets a plain answer, and no provider hears of it."""
    async with house_of(open_again, double, rules=A_DOLLAR, titles=False) as house:
        alice, bob = house.guest("Alice"), house.guest("Bob")
        double.will(Says("Dear words."), DEAR)
        await alice.says("hello")

        said = await alice.asks("and now?")

        assert "What you may spend in a day has reached its limit" in said
        assert len(double.requests) == 1
        double.will(Says("Hello Bob."))
        assert await bob.asks("hello") == "Hello Bob."

        await house.time_passes(days=1)
        double.will(Says("A new day."))
        assert await alice.asks("again") == "A new day."


async def test_titles_and_summaries_are_capped_too(
    open_again: OpenStore, double: ProviderDouble
) -> None:
    """A turn that used up the cap gets no title after it, and no summary can be asked for."""
    async with house_of(open_again, double, rules=A_DOLLAR) as house:
        alice = house.guest("Alice")
        for n in range(4):
            double.will(Says(f"answer {n}"), DEAR if n == 3 else Spends(1, 1))
            if n == 0:
                double.will(Says("Four Questions in a Row"))
            await alice.says(f"question {n}")
        before = len(double.requests)

        said = await alice.asks("/compress")
        await alice.says("/new")
        await alice.says("hello?")

        assert "Nothing was compacted: " in said
        assert "What you may spend in a day has reached its limit" in said
        assert len(double.requests) == before
        assert not await house.store.transcripts.hidden_ranges(
            (await house.sessions())[-1].session.id
        )


async def test_no_title_is_paid_for_above_the_cap(
    open_again: OpenStore, double: ProviderDouble
) -> None:
    """The first exchange cost all there was: its first words have to do."""
    async with house_of(open_again, double, rules=A_DOLLAR) as house:
        alice = house.guest("Alice")
        double.will(Says("Dear words."), DEAR)
        await alice.says("how do peas grow?")

        assert (await alice.session()).titled_by is TitleSource.FIRST_WORDS
        assert len(double.requests) == 1
