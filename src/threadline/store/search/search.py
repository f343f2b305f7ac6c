"""Search: a full-text search that indexes what waits first, and the upkeep of the index."""

from functools import partial

from threadline.core.errors import Invalid
from threadline.core.person import Viewer
from threadline.core.search import (
    HITS,
    LARGEST_HITS,
    SKIP_LIMIT,
    Found,
    SearchFilter,
    read_query,
)
from threadline.database.port import Database
from threadline.store.search import check, find, index

_SLICES_AT_ONCE = 20
"""Slices of about ten milliseconds that a search indexes before it looks through the rest."""


async def search(
    db: Database,
    text: str,
    *,
    asker: Viewer,
    where: SearchFilter | None = None,
    is_typing: bool = False,
    skip: int = 0,
    most: int = HITS,
) -> Found:
    """Find what was said; words, "phrases", -exclusions, beginnings* and *parts* of words.

    While the user `is_typing`, the last word may be unfinished. `skip` is the last page's `next`.
    Nothing is missing because the index is behind.
    """
    query = read_query(text, is_typing=is_typing)
    if skip > SKIP_LIMIT:
        raise Invalid(
            f"Only the first {SKIP_LIMIT:,} hits can be read", hint="Search for more words"
        )
    if most > LARGEST_HITS:
        raise Invalid(f"A page has at most {LARGEST_HITS:,} hits")
    finding = partial(
        find.find, query=query, asker=asker, where=where or SearchFilter(), skip=skip, most=most
    )
    found = await db.read(finding, behind=index.SLICE_LINES)
    if found is None:
        await _catch_up(db)
        found = await db.read(finding)
    return found or Found()


async def _catch_up(db: Database) -> None:
    """Index some of what waits; the rest is looked through."""
    for _ in range(_SLICES_AT_ONCE):
        _, is_more = await db.write(index.index_some)
        if not is_more:
            return


async def index_all(db: Database) -> int:
    """Index everything that is not indexed yet; return how many lines. Others write in between.

    Lines that are written meanwhile are left out: under load that would be a commit for each line.
    """
    if not await db.read(index.count_waiting):
        return 0
    done, is_more = 0, True
    while is_more:
        some, is_more = await db.write(index.index_some)
        done += some
    return done


async def rebuild_index(db: Database) -> int:
    """Build the search index again from the transcripts; return how many lines it has."""
    await db.write(check.rebuild_index)
    return await index_all(db)
