"""The store: every operation of the session layer, as one typed, asynchronous interface."""

from threadline.sessions.store.admitting import Admitting
from threadline.sessions.store.approving import Approving
from threadline.sessions.store.arranging import Arranging
from threadline.sessions.store.arriving import Arriving
from threadline.sessions.store.commanding import Commanding
from threadline.sessions.store.counting import Counting
from threadline.sessions.store.delivering import Delivering
from threadline.sessions.store.directing import Directing
from threadline.sessions.store.exporting import Exporting
from threadline.sessions.store.keeping import Keeping
from threadline.sessions.store.knowing import Knowing
from threadline.sessions.store.pruning import Pruning
from threadline.sessions.store.reading import Reading
from threadline.sessions.store.requesting import Requesting
from threadline.sessions.store.running import Running
from threadline.sessions.store.scheduling import Scheduling
from threadline.sessions.store.searching import Searching
from threadline.sessions.store.serving import Serving
from threadline.sessions.store.shaping import Shaping
from threadline.sessions.store.sharing import Sharing
from threadline.sessions.store.surveying import Surveying
from threadline.sessions.store.welcoming import Welcoming


class Store(
    Admitting,
    Approving,
    Arranging,
    Arriving,
    Commanding,
    Counting,
    Running,
    Delivering,
    Directing,
    Exporting,
    Keeping,
    Knowing,
    Pruning,
    Reading,
    Requesting,
    Scheduling,
    Shaping,
    Searching,
    Serving,
    Sharing,
    Surveying,
    Welcoming,
):
    """All conversations of an installation. Make one with `threadline.open`."""


__all__ = ["Store"]
