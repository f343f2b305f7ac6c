import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.web.feed.feed_scenario import Visit
from threadline.core.session import SessionId
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.stream_checker import StreamWitness, Told

CONVERSATIONS = 4
FOLLOWERS = 5
EVENTS = 40
"""How many each has heard when the server is killed."""
UNDER_WAY = {"queued", "running", "interrupted"}


@asynccontextmanager
async def child(where: Path, conversations: int) -> AsyncIterator[tuple[Process, Told]]:
    """Let a server live in a process of its own; at the end it is killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.web.feed.child", str(where), str(conversations)),
        stdin=PIPE,
        stdout=PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(HANG_SECONDS):
            line = await process.stdout.readline()
        yield process, json.loads(line)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def visit(told: Told) -> AsyncIterator[Visit]:
    """Visit a server with the token that it told."""
    headers = {"Authorization": f"Bearer {told['token']}"}
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=told["url"], headers=headers, trust_env=False, timeout=HANG_SECONDS, limits=limits
    ) as client:
        yield Visit(client)


async def _follow_to_the_end(owner: Visit, witness: StreamWitness) -> None:
    """Follow until the server is gone."""
    try:
        async with owner.follows(witness.cursor, live=list(witness.glimpses)) as frames:
            async for frame in frames:
                await witness.take(frame)
    except httpx.TransportError:
        return
    raise AssertionError("the stream ended, though the server was killed")


async def _until_quiet(owner: Visit, ids: Sequence[SessionId]) -> None:
    """Wait until everything that was asked is answered."""
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            sessions = (await owner.snapshot(*ids))["sessions"].values()
            if not any(UNDER_WAY & set(one["states"].values()) for one in sessions):
                return
            await asyncio.sleep(0.1)


async def test_after_a_kill_every_follower_ends_as_a_fresh_snapshot(tmp_path: Path) -> None:
    """A server that is killed in mid-stream leaves nobody behind: each comes back without a gap."""
    where = tmp_path / "threadline.db"
    witnesses: list[StreamWitness] = []
    async with child(where, CONVERSATIONS) as (process, told), visit(told) as owner:
        ids = [SessionId(id) for id in told["sessions"]]
        witnesses = [StreamWitness(lambda: owner.snapshot(*ids)) for _ in range(FOLLOWERS)]
        for one in witnesses:
            await one.begin()
        following = [asyncio.create_task(_follow_to_the_end(owner, one)) for one in witnesses]
        async with asyncio.timeout(HANG_SECONDS):
            while min(len(one.events) for one in witnesses) < EVENTS:
                await asyncio.sleep(0.02)
        process.kill()
        await asyncio.gather(*following)
    async with child(where, 0) as (_, told), visit(told) as owner:
        await _until_quiet(owner, ids)
        for one in witnesses:
            one.reads(lambda: owner.snapshot(*ids))
            async with owner.follows(last_event_id=one.cursor) as frames:
                await one.follow(frames)

    for one in witnesses:
        assert one.reloads == 0
        for id in ids:
            told_of = sorted({event.revision for event in one.events if event.session_id == id})
            assert told_of == list(range(told_of[0], told_of[-1] + 1))
