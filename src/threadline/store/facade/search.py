"""The store's search: everything that was said, as far as the asker may see it."""

from threadline.core.person import Viewer
from threadline.core.search import (
    HITS,
    Found,
    SearchFilter,
)
from threadline.core.validation import checked_count, checked_flag, checked_type
from threadline.store.facade.connection import StoreConnection
from threadline.store.search import search


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
        return await search.search(
            self._db,
            text,
            asker=checked_type(asker, "asker", Viewer),
            where=None if where is None else checked_type(where, "where", SearchFilter),
            is_typing=checked_flag(is_typing, "is_typing"),
            skip=checked_count(skip, "skip"),
            most=checked_count(most, "page size", 1),
        )
