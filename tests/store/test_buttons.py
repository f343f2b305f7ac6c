"""Buttons: what can be pressed under words that are owed, as long as these are."""

import json

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, DM, GROUP, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address
from threadline.core.agent import Question
from threadline.core.delivery import SendOutcome
from threadline.core.errors import Invalid
from threadline.core.platform import Choice
from threadline.core.settings import Settings
from threadline.store.deliveries.buttons import MOST_CHOICES, pack_choices, unpack_choices
from threadline.store.deliveries.lease import next_due
from threadline.store.deliveries.payload import DeliveryPayload


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def owed(desk: Desk) -> list[DeliveryPayload]:
    """Carry everything that is owed."""
    carried: list[DeliveryPayload] = []
    while parcels := await desk.store.deliveries.lease():
        for parcel in parcels:
            await desk.store.deliveries.record_sent(parcel.delivery)
        carried += parcels
    return carried


def says(parcel: DeliveryPayload) -> list[str]:
    """Read what can be said by pressing."""
    return [choice.says for choice in parcel.choices]


def kept(desk: Desk) -> int:
    """Count the deliveries that keep buttons."""
    return len(desk.factory.tamper("SELECT id FROM deliveries WHERE choices IS NOT NULL"))


@both
@pytest.mark.parametrize(
    ("at", "tools", "labels"),
    [
        (DM, (), ["Approve", "Deny"]),
        (DM, ("rm",), ["Approve", "This session", "Always", "Deny"]),
        (GROUP, ("rm",), ["Approve", "This session", "Deny"]),
    ],
)
async def test_a_question_offers_its_answers(
    desk: Desk, at: Address, tools: tuple[str, ...], labels: list[str]
) -> None:
    """They name the question; leave for longer is offered where tools are asked for."""
    id, turn_id = await desk.says("tidy up", ALICE, at)
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    await desk.store.turns.wait(claimed.lease, Question(text="May I?", tools=tools))
    (parcel,) = await owed(desk)

    assert [choice.label for choice in parcel.choices] == labels
    assert all(str(turn_id) in said for said in says(parcel))
    reply = await desk.asks(says(parcel)[1], ALICE, at, AccessLevel.OWNER)
    assert reply.turn_id == turn_id


@both
async def test_a_question_keeps_its_buttons_until_it_was_carried(desk: Desk) -> None:
    """They come again with the next attempt, and go with the words."""
    id, _ = await desk.says("tidy up")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    await desk.store.turns.wait(claimed.lease, Question(text="May I?"))
    (first,) = await desk.store.deliveries.lease()
    await desk.store.deliveries.record_failure(first.delivery, SendOutcome.REJECTED, "busy")
    due = await desk.store.database.read(next_due, None, owner=desk.store.database.owner)
    assert due is not None
    desk.clock.advance(due - desk.clock())

    (second,) = await owed(desk)

    assert second.choices == first.choices
    assert kept(desk) == 0


@both
async def test_resume_offers_the_latest_conversations(desk: Desk) -> None:
    """All but the one that goes on, not too many, each with its title and by its id."""
    ids = []
    for n in range(MOST_CHOICES + 3):
        id, _ = await desk.says(f"talk {n} {'x' * 200}")
        await desk.answers(id)
        ids.append(id)
        await desk.asks("/new")
    here, _ = await desk.says("here")
    await desk.answers(here)
    await owed(desk)
    reply = await desk.asks("/resume")
    (parcel,) = await owed(desk)

    newest = ids[::-1][:MOST_CHOICES]
    assert says(parcel) == [f"/resume {id}" for id in newest]
    assert parcel.choices == tuple(reply.choices)
    assert all(choice.label.startswith("talk") for choice in parcel.choices)
    assert max(len(choice.label) for choice in parcel.choices) <= 60
    assert kept(desk) == 0
    assert (await desk.asks(says(parcel)[0])).text.startswith("Continuing")


@both
async def test_model_offers_what_is_set_up(desk: Desk) -> None:
    """What is in use is marked and not offered again; a member chooses among these only."""
    desk.store.rules = Settings(models=("openai:gpt-5", "ollama:llama3:8b", "small"))
    await desk.says("hello")
    offer = await desk.asks("/model")
    assert [choice.says for choice in offer.choices] == [
        "/model openai:gpt-5",
        "/model ollama:llama3:8b",
        "/model small",
    ]

    assert "llama3:8b of ollama" in (await desk.asks("/model LLAMA3:8b")).text
    shown = await desk.asks("/model")
    assert "- ollama:llama3:8b · in use" in shown.text
    assert [choice.label for choice in shown.choices] == ["default", "openai:gpt-5", "small"]
    assert (await desk.asks("/model gpt-4")).text.startswith("This model is not offered here.")
    assert "gpt-4" in (await desk.asks("/model gpt-4", rank=AccessLevel.ADMIN)).text
    assert "configuration" in (await desk.asks("/model default")).text


@pytest.mark.parametrize(
    "bad",
    [
        [Choice(label="", says="/x")],
        [Choice(label=" \n", says="/x")],
        [Choice(label="x" * 61, says="/x")],
        [Choice(label="x", says="y" * 1001)],
        [Choice(label="\0", says="/x")],
        [Choice(label="x", says="\ud800")],
        [Choice(label="x", says="/x")] * (MOST_CHOICES + 1),
        [("x", "y")],
    ],
)
def test_choices_that_nobody_could_show_are_refused(bad: list[Choice]) -> None:
    """Nothing of them is kept."""
    with pytest.raises(Invalid):
        pack_choices(bad)


def test_choices_are_read_as_they_were_written() -> None:
    """Whatever is in them; none are none."""
    some = (Choice(label='"é"', says="/resume [x]"), Choice(label="b", says=""))
    packed = pack_choices(some)
    assert packed is not None
    assert json.loads(packed) == [['"é"', "/resume [x]"], ["b", ""]]
    assert packed is not None
    assert unpack_choices(json.loads(packed)) == some
    assert pack_choices(()) is None
