"""The search index is kept up to date by whoever works on a store."""

from datetime import timedelta

from tests.gateway.worker_setup import tell, until
from threadline.core.person import Viewer
from threadline.gateway.intervals import Intervals
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.search.index import count_waiting
from threadline.testing.scripted_agent import ScriptedAgent


async def test_a_worker_indexes_what_was_said(store: Store) -> None:
    """A while after an answer nothing waits to be indexed, though nobody has searched."""
    async with Worker(store, ScriptedAgent(), pace=Intervals(index=timedelta(milliseconds=5))):
        await tell(store, "a persimmon")

        async def is_indexed() -> bool:
            found = await store.search("persimmon", asker=Viewer.owner())
            return bool(found.hits) and not await store.database.read(count_waiting)

        await until(is_indexed, "the index knows it")
