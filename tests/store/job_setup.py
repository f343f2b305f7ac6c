"""What tests of jobs share: who makes them, how they start, and how they are answered."""

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.job import Job, NewJob, RunState
from threadline.core.message import Role, say
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.store import Store

ADA = Sender(id="ada", name="Ada")
BOB = Sender(id="bob", name="Bob")
HOME = Address(platform="telegram", kind=Kind.DM, chat="chat-of-ada")
GROUP = Address(platform="telegram", kind=Kind.GROUP, chat="g")
HOURLY = NewJob(prompt="What is new?", schedule="every 1h", name="News")
TELEGRAM = frozenset({"telegram", "local"})


def ada(at: Address = HOME) -> Viewer:
    """Ask as Ada."""
    return Viewer(address=at, sender=ADA)


async def hear(
    store: Store, words: str = "hello", at: Address = HOME, who: Sender = ADA
) -> SessionId:
    """Let somebody speak, and answer them; tell in which session."""
    inbound = Inbound.text(words, address=at, sender=who, at=store.now())
    arrived = await store.receive(inbound)
    await answer(store, "I see.")
    assert arrived.session_id is not None
    return arrived.session_id


async def answer(store: Store, words: str) -> None:
    """Answer the turn that waits."""
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, words)])


async def start(store: Store, job: Job) -> None:
    """Start a job that is due."""
    begun = await store.jobs.start_due(job.id, platforms=TELEGRAM)
    assert begun is not None
    assert begun.state is RunState.RUNNING, begun.why
