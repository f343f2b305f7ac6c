"""The heap of a process that serves."""

import gc

from threadline.gateway.heap import settle_heap


def test_what_was_loaded_is_not_looked_through_again() -> None:
    """What is there already belongs to no generation of the collector any more."""
    known: list[list[int]] = [[] for _ in range(1000)]
    try:
        settle_heap()

        assert gc.get_freeze_count() > len(known)
        assert not any(one is known for one in gc.get_objects())
    finally:
        gc.unfreeze()
