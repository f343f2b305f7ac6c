"""The search index is kept up to date by whoever works on a store."""

from datetime import timedelta

from tests.gateway.scene import tell, until
from threadline.core.person import Asker
from threadline.gateway.pace import Pace
from threadline.gateway.worker import Worker
from threadline.sessions.search.index import count_waiting
from threadline.sessions.store import Store
from threadline.testing.agent import ScriptedAgent


async def test_a_worker_indexes_what_was_said(store: Store) -> None:
    """A while after an answer nothing waits to be indexed, though nobody has searched."""
    async with Worker(store, ScriptedAgent(), pace=Pace(index=timedelta(milliseconds=5))):
        await tell(store, "a persimmon")

        async def is_indexed() -> bool:
            found = await store.search("persimmon", asker=Asker.owner())
            return bool(found.hits) and not await store._db.read(count_waiting)

        await until(is_indexed, "the index knows it")
