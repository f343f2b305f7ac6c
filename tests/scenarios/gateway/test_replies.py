"""Replies: where several people speak, an answer shows which message it is for."""

from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scripted_agent import Asks, Hangs, Says, Streams


async def test_in_a_group_an_answer_replies_to_who_asked(house: GatewayScenario) -> None:
    """Its first message does; in a dm there is nobody else whom it could be for."""
    alice, bob = house.guest("Alice"), house.guest("Bob").in_group("Garden")
    limit = house.simulated("telegram").capabilities.text_limit
    house.agent.will(Says("peas " * (limit // 4)))

    asked = await bob.says("tell me all about peas")
    await alice.says("hello")

    assert len(bob.shown) == 2
    assert [shown.reply_to for shown in bob.shown] == [asked, None]
    assert [shown.reply_to for shown in alice.shown] == [None]


async def test_an_answer_that_grows_replies_too(house: GatewayScenario) -> None:
    """From its first word on, and what is said after a question does not again."""
    bob = house.guest("Bob").in_thread("Garden", "Peas")
    house.agent.will(Streams("Peas are"), Hangs(), Asks("Go on?"))
    house.agent.will(Says("green"))

    asked = bob.writes("tell me about peas")
    await bob.hears("Peas are")
    assert bob.shown[-1].reply_to == asked
    await house.agent_goes_on()
    await bob.says("/approve")

    assert bob.sees[-1] == "green"
    assert [shown.reply_to for shown in bob.shown if shown.reply_to] == [asked]


async def test_what_goes_elsewhere_replies_to_nothing(house: GatewayScenario) -> None:
    """A message that was taken back, or stands in another chat, cannot be replied to."""
    bob = house.guest("Bob").in_group("Garden")
    house.agent.will(Hangs(), Says("yes"))
    asked = bob.writes("are there peas?")
    await house.rests()
    await bob.deletes(asked)
    await house.agent_goes_on()

    assert bob.sees[-1:] != []
    assert bob.shown[-1].reply_to is None
