"""The store's search: everything that was said, as far as the asker may see it."""

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
from threadline.core.validation import checked_count, checked_flag, checked_type
from threadline.database.port import Finding
from threadline.store.facade.connection import StoreConnection
from threadline.store.search import check, find, index

_SLICES_AT_ONCE = 20
"""Slices of about ten milliseconds that a search indexes before it looks through the rest."""


class SearchMethods(StoreConnection):
    """Full text, and the index that makes it fast."""

    async def search(
        self,
        text: str,
        *,
        asker: Viewer,
        where: SearchFilter | None = None,
        is_typing: bool = False,
        skip: int = 0,
        most: int = HITS,
    ) -> Found:
        """Find what was said; words, "phrases", -exclusions, beginnings* and *parts* of words.

        While somebody `is_typing`, the last word may be unfinished. `skip` is the last page's
        `next`. Nothing is missing because the index is behind.
        """
        query = read_query(text, is_typing=checked_flag(is_typing, "is_typing"))
        if checked_count(skip, "skip") > SKIP_LIMIT:
            raise Invalid(
                f"Only the first {SKIP_LIMIT:,} hits can be read", hint="Search for more words"
            )
        if checked_count(most, "page size", 1) > LARGEST_HITS:
            raise Invalid(f"A page has at most {LARGEST_HITS:,} hits")
        looking = partial(
            find.find,
            query=query,
            asker=checked_type(asker, "asker", Viewer),
            where=SearchFilter() if where is None else checked_type(where, "where", SearchFilter),
            skip=skip,
            most=most,
        )
        found = await self._db.read(looking, behind=index.SLICE_LINES)
        if found is None:
            await self._catch_up()
            found = await self._db.read(looking)
        return found or Found()

    async def _catch_up(self) -> None:
        """Index some of what waits; the rest is looked through."""
        for _ in range(_SLICES_AT_ONCE):
            _, is_more = await self._db.write(index.index_some)
            if not is_more:
                return

    async def index(self) -> int:
        """Index everything that is not yet; answers how many lines. Others write in between.

        What they say meanwhile is not run after: under load that would be a commit for each line.
        """
        if not await self._db.read(index.count_waiting):
            return 0
        done, is_more = 0, True
        while is_more:
            some, is_more = await self._db.write(index.index_some)
            done += some
        return done

    async def check_search(self) -> list[Finding]:
        """Compare the search index with every line and title; this reads the whole store."""
        return await self._db.read(check.check_index)

    async def rebuild_search(self) -> int:
        """Make the search index anew from what was said; answers how many lines it knows."""
        await self._db.write(check.rebuild_index)
        return await self.index()
