"""The progress of a delivery, kept in the store so that it outlives the process; and when it is tried again."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Event
from postroom.settings import Settings

DeliveryStatus = Literal["unconfirmed", "active", "retrying", "dead", "ended"]
STOPPED = frozenset({"dead", "ended"})
LONGEST_SENTENCE = 500


class DeliveryProgress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What has arrived, and what is in the way.

    `unconfirmed`: the sink has not agreed yet; `retrying`: an event did not arrive and is tried again at `due`;
    `dead`: it will not be tried again until a person resumes; `ended`: the sink wants no more. A person's word raises
    `revision`, and what a delivery under way then notes is void.
    """

    cursor: str
    """The last change of which everything is settled."""
    revision: int = 0
    status: DeliveryStatus = "unconfirmed"
    rate: int = 0
    key: str = ""
    """What a sink shows that gives its consent by calling back."""
    delivered: int = 0
    attempts: int = 0
    since: float = 0.0
    """When the first of these attempts was."""
    due: float = 0.0
    paused: float = 0.0
    """When `due` was set: a clock that shows less has been put back."""
    error: str = ""
    event: dict[str, Any] | None = None
    """The event that is in the way."""
    settled: int = 0
    """How many events of the change behind the cursor are settled too: one change may give two."""

    def shown(self) -> dict[str, Any]:
        """What a person sees."""
        made: dict[str, Any] = {"status": self.status, "cursor": self.cursor, "delivered": self.delivered}
        if self.rate:
            made["allowedrate"] = self.rate
        if self.error:
            made |= {"error": self.error, "attempts": self.attempts, "failingsince": moment(self.since)}
        if self.error and self.status not in STOPPED:
            made["nextattempt"] = moment(self.due)
        return made if self.event is None else {**made, "event": self.event}

    def wait(self, now: float) -> float:
        """For how many seconds nothing is to be sent; a clock that was put back prolongs no wait."""
        return max(0.0, self.due - now) if now >= self.paused else 0.0

    def confirmed(self, rate: int) -> DeliveryProgress:
        """The sink has agreed."""
        return msgspec.structs.replace(self.recovered(), status="active", rate=rate, key="")

    def recovered(self) -> DeliveryProgress:
        """Nothing is in the way any more."""
        status: DeliveryStatus = "active" if self.status == "retrying" else self.status
        return msgspec.structs.replace(
            self, status=status, attempts=0, since=0.0, due=0.0, paused=0.0, error="", event=None
        )

    def resumed(self) -> DeliveryProgress:
        """A person wants another try: at once, and with new consent where the sink had said no."""
        status: DeliveryStatus = "unconfirmed" if self.key or self.status == "ended" else "active"
        return msgspec.structs.replace(self.recovered(), status=status, revision=self.revision + 1)


class RetryPolicy(msgspec.Struct, frozen=True):
    """When a failed delivery is tried again: after a time that doubles, within bounds, and never for all at once."""

    first_s: float = 0.5
    most_s: float = 300.0
    give_up_s: float = 86400.0

    @classmethod
    def of(cls, settings: Settings) -> RetryPolicy:
        """The policy that the settings describe."""
        return cls(give_up_s=settings.delivery_patience_s)

    def pause(self, attempts: int) -> float:
        """How long to wait after so many attempts."""
        longest = min(self.most_s, self.first_s * 2.0 ** min(attempts - 1, 30))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing

    def failed(self, before: DeliveryProgress, failure: DeliveryFailed, event: Event | None) -> DeliveryProgress:
        """The progress after a failure."""
        now = time.time()
        attempts, since = before.attempts + 1, before.since or now
        status: DeliveryStatus = "unconfirmed" if before.status == "unconfirmed" else "retrying"
        if failure.verdict == "gone":
            status = "ended"
        elif failure.verdict == "refused" or now - since > self.give_up_s:
            status = "dead"
        return msgspec.structs.replace(
            before,
            status=status,
            attempts=attempts,
            since=since,
            due=now + max(failure.after, self.pause(attempts)),
            paused=now,
            error=failure.sentence[:LONGEST_SENTENCE],
            event=event,
        )


def moment(seconds: float) -> str:
    """A time in RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
