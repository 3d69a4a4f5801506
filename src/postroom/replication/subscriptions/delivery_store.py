"""The store as deliveries use it: batches of events, notes of progress, and the claim to be the only dispatcher."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing, contextmanager

import msgspec

from postroom.registry.entities import Change
from postroom.registry.permissions import UNRESTRICTED, Permissions
from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.events import Event, catalog_events_of, events_of
from postroom.replication.changes.feed import page_of
from postroom.replication.changes.messagecatalog_events import DELETED, UPDATED
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.credentials import Credential
from postroom.replication.subscriptions.delivery import EventBatch
from postroom.replication.subscriptions.delivery_progress import DeliveryProgress
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed
from postroom.replication.subscriptions.subscription import Subscription
from postroom.store.interface import Claim, Store

CLAIM = "dispatcher"
CLAIM_SECONDS = 1.0
CLOSE_SECONDS = 5.0
BATCH = 200
KEPT = 8

PermissionsOf = Callable[[str], Permissions | None]
"""What a principal may do now; None when there is no such principal. It is asked before every event, so it is quick."""


def allow_everything(principal: str) -> Permissions | None:
    """Let everybody read everything: access is off."""
    return UNRESTRICTED


class Stopped(Exception):
    """The service ends; the store is no longer there to be used."""


class ClaimLost(Stopped):
    """The database was lost, and with it the claim: another process may be the dispatcher by now."""


class DeliveryStore:
    """The store, as long as it is open. Methods may be called from any thread. With `names` events say what changed."""

    def __init__(self, store: Store, *, names: bool = True, permissions_of: PermissionsOf = allow_everything) -> None:
        self._store = store
        self._names = names
        self._permissions_of = permissions_of
        self._using = threading.Condition()
        self._users = 0
        self._is_closed = False
        self._batches: OrderedDict[tuple[Hashable, ...], EventBatch] = OrderedDict()

    @contextmanager
    def claimed(self, stopping: threading.Event) -> Iterator[Claim]:
        """Wait until no other process dispatches, and be the one that does."""
        while True:
            with self._use():
                claim = self._store.claim(CLAIM)
            if claim is not None:
                break
            if stopping.wait(CLAIM_SECONDS):
                raise Stopped
        with closing(claim):
            yield claim

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

    def permissions(self, subscription: Subscription) -> Permissions:
        """What the owner of a subscription may read now; DeliveryFailed when there is no such principal any more."""
        found = self._permissions_of(subscription.owner)
        if found is None:
            owner = subscription.owner or "nobody, as it was made while access was off"
            raise DeliveryFailed(f"its owner ({owner}) has no access here", "refused")
        return found

    def batch(self, subscription: Subscription, cursor: str) -> EventBatch:
        """The events behind a cursor that the owner may read; subscriptions that are equally far share the work."""
        with_catalog = not subscription.types or bool({UPDATED, DELETED} & set(subscription.types))
        permissions = self.permissions(subscription)
        with self.read() as tx:
            newest = tx.last_change()
        source = subscription.catalog or subscription.base
        key = (cursor, source, with_catalog, newest.mark if newest else "", permissions.read)
        found = self._batches.get(key)
        if found is None:
            found = self._batches[key] = self._made(cursor, subscription, with_catalog, permissions)
            while len(self._batches) > KEPT:
                self._batches.popitem(last=False)
        return msgspec.structs.replace(found, permissions=permissions)

    def note(self, claim: Claim, subscription_id: str, progress: DeliveryProgress) -> bool:
        """Write down how far a delivery is; whether it still counts. ClaimLost when others may be further."""
        with self._use(), self._store.write() as tx:
            if not claim.holds():
                raise ClaimLost
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

    def _made(
        self, cursor: str, subscription: Subscription, with_catalog: bool, permissions: Permissions
    ) -> EventBatch:
        catalog, base = subscription.catalog, subscription.base
        events: dict[int, list[Event]] = {}
        with self.read() as tx:
            page = page_of(tx, cursor, BATCH)
        with self._use(), self._store.seen_by(permissions).read() as tx:
            changes = _shown(tx, page.changes)
            for sequence, event in events_of(tx, changes, base, names=self._names) if not catalog else ():
                events.setdefault(sequence, []).append(event)
            for sequence, event in catalog_events_of(tx, changes, catalog or base) if with_catalog else ():
                events.setdefault(sequence, []).append(event)
        # A change that is not shown any more keeps its place: what was settled of it must not be taken for another's.
        marked = [(change.mark, events.get(change.sequence, [])) for change in page.changes]
        return EventBatch(marked, page.cursor, page.more, permissions)


def _shown(tx: Transaction, changes: list[Change]) -> list[Change]:
    """Some changes as the principal of a transaction sees them."""
    if not changes or tx.permissions is UNRESTRICTED:
        return changes
    last = changes[-1].sequence
    return [row for row in tx.changes(changes[0].sequence - 1, len(changes)) if row.sequence <= last]
