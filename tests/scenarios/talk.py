"""What scenarios about transcripts say and read."""

from threadline.core.message import Message, Role
from threadline.core.session import SessionId
from threadline.testing.agent import Says
from threadline.testing.house import House
from threadline.testing.person import Person


def said(lines: list[Message]) -> list[str]:
    """Read the words of people and of the agent."""
    return [line.text for line in lines if line.role in {Role.USER, Role.ASSISTANT}]


async def talk(house: House, alice: Person, *texts: str) -> SessionId:
    """Say things, each of which is answered with its own echo."""
    for text in texts:
        house.agent.will(Says(f"re: {text}"))
        await alice.says(text)
    return (await alice.session()).id
