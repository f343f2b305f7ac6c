"""Embedded worker: what a chat sees to by itself where no gateway serves, beside answering."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from threadline.cli.background_status import AT_REST
from threadline.config import output_folder
from threadline.core.event import Event
from threadline.gateway.background_tasks import log_failure
from threadline.gateway.feed_consumer import follow_feed
from threadline.gateway.intervals import attempt
from threadline.gateway.outbox import Outbox
from threadline.gateway.worker import Worker
from threadline.platforms.local import Local
from threadline.store import Store

LEAVE_WITHIN = timedelta(seconds=2)
"""How long whoever leaves waits for what is being written."""


@asynccontextmanager
async def working(store: Store, worker: Worker) -> AsyncIterator[None]:
    """Let a worker work, close the runs of jobs that it answered, and write what they owe here.

    Jobs are started by gateways alone, which have the platforms that their answers go to.
    """
    local = Local(output_folder())
    outbox = Outbox(store, {local.name: local}, live=worker.live, streams=False)
    tasks = [asyncio.create_task(outbox.run()), asyncio.create_task(_close_runs(store))]
    for task in tasks:
        task.add_done_callback(log_failure)
    try:
        async with worker:
            yield
        await outbox.drain(LEAVE_WITHIN)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _close_runs(store: Store) -> None:
    """Write down how runs of jobs ended, until cancelled."""
    news = asyncio.Event()
    news.set()

    async def notice(event: Event) -> None:
        if event.kind in AT_REST:
            news.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(follow_feed(store, await store.feed_end(), notice, news.set))
        while True:
            await news.wait()
            news.clear()
            await attempt(store.close_runs)
