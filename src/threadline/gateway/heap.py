"""The heap: what a process has loaded stays for ever, and is not looked through again and again."""

import gc


def settle_heap() -> None:
    """Let the garbage collector pass over all that is there now, for a process that only serves.

    Everything stands still while it looks through what has lived long, and most of that are
    modules: without them its longest pauses become shorter.
    """
    gc.collect()
    gc.freeze()
