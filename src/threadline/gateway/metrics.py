"""Metrics: what a gateway counts and measures, as Prometheus reads it."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from threadline.core.delivery import DeliveryState
from threadline.core.gateway_status import PlatformHealth, PlatformState
from threadline.core.job import RunState
from threadline.core.platform import ReceiveStatus
from threadline.core.turn import TurnState
from threadline.database.port import Database
from threadline.gateway.intervals import run_every
from threadline.store.gateways import read_load

LAG_EVERY = timedelta(milliseconds=250)
"""How often the lag of the event loop is measured."""
LOOK_EVERY = timedelta(seconds=15)
"""How often it is counted what there is to do."""

_OTHER = "other"
"""Where a platform is counted that nobody configured: labels must not grow without end."""
_UNSIGNED = "unsigned"
_TURN_BUCKETS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800)
_DELIVERY_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 3600)
_LAG_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
_COMMIT_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)


class Metrics:
    """Counts what happens, in a registry of its own. Nothing here is stored, and no text is seen.

    Platforms are told apart by name only where they are named beforehand.
    """

    def __init__(self, platforms: Collection[str] = ()) -> None:
        """Begin at zero."""
        self._platforms = set(platforms)
        self.registry = CollectorRegistry()
        self._make_counters()
        self._make_gauges()
        self._make_histograms()

    def _make_counters(self) -> None:
        self._arrivals = Counter(
            "threadline_arrivals",
            "What platforms brought, by how it was received.",
            ("platform", "reception"),
            registry=self.registry,
        )
        self._turns = Counter(
            "threadline_turns",
            "Turns that ran here, by the state they came to.",
            ("state",),
            registry=self.registry,
        )
        self._lease_losses = Counter(
            "threadline_lease_losses",
            "Running turns that were taken from this process.",
            registry=self.registry,
        )
        self._deliveries = Counter(
            "threadline_deliveries",
            "Attempts to deliver, by the state they came to.",
            ("platform", "state"),
            registry=self.registry,
        )
        self._job_runs = Counter(
            "threadline_job_runs",
            "Jobs that were due, by what came of it.",
            ("state",),
            registry=self.registry,
        )
        self._hooks = Counter(
            "threadline_hooks",
            "Calls of hooks, by what they were told of and how that went.",
            ("hook", "outcome"),
            registry=self.registry,
        )

    def _make_gauges(self) -> None:
        def gauge(name: str, sentence: str, *labels: str) -> Gauge:
            return Gauge(f"threadline_{name}", sentence, labels, registry=self.registry)

        self._queued = gauge("queued_turns", "Turns of the store that wait for a worker.")
        self._running = gauge("running_turns", "Turns of the store that are under way.")
        self._owed = gauge("owed_deliveries", "Deliveries of the store that wait to be sent.")
        self._size = gauge("storage_bytes", "The size of the database.")
        self._up = gauge("platform_up", "Whether a platform can be reached: 1 or 0.", "platform")

    def _make_histograms(self) -> None:
        def histogram(name: str, sentence: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(
                f"threadline_{name}", sentence, buckets=buckets, registry=self.registry
            )

        self._turn_seconds = histogram("turn_seconds", "How long turns ran.", _TURN_BUCKETS)
        self._delivery_seconds = histogram(
            "delivery_seconds",
            "From when a delivery was owed until it was sent.",
            _DELIVERY_BUCKETS,
        )
        self._commit_seconds = histogram(
            "commit_seconds",
            "From when a turn was asked for until its claim was on disk.",
            _COMMIT_BUCKETS,
        )
        self._lag = histogram(
            "loop_lag_seconds", "How much later than asked the event loop woke up.", _LAG_BUCKETS
        )

    def know(self, platform: str) -> None:
        """Tell a platform apart by name from now on."""
        self._platforms.add(platform)

    def part(self, platform: str) -> None:
        """Show no longer whether a platform can be reached, as nobody tries to."""
        with suppress(KeyError):
            self._up.remove(platform)

    def arrived(self, platform: str, reception: ReceiveStatus) -> None:
        """Count something that a platform brought."""
        self._arrivals.labels(self._known(platform), reception.value).inc()

    def unsigned(self, platform: str) -> None:
        """Count a request that was turned away because it was not rightly signed."""
        self._arrivals.labels(self._known(platform), _UNSIGNED).inc()

    def turn_ended(self, state: TurnState, seconds: float) -> None:
        """Count a turn that runs no longer."""
        self._turns.labels(state.value).inc()
        self._turn_seconds.observe(max(seconds, 0))

    def job_was_due(self, state: RunState) -> None:
        """Count a job whose time had come."""
        self._job_runs.labels(state.value).inc()

    def lease_lost(self) -> None:
        """Count a turn that was taken from this process while it ran."""
        self._lease_losses.inc()

    def delivered(
        self, platform: str, state: DeliveryState, since_owed: timedelta | None = None
    ) -> None:
        """Count an attempt to deliver; one that was sent took so long since it was owed."""
        self._deliveries.labels(self._known(platform), state.value).inc()
        if state is DeliveryState.SENT and since_owed is not None:
            self._delivery_seconds.observe(max(since_owed.total_seconds(), 0))

    def committed(self, seconds: float) -> None:
        """Measure how long a commit took."""
        self._commit_seconds.observe(max(seconds, 0))

    def hook_called(self, kind: str, *, failed: bool) -> None:
        """Count a call of a hook."""
        self._hooks.labels(kind, "failed" if failed else "done").inc()

    def platform_is(self, platform: str, health: PlatformHealth | PlatformState) -> None:
        """Show whether a platform can be reached."""
        state = health.state if isinstance(health, PlatformHealth) else health
        self._up.labels(self._known(platform)).set(state is PlatformState.UP)

    def text(self) -> bytes:
        """Write everything down in the exposition format of Prometheus."""
        return generate_latest(self.registry)

    async def run(self, database: Database) -> None:
        """Measure, until cancelled, what does not come by itself: the loop's lag, and the load."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._measure_lag())
            group.create_task(run_every(lambda: self.look(database), LOOK_EVERY, at_once=True))

    async def look(self, database: Database) -> None:
        """Count what there is to do in a store."""
        load = await database.read(read_load)
        self._queued.set(load.queued)
        self._running.set(load.running)
        self._owed.set(load.owed)
        self._size.set(load.size)

    async def _measure_lag(self) -> None:
        loop, every = asyncio.get_running_loop(), LAG_EVERY.total_seconds()
        while True:
            due = loop.time() + every
            await asyncio.sleep(every)
            self._lag.observe(max(loop.time() - due, 0))

    def _known(self, platform: str) -> str:
        return platform if platform in self._platforms else _OTHER
