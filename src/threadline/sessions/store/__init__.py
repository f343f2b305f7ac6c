"""The store: every operation of the session layer, as one typed, asynchronous interface."""

from threadline.sessions.store.arriving import Arriving
from threadline.sessions.store.delivering import Delivering
from threadline.sessions.store.keeping import Keeping
from threadline.sessions.store.reading import Reading
from threadline.sessions.store.running import Running


class Store(Arriving, Running, Delivering, Keeping, Reading):
    """All conversations of an installation. Make one with `threadline.open`."""


__all__ = ["Store"]
