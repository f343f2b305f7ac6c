"""Acquaintances: what the stories about people, in several modules, have in common."""

from threadline.core.person import Identity, PeopleMode
from threadline.core.reset_policy import Carry, Policies, ResetMode, ResetPolicy
from threadline.core.settings import Settings
from threadline.testing.scenario import A_NIGHT, Scenario
from threadline.testing.scenario_person import ScenarioPerson

ONE = Settings(
    people=PeopleMode.ONE_CONVERSATION,
    policies=Policies(default=ResetPolicy(mode=ResetMode.IDLE, idle=A_NIGHT, carry=Carry.last(5))),
)
"""All direct messages of a person are one conversation, and much is carried over."""


def identity(person: ScenarioPerson) -> Identity:
    """Name a person's sender as an admin would."""
    assert person.sender.id is not None
    return Identity(platform=person.address.platform, id=person.sender.id)


async def link(one: ScenarioPerson, other: ScenarioPerson) -> None:
    """Show a code to one, and let the other send it."""
    store = one.house.store
    shown = await store.people.make_link_code(one.address, one.sender)
    await store.people.link(other.address, other.sender, shown.code)


async def read_all(house: Scenario, person: ScenarioPerson) -> str:
    """Read everything that is said in the sessions that a person may see, and their titles."""
    words = []
    for session in await house.sessions_of(person):
        lines = [
            *await house.transcript_of(session),
            *await house.store.transcripts.waiting(session.id),
        ]
        words += [session.title or "", *(line.text for line in lines)]
    return "\n".join(words)
