"""Revisions: each state of a thing has a name, and nobody overwrites what they have not seen."""

import pytest

from threadline.core.errors import Conflict, Stale
from threadline.core.revision import require_seen, revision_of


def test_other_values_are_another_revision() -> None:
    """It does not matter where one value ends and the next begins."""
    assert revision_of("a", "b") == revision_of("a", "b")
    assert len({revision_of("a", "b"), revision_of("ab", ""), revision_of("b", "a")}) == 3


def test_whoever_has_not_seen_it_is_refused() -> None:
    """One of several revisions is enough, and nobody has to name any."""
    require_seen(7, None, "a")
    require_seen(7, frozenset({"6", "7"}), "a")
    for seen in (frozenset({"6"}), frozenset[str]()):
        with pytest.raises(Stale, match="meantime") as stale:
            require_seen(7, seen, "a")
        assert (stale.value.id, isinstance(stale.value, Conflict)) == ("a", True)
