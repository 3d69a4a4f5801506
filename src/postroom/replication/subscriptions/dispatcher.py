"""The thread that delivers: it watches the change log and gives every subscription with something to send a worker.

Among several server processes one has the claim and dispatches; another takes over when that one is gone.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import math
import queue
import threading
import time
from collections.abc import Callable

from postroom.registry.transaction_interface import Transaction
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.delivery import SubscriptionDelivery
from postroom.replication.subscriptions.delivery_progress import RetryPolicy
from postroom.replication.subscriptions.delivery_store import (
    DeliveryStore,
    PermissionsOf,
    Stopped,
    allow_everything,
)
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Sink
from postroom.replication.subscriptions.sinks.sink_table import open_sink
from postroom.replication.subscriptions.subscription import Subscription
from postroom.settings import Settings
from postroom.store.interface import Claim, Store

LOG = logging.getLogger("postroom.delivery")
POLL_SECONDS = 0.1
PAUSE_SECONDS = 1.0
IDLE_SECONDS = 20.0
NOTES_SECONDS = 1.0
MOST_WORKERS = 256
LONGEST_LOOK_SECONDS = 60.0
"""A dispatcher that has not looked for changes for so long hangs."""


class EventDispatcher:
    """Delivers the events of a store's subscriptions, from `start` to `stop`: what their owners may read then."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        policy: RetryPolicy | None = None,
        *,
        poll_s: float = POLL_SECONDS,
        permissions_of: PermissionsOf = allow_everything,
    ) -> None:
        self._settings = settings
        self._policy = policy or RetryPolicy.of(settings)
        self._poll_s = poll_s
        self._store = DeliveryStore(store, names=settings.changes_name_attributes, permissions_of=permissions_of)
        self._stopping = threading.Event()
        self._workers = WorkerThreads(MOST_WORKERS)
        self._thread = threading.Thread(target=self._run, name="postroom-dispatcher", daemon=True)
        self._deliveries: dict[str, SubscriptionDelivery] = {}
        self._busy: set[str] = set()
        self._bodies: dict[str, bytes] = {}
        self._has_skipped = False
        self._looked = math.inf
        """When it last looked for changes; never, while another process delivers."""

    @property
    def is_alive(self) -> bool:
        """Whether it delivers, or waits for its turn to: another process may be the one that does."""
        return self._thread.is_alive() and time.monotonic() - self._looked < LONGEST_LOOK_SECONDS

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def stop(self) -> None:
        """Deliver no more; a sink that is being waited for is left alone, and nobody touches the store any more."""
        self._stopping.set()
        self._thread.join(5)
        for subscription_id, delivery in list(self._deliveries.items()):
            if subscription_id not in self._busy:
                delivery.close()
        self._store.close()

    def _run(self) -> None:
        with contextlib.suppress(Stopped):
            while not self._stopping.is_set():
                with self._store.claimed(self._stopping) as claim:
                    self._watch(claim)
                    self._wait_for_notes()

    def _watch(self, claim: Claim) -> None:
        """Dispatch until the end, or until the claim is lost: then what is known here may be out of date."""
        version = -1
        newest = ""
        while not self._stopping.wait(self._poll_s):
            self._looked = time.monotonic()
            try:
                if not claim.holds():
                    LOG.warning("the database was lost, and with it the claim to dispatch events")
                    self._drop_deliveries()
                    return
                present = self._store.version()
                if present != version or self._has_skipped:
                    newest = self._refresh(claim)
                    version = present
                self._dispatch(newest)
            except Stopped:
                return
            except Exception:
                LOG.exception("deliveries are held up")
                self._stopping.wait(PAUSE_SECONDS)

    def _wait_for_notes(self) -> None:
        """Keep the claim a moment longer, so that deliveries which end now can note how far they came."""
        until = time.monotonic() + NOTES_SECONDS
        while self._stopping.is_set() and self._busy and time.monotonic() < until:
            time.sleep(POLL_SECONDS / 10)

    def _drop_deliveries(self) -> None:
        """Forget what is known of deliveries. Those that are under way find out when they note how far they are."""
        for subscription_id in list(self._deliveries):
            delivery = self._deliveries.pop(subscription_id)
            if subscription_id not in self._busy:
                delivery.close()

    def _refresh(self, claim: Claim) -> str:
        """Take over what clients have changed; the mark of the newest change."""
        with self._store.read() as tx:
            bodies = dict(tx.records(subscription_store.SUBSCRIPTION))
            self._has_skipped = bool(self._busy)
            for subscription_id, body in bodies.items():
                if subscription_id not in self._busy:
                    self._take_over(tx, subscription_id, body, claim)
            newest = tx.last_change()
        for gone in [known for known in self._deliveries if known not in bodies and known not in self._busy]:
            self._deliveries.pop(gone).close()
            self._bodies.pop(gone, None)
        return newest.mark if newest else ""

    def _take_over(self, tx: Transaction, subscription_id: str, body: bytes, claim: Claim) -> None:
        progress = subscription_store.read_progress(tx, subscription_id)
        known = self._deliveries.get(subscription_id)
        if known is not None and self._bodies[subscription_id] == body and known.progress.revision == progress.revision:
            return
        if known is not None:
            known.close()
        subscription = subscription_store.read(tx, subscription_id)
        self._bodies[subscription_id] = body
        self._deliveries[subscription_id] = SubscriptionDelivery(
            subscription,
            progress,
            self._store.batch,
            functools.partial(self._store.note, claim),
            self._store.permissions,
            self._policy,
            self._stopping,
        )

    def _dispatch(self, newest: str) -> None:
        now, idle = time.time(), time.monotonic() - IDLE_SECONDS
        for subscription_id, delivery in self._deliveries.items():
            if subscription_id in self._busy:
                continue
            progress = delivery.progress
            if delivery.is_stopped or (progress.cursor == newest and progress.status == "active"):
                if delivery.used < idle:
                    delivery.close()
                continue
            if not progress.wait(now):
                self._busy.add(subscription_id)
                self._workers.submit(functools.partial(self._work, subscription_id, delivery))

    def _work(self, subscription_id: str, delivery: SubscriptionDelivery) -> None:
        before = delivery.progress.status
        key = delivery.progress.key
        callback = f"{delivery.subscription.base}/-/subscriptions/{subscription_id}/confirm?key={key}"
        try:
            try:
                delivery.work(self._open, callback)
            except Stopped:
                raise
            except Exception:
                LOG.exception("the delivery of subscription %s failed", subscription_id)
                delivery.give_up(DeliveryFailed("the delivery failed; the log of the service tells why"))
        except Stopped:
            return
        finally:
            if self._deliveries.get(subscription_id) is not delivery:
                delivery.close()
            self._busy.discard(subscription_id)
        after = delivery.progress
        if after.status != before:
            LOG.info("subscription %s is %s now. %s", subscription_id, after.status, after.error)

    def _open(self, subscription: Subscription) -> Sink:
        return open_sink(subscription, self._settings, functools.partial(self._store.keep, subscription.id))


class WorkerThreads:
    """Up to so many threads. They are daemons, so that a sink that hangs does not keep the process alive."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0

    def submit(self, work: Callable[[], None]) -> None:
        """Have it done by a thread that is free, or by a new one, or by the first that will be free."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
            elif self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._serve, name=f"postroom-delivery-{self._threads}", daemon=True).start()
            else:
                self._free -= 1
        self._work.put(work)

    def _serve(self) -> None:
        while True:
            self._work.get()()
            with self._lock:
                self._free += 1
