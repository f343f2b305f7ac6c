"""What scenarios about transcripts say and read."""

from threadline.core.message import Message, Role
from threadline.core.session import SessionId
from threadline.testing.scenario import Scenario
from threadline.testing.scenario_person import ScenarioPerson
from threadline.testing.scripted_agent import Says


def said(lines: list[Message]) -> list[str]:
    """Read the words of people and of the agent."""
    return [line.text for line in lines if line.role in {Role.USER, Role.ASSISTANT}]


async def talk(house: Scenario, alice: ScenarioPerson, *texts: str) -> SessionId:
    """Say things, each of which is answered with its own echo."""
    for text in texts:
        house.agent.will(Says(f"re: {text}"))
        await alice.says(text)
    return (await alice.session()).id
