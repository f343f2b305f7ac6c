"""Garbage collector: what is loaded at the start is not scanned again and again."""

import gc

_USUAL = gc.get_threshold()
_SELDOM = 10_000


def spare_heap() -> None:
    """Let the garbage collector look less often, for a process that starts or will end soon.

    Nearly all that is made by imports stays, and it would be looked through a hundred times.
    """
    gc.set_threshold(_SELDOM)


def settle_heap() -> None:
    """Let the garbage collector pass over all that is there now, for a process that only serves.

    Everything stands still while it looks through what has lived long, and most of that are
    modules: without them its longest pauses become shorter. From now on it looks as often as usual.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_USUAL)
