"""The store as deliveries use it: batches of events, notes of progress, and the claim to be the only dispatcher."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.events import Event, catalog_events_of, events_of
from postroom.replication.changes.feed import page_of
from postroom.replication.changes.messagecatalog_events import DELETED, UPDATED
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.credentials import Credential
from postroom.replication.subscriptions.delivery import EventBatch
from postroom.replication.subscriptions.delivery_progress import DeliveryProgress
from postroom.replication.subscriptions.subscription import Subscription
from postroom.store.interface import Store

CLAIM = "dispatcher"
CLAIM_SECONDS = 1.0
CLOSE_SECONDS = 5.0
BATCH = 200
KEPT = 8


class Stopped(Exception):
    """The service ends; the store is no longer there to be used."""


class DeliveryStore:
    """The store, as long as it is open. Methods may be called from any thread. With `names` events say what changed."""

    def __init__(self, store: Store, *, names: bool = True) -> None:
        self._store = store
        self._names = names
        self._using = threading.Condition()
        self._users = 0
        self._is_closed = False
        self._batches: OrderedDict[tuple[str, str, bool, str], EventBatch] = OrderedDict()

    @contextmanager
    def claimed(self, stopping: threading.Event) -> Iterator[None]:
        """Wait until no other process dispatches, and be the one that does."""
        while True:
            with self._use():
                claim = self._store.claim(CLAIM)
            if claim is not None:
                break
            if stopping.wait(CLAIM_SECONDS):
                raise Stopped
        with claim:
            yield

    def close(self) -> None:
        """Wait until nobody uses the store; from here on every use raises Stopped."""
        with self._using:
            self._is_closed = True
            self._using.wait_for(lambda: self._users == 0, CLOSE_SECONDS)

    def version(self) -> int:
        """A number that changes whenever something was written."""
        with self._use():
            return self._store.version()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A transaction that changes nothing."""
        with self._use(), self._store.read() as tx:
            yield tx

    def batch(self, subscription: Subscription, cursor: str) -> EventBatch:
        """The events behind a cursor; subscriptions that are equally far share the work of making them."""
        with_catalog = not subscription.types or bool({UPDATED, DELETED} & set(subscription.types))
        with self.read() as tx:
            newest = tx.last_change()
            key = (cursor, subscription.base, with_catalog, newest.mark if newest else "")
            found = self._batches.get(key)
            if found is None:
                found = self._batches[key] = self._made(tx, cursor, subscription.base, with_catalog)
                while len(self._batches) > KEPT:
                    self._batches.popitem(last=False)
            return found

    def note(self, subscription_id: str, progress: DeliveryProgress) -> bool:
        """Write down how far a delivery is; whether it still counts."""
        with self._use(), self._store.write() as tx:
            return subscription_store.note_progress(tx, subscription_id, progress)

    def keep(self, subscription_id: str, before: Credential | None, renewed: Credential) -> None:
        """Write down a token that was had anew."""
        with self._use(), self._store.write() as tx:
            subscription_store.keep_credential(tx, subscription_id, before, renewed)

    @contextmanager
    def _use(self) -> Iterator[None]:
        with self._using:
            if self._is_closed:
                raise Stopped
            self._users += 1
        try:
            yield
        finally:
            with self._using:
                self._users -= 1
                self._using.notify_all()

    def _made(self, tx: Transaction, cursor: str, base: str, with_catalog: bool) -> EventBatch:
        page = page_of(tx, cursor, BATCH)
        events: dict[int, list[Event]] = {}
        for sequence, event in events_of(tx, page.changes, base, names=self._names):
            events.setdefault(sequence, []).append(event)
        if with_catalog:
            for sequence, event in catalog_events_of(tx, page.changes, base):
                events.setdefault(sequence, []).append(event)
        changes = [(change.mark, events.get(change.sequence, [])) for change in page.changes]
        return EventBatch(changes, page.cursor, page.more)
