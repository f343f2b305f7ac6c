"""A crowd: a store with very many conversations, one of which has as many messages."""

import asyncio
import fcntl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.sites import SqliteSite, bare_connection
from bench.template import make_template

MANY = 100_000
_TURNS = 2


def make_crowd(folder: Path, many: int = MANY) -> Path:
    """Make the store in a folder, unless it is there; whoever comes second waits."""
    folder.mkdir(exist_ok=True)
    path = Path(SqliteSite(folder).where(many))
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            # The loop of a browser may run in this thread.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(lambda: asyncio.run(_fill(folder, many))).result()
            (folder / "done").touch()
    return path


def long_session(path: Path, many: int = MANY) -> str:
    """Name the conversation that is very long."""
    bare = bare_connection(str(path))
    ((session,),) = bare.ask("SELECT id FROM sessions WHERE last_seq = ?", [many])
    bare.close()
    return str(session)


async def _fill(folder: Path, many: int) -> None:
    template = await make_template(folder, _TURNS)
    await SqliteSite(folder).fill(template, many, long_messages=many)
