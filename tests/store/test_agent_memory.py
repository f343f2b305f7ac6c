"""What an agent keeps for itself in a session: given back to it, and to nobody else."""

import pytest

from tests.databases import DatabaseFactory, OpenStore
from tests.store.people_setup import ALICE, BOB, GROUP, SHARED, dm, says, talk
from threadline.core.address import Address, Sender
from threadline.core.agent import MEMORY_LIMIT
from threadline.core.errors import Invalid, LeaseLost
from threadline.core.message import Role, say
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.store import Store


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


async def keeps(
    store: Store, memory: str, who: Sender = ALICE, *, at: Address | None = None
) -> SessionId:
    """Say something that the agent answers, and keeps something of."""
    id = await says(store, who, "hello", at=at)
    claim = await store.turns.claim(id)
    assert claim is not None
    await store.turns.save_memory(claim.lease, memory)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "noted")])
    return id


async def recalls(store: Store, id: SessionId) -> str | None:
    """Read what the agent would be given back in a session."""
    (turn, *_) = await store.turns.list(id)
    return (await store.turns.context(turn)).memory


async def test_it_is_given_back_until_something_else_is_kept(store: Store) -> None:
    """The last one counts; nothing to keep forgets it; the transcript knows nothing of it."""
    id = await keeps(store, "session 7")
    assert await recalls(store, id) == "session 7"
    assert await keeps(store, "x" * MEMORY_LIMIT) == id
    assert await recalls(store, id) == "x" * MEMORY_LIMIT
    assert await keeps(store, "") == id

    assert await recalls(store, id) is None
    said = [line.text for line in await store.transcripts.read(id) if line.role is not Role.SYSTEM]
    assert said == ["hello", "noted"] * 3


async def test_only_whoever_runs_the_turn_can_keep_something(store: Store) -> None:
    """A worker that lost its turn, and a text that is too long, change nothing."""
    id = await keeps(store, "before")
    await says(store, ALICE, "again")
    claim = await store.turns.claim(id)
    assert claim is not None
    with pytest.raises(Invalid, match="memory of the agent"):
        await store.turns.save_memory(claim.lease, "x" * (MEMORY_LIMIT + 1))
    await store.turns.stop(claim.turn.id)

    with pytest.raises(LeaseLost):
        await store.turns.save_memory(claim.lease, "after")

    assert await recalls(store, id) == "before"


async def test_it_stays_in_its_session(store: Store) -> None:
    """Neither a branch nor the next conversation nor an export has it."""
    id = await keeps(store, "only here")
    branch = await store.transcripts.branch(id)
    await store.sessions.reset(dm(ALICE), ALICE)
    fresh = await talk(store, ALICE, "anew")
    exported = b"".join([block async for block in store.transfer.export_session(id)])

    assert await recalls(store, fresh) is None
    await store.sessions.switch(dm(ALICE), ALICE, branch.id)
    assert await recalls(store, await talk(store, ALICE, "there")) is None
    assert b"only here" not in exported
    assert await recalls(store, id) == "only here"


async def test_it_is_forgotten_with_its_session(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """The row is gone, and with it what was kept."""
    id = await keeps(store, "a secret")
    await store.sessions.delete(id)

    assert database_factory.tamper("SELECT memory FROM sessions WHERE memory IS NOT NULL") == []


async def test_it_is_forgotten_with_whoever_spoke_there(open_store: OpenStore) -> None:
    """Nobody can tell what of theirs it holds, also in a branch that shares their words."""
    store = await open_store(rules=SHARED)
    id = await keeps(store, "Bob likes tea", BOB, at=GROUP)
    branch = await store.transcripts.branch(id)
    await store.sessions.switch(GROUP, ALICE, branch.id)
    assert await keeps(store, "they like tea", ALICE, at=GROUP) == branch.id

    await store.people.delete(Identity(platform="telegram", id="bob"))

    assert await recalls(store, id) is None
    assert await recalls(store, branch.id) is None
