"""What a process of the service knows of itself: its measurements, and whether it should get requests."""

from __future__ import annotations

import os

from postroom.http.operations import metric_table as table
from postroom.http.operations.metrics import ProcessMetrics, Values, render
from postroom.http.operations.registry_metrics import registry_metrics
from postroom.http.operations.shared_metrics import SharedMetrics
from postroom.http.server.event_streams import Streams
from postroom.http.server.thread_pools import Pools
from postroom.http.server.web_pages import WebPages
from postroom.prometheus_text import MetricFamily
from postroom.replication.replicas.link_runner import LinkRunner
from postroom.replication.subscriptions.dispatcher import EventDispatcher
from postroom.store.interface import Store


class ServerProcess:
    """One process that answers. Without a folder to share measurements in, it is the only one."""

    def __init__(self, metrics_folder: str = "", pages: WebPages | None = None) -> None:
        self.pages = pages
        """What shows the registry to people, where there is something that does."""
        self.metrics = ProcessMetrics()
        self._shared = SharedMetrics(self.metrics, metrics_folder) if metrics_folder else None
        self._dispatcher: EventDispatcher | None = None
        self._links: LinkRunner | None = None
        self.is_stopping = False
        """Whether it was told to stop, and takes only what is still sent to it."""

    def start(self, dispatcher: EventDispatcher, links: LinkRunner, pools: Pools, streams: Streams) -> None:
        """Watch these."""
        self._dispatcher, self._links = dispatcher, links
        self.metrics.watch(lambda: _gauges(dispatcher, links, pools, streams))
        if self._shared is not None:
            self._shared.start()

    def stop(self) -> None:
        """Leave to the others what was measured."""
        self._dispatcher = self._links = None
        if self._shared is not None:
            self._shared.stop()

    def begin_stop(self) -> None:
        """Be not ready from now on."""
        self.is_stopping = True

    def trouble(self) -> str:
        """Why it should get no requests; empty when it should."""
        if self.is_stopping:
            return "It has been told to stop."
        if self._dispatcher is not None and not self._dispatcher.is_alive:
            return "Events are not delivered: the thread that does so has ended, or hangs. The log tells why."
        if self._links is not None and not self._links.is_alive:
            return "Links do not run: the thread that runs them has ended. The log tells why."
        return ""

    def exposed(self, store: Store) -> str:
        """All metrics as a scraper reads them."""
        with store.base.read() as tx:
            registry = registry_metrics(tx)
        return render((self._shared or self.metrics).measured(), registry)


def _gauges(
    dispatcher: EventDispatcher, links: LinkRunner, pools: Pools, streams: Streams
) -> dict[MetricFamily, Values]:
    pid = str(os.getpid())
    named = pools.named()
    return {
        table.DISPATCHER_ALIVE: {(pid,): float(dispatcher.is_alive and links.is_alive)},
        table.LINK_LAG_SECONDS: {(link_id,): lag for link_id, lag in links.lags().items()},
        table.POOL_WAITING: {(name, pid): float(pool.waiting) for name, pool in named.items()},
        table.POOL_BUSY: {(name, pid): float(pool.busy) for name, pool in named.items()},
        table.STREAMS: {(pid,): float(len(streams))},
    }
