"""The heap of a process that serves."""

import gc

from threadline.gateway.garbage_collector import settle_heap, spare_heap


def test_what_was_loaded_is_not_looked_through_again() -> None:
    """What is there already belongs to no generation of the collector any more."""
    known: list[list[int]] = [[] for _ in range(1000)]
    try:
        settle_heap()

        assert gc.get_freeze_count() > len(known)
        assert not any(one is known for one in gc.get_objects())
    finally:
        gc.unfreeze()


def test_who_serves_looks_as_often_as_usual() -> None:
    """The collector looks less often only while a program starts."""
    usual = gc.get_threshold()
    try:
        spare_heap()
        assert gc.get_threshold()[0] > usual[0]

        settle_heap()
        assert gc.get_threshold() == usual
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
