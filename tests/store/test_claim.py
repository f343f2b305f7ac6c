import asyncio

import pytest

from tests.databases import DatabaseFactory, OpenStore
from tests.gateway.worker_setup import tell
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.turn import TurnState
from threadline.database.cancellation import run_to_end
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival


async def tell_profile(store: Store, profile: str, who: str) -> Arrival:
    return await store.receive(
        Inbound.text(
            "hello",
            address=Address(platform="telegram", kind=Kind.DM, chat=who),
            sender=Sender(id=who),
            at=store.now(),
            message_id=f"{profile} {who}",
            profile=profile,
        )
    )


async def test_full_profiles_are_passed_over(store: Store) -> None:
    """Who waits longest is taken, unless as many as may already run in their profile."""
    first = await tell_profile(store, "work", "alice")
    second = await tell_profile(store, "work-2", "alice")

    claim = await store.turns.claim(full=["work"])
    assert claim is not None
    assert (claim.turn.id, claim.profile, claim.platform) == (second.turn_id, "work-2", "telegram")
    assert await store.turns.claim(full=["work"]) is None
    assert await store.turns.claim(full=["work", "main"]) is None

    claim = await store.turns.claim(full=["main", "wor", "ork"])
    assert claim is not None
    assert (claim.turn.id, claim.profile) == (first.turn_id, "work")


async def test_a_named_session_is_taken_however_full(store: Store) -> None:
    """Who asks for a turn of one session knows what they do."""
    arrival = await tell_profile(store, "work", "alice")

    claim = await store.turns.claim(arrival.session_id, full=["work"])

    assert claim is not None
    assert claim.profile == "work"


async def test_no_profile_has_such_a_name(store: Store) -> None:
    """What cannot be the name of a profile is refused."""
    with pytest.raises(Invalid):
        await store.turns.claim(full=["a b"])


async def test_a_turn_behind_a_command_waits(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """What was said after a command that waits is not begun before it was carried out."""
    store = await open_store()
    before, after = await tell(store, "one"), await tell(store, "two")
    key = database_factory.tamper("SELECT key FROM sessions")[0][0]
    database_factory.tamper(
        "INSERT INTO waiting_commands (session_key, after_turn, rank, platform, inbound) "
        f"VALUES ({key}, {before.turn_id}, 'member', 'local', '{{}}')"
    )

    claim = await store.turns.claim()
    assert claim is not None
    assert claim.turn.id == before.turn_id
    await store.turns.finish(claim.lease)
    assert await store.turns.claim() is None
    assert await store.turns.claim(after.session_id) is None

    database_factory.tamper("DELETE FROM waiting_commands")
    claim = await store.turns.claim()
    assert claim is not None
    assert (claim.turn.id, claim.turn.state) == (after.turn_id, TurnState.RUNNING)


async def test_what_outlives_a_cancelled_claim_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A bug in giving back what was claimed is no silence, though its caller hears of nothing."""

    async def breaks() -> None:
        await asyncio.sleep(0)
        raise RuntimeError("a bug")

    await run_to_end(breaks())

    assert "RuntimeError: a bug" in caplog.text
