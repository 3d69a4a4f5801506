"""The delivery of one subscription: read on in the change log, send what its filter wants, note what arrived."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from postroom.errors import CursorBroken, CursorForeign, CursorTooOld, PostroomError
from postroom.registry.permissions import Permissions
from postroom.replication.subscriptions.delivery_progress import STOPPED, DeliveryProgress, RetryPolicy
from postroom.replication.subscriptions.filters import Filter, FilterRefused
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Event, Sink
from postroom.replication.subscriptions.subscription import Subscription

NOTE_EVENTS = 200
NOTE_SECONDS = 0.5
IDLE_NOTE_SECONDS = 60.0
STRETCH_SECONDS = 5.0
SHORT_WAIT_SECONDS = 1.0
MINUTE = 60.0


class EventBatch(msgspec.Struct, frozen=True):
    """Some changes: the mark of each with its events; `cursor` is behind all of them.

    Changes that may not be read with `permissions` have none.
    """

    changes: Sequence[tuple[str, list[Event]]]
    cursor: str
    more: bool
    permissions: Permissions


class SubscriptionDelivery:
    """The delivery of one subscription. One thread at a time works on it.

    `note` writes the progress and says whether it still counts; `allows` gives the permissions that its owner has now,
    and raises DeliveryFailed when there are none.
    """

    def __init__(
        self,
        subscription: Subscription,
        progress: DeliveryProgress,
        read: Callable[[Subscription, str], EventBatch],
        note: Callable[[str, DeliveryProgress], bool],
        allows: Callable[[Subscription], Permissions],
        policy: RetryPolicy,
        stopping: threading.Event,
    ) -> None:
        self.subscription = subscription
        self.progress = progress
        self.sink: Sink | None = None
        self.used = time.monotonic()
        self._read = read
        self._note = note
        self._allows = allows
        self._policy = policy
        self._stopping = stopping
        self._filter: Filter | None = None
        self._noted = progress
        self._noted_at = time.monotonic()
        self._event: Event | None = None
        self._is_void = False

    @property
    def is_stopped(self) -> bool:
        """Whether it waits for a person, or a person has changed it."""
        return self._is_void or self.progress.status in STOPPED

    def work(self, open_sink: Callable[[Subscription], Sink], callback: str) -> None:
        """Deliver until there is nothing left, something fails, or others should have a turn."""
        self.used = time.monotonic()
        self._event = None
        try:
            self.sink = self.sink or open_sink(self.subscription)
            if self.progress.status == "unconfirmed":
                self._confirm(self.sink, callback)
            until = time.monotonic() + STRETCH_SECONDS
            while time.monotonic() < until and self._deliver_batch(self.sink):
                pass
        except DeliveryFailed as failure:
            self.fail(failure)
        if self.sink is not None:
            self.sink.rest()
        self.used = time.monotonic()
        self._note_at_the_end()

    def fail(self, failure: DeliveryFailed) -> None:
        """Remember what went wrong, and when to try again."""
        self.progress = self._policy.failed(self.progress, failure, self._event)

    def give_up(self, failure: DeliveryFailed) -> None:
        """Note a failure after an unexpected error, and close the sink: its state is not known."""
        self.close()
        self.fail(failure)
        self._note_at_the_end()

    def close(self) -> None:
        """Give the sink back."""
        if self.sink is not None:
            self.sink.close()
            self.sink = None

    def _confirm(self, sink: Sink, callback: str) -> None:
        permission = sink.confirm(callback)
        self.progress = self.progress.confirmed(permission.rate)

    def _next(self) -> EventBatch:
        try:
            return self._read(self.subscription, self.progress.cursor)
        except (CursorBroken, CursorForeign, CursorTooOld) as error:
            raise DeliveryFailed(f"changes are missing: {error}", "refused") from None

    def _deliver_batch(self, sink: Sink) -> bool:
        """Deliver one batch; whether there is more to be done in this stretch."""
        batch = self._next()
        for mark, events in batch.changes:
            if events and self._allows(self.subscription) != batch.permissions:
                return True  # they have changed while a slow sink was waited for: read anew
            if not self._deliver_change(sink, events):
                return False
            self._advance(mark)
            if self._stopping.is_set() or not self._note_now_and_then():
                return False
        self._advance(batch.cursor)
        return batch.more

    def _deliver_change(self, sink: Sink, events: list[Event]) -> bool:
        """Send what is wanted of a change's events; False when the sink's rate leaves no time for another one now."""
        for number in range(self.progress.settled, len(events)):
            event = events[number]
            if self._wanted(event):
                if not self._is_due():
                    return False
                self._event = event
                sink.send(event)
                self._event = None
                self._count()
            self.progress = msgspec.structs.replace(self.progress, settled=number + 1)
        return True

    def _wanted(self, event: Event) -> bool:
        if self._filter is None:
            try:
                self._filter = self.subscription.wanted()
            except FilterRefused as refusal:
                raise DeliveryFailed(f"the filters cannot be used any more: {refusal}", "refused") from None
        return self._filter(event)

    def _is_due(self) -> bool:
        """Whether the next event may be sent; a short while is waited for."""
        wait = self.progress.wait(time.time()) if self.progress.rate else 0.0
        if wait > SHORT_WAIT_SECONDS:
            return False
        return wait <= 0 or not self._stopping.wait(wait)

    def _count(self) -> None:
        recovered = self.progress.recovered() if self.progress.error else self.progress
        now = time.time() if self.progress.rate else 0.0
        due = now + MINUTE / self.progress.rate if self.progress.rate else 0.0
        self.progress = msgspec.structs.replace(recovered, delivered=recovered.delivered + 1, due=due, paused=now)

    def _advance(self, cursor: str) -> None:
        self.progress = msgspec.structs.replace(self.progress, cursor=cursor, settled=0)

    def _note_now_and_then(self) -> bool:
        """Every note costs the disk a write, so many events share one: what was not noted may arrive twice."""
        fresh = self.progress.delivered - self._noted.delivered
        if fresh >= NOTE_EVENTS or (fresh and time.monotonic() - self._noted_at > NOTE_SECONDS):
            return self._write()
        return True

    def _note_at_the_end(self) -> None:
        if self.progress == self._noted:
            return
        is_idle = msgspec.structs.replace(self.progress, cursor=self._noted.cursor) == self._noted
        # A cursor that moved past unwanted events can be had again by reading them again.
        if not is_idle or time.monotonic() - self._noted_at > IDLE_NOTE_SECONDS:
            self._write()

    def _write(self) -> bool:
        try:
            self._is_void = not self._note(self.subscription.id, self.progress)
        except PostroomError:
            return True  # the store is busy; the next note tells this too
        self._noted, self._noted_at = self.progress, time.monotonic()
        return not self._is_void
