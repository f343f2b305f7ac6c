"""Questions that are asked beside a conversation: by the background, and by jobs."""

from threadline.core.job import NewJob
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scripted_agent import Asks, Says


async def test_the_background_asks_and_is_answered_by_pressing(house: GatewayScenario) -> None:
    """Also if the conversation asks something else meanwhile, and each gets its own answer."""
    alice = house.guest("Alice")
    house.agent.will(Asks("Delete the peas?"))
    await alice.says("/background tidy up")
    beside = alice.shown[-1]
    house.agent.will(Asks("Which colour?"))
    await alice.says("/queue paint the house")
    house.agent.will(Says("The peas are gone."))
    house.agent.will(Says("It is blue."))

    alice.person.presses(beside.id, "Approve")
    await house.rests()
    assert alice.sees[-2:] == ["Approved.", "The peas are gone."]
    assert await alice.asks("blue") == "It is blue."

    alice.person.presses(beside.id, "Deny")
    await house.rests()
    assert "Nothing is waiting for an answer here" in alice.sees[-1]


async def test_plain_words_answer_the_background(house: GatewayScenario) -> None:
    """In a dm the next words are for who asked last."""
    alice = house.guest("Alice")
    house.agent.will(Asks("Which peas?"))
    house.agent.will(Says("Counted."))
    await alice.says("/background count the peas")

    assert await alice.asks("the green ones") == "Counted."
    assert house.agent.last.turn.answer == "the green ones"


async def test_a_job_asks_and_goes_on_with_the_answer(house: GatewayScenario) -> None:
    """In the chat that it was made in, by whoever made it."""
    alice = house.guest("Alice").in_group("Garden")
    bob = house.guest("Bob").in_group("Garden")
    await alice.says('/job add "every 1h" Water the peas')
    house.agent.will(Asks("With rain water?"))
    house.agent.will(Says("Watered."))
    await house.time_passes(hours=1)
    assert "With rain water?" in alice.sees[-1]

    assert "Nothing is waiting" in await bob.asks("/approve")
    assert await alice.asks("/approve") == "Approved.\n\nWatered."


async def test_the_job_of_the_owner_asks_at_its_target(house: GatewayScenario) -> None:
    """It was made at the terminal; whoever it speaks to is asked, and answers."""
    alice = house.guest("Alice")
    await alice.says("hello")
    await house.store.jobs.create(
        NewJob(prompt="Water the peas", schedule="every 1h", target="telegram:alice"),
    )
    house.agent.will(Asks("With rain water?"))
    house.agent.will(Says("Watered."))
    await house.time_passes(hours=1)
    assert "With rain water?" in alice.sees[-1]

    await alice.presses("Approve")

    assert alice.sees[-2:] == ["Approved.", "Watered."]
