"""Company: people who speak to a store, in private and in a group, and are answered."""

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.message import Message, Role, Text, say
from threadline.core.route import Scopes, Sharing
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.core.usage import Usage
from threadline.store import Store

ALICE, BOB = Sender(id="alice", name="Alice"), Sender(id="bob", name="Bob")
GROUP = Address(platform="telegram", kind=Kind.GROUP, chat="friends")
SHARED = Settings(scopes=Scopes(groups=Sharing.SHARED))


def dm(who: Sender) -> Address:
    """Answer the private chat of somebody."""
    return Address(platform="telegram", kind=Kind.DM, chat=str(who.id))


async def says(
    store: Store, who: Sender, text: str, *, at: Address | None = None, **fields: object
) -> SessionId:
    """Say something, in the private chat unless told otherwise."""
    given = {
        "address": at or dm(who),
        "sender": who,
        "at": store.now(),
        "parts": (Text(text=text),),
    }
    arrival = await store.receive(Inbound(**{**given, **fields}))  # type: ignore[arg-type]
    assert arrival.session_id is not None
    return arrival.session_id


async def answers(store: Store, text: str, *, spent: int = 0) -> None:
    """Answer the next turn."""
    claim = await store.turns.claim()
    assert claim is not None
    usage = [Usage(provider="p", model="m", input_tokens=spent)] if spent else []
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, text)], usage=usage)


async def talk(store: Store, who: Sender, *texts: str, at: Address | None = None) -> SessionId:
    """Say several things, each answered by an echo."""
    ids = []
    for text in texts:
        ids.append(await says(store, who, text, at=at))
        await answers(store, f"re: {text}")
    return ids[-1]


async def lines(store: Store, id: SessionId) -> list[str]:
    """Read a transcript as words."""
    return [line.text for line in await store.transcripts.read(id)]


def is_system(line: Message) -> bool:
    """Tell whether a line is a note for the agent."""
    return line.role is Role.SYSTEM
