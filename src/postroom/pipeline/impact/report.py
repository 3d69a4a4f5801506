"""What `impact` answers: plain values, per definition and in total."""

from __future__ import annotations

import math
from datetime import datetime

import msgspec

from postroom.documents.diff.change import CatalogChange
from postroom.documents.lint.findings import Finding

# The quantile of the normal distribution that gives intervals of 95%.
_Z = 1.959964


class Estimate(msgspec.Struct, frozen=True):
    """How many messages something is true of.

    Of a sample `count` were counted; of all messages it is true of `low` to `high`, with 95% confidence. Where all were
    judged these three are the same.
    """

    count: int
    low: int
    high: int

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left open."""
        return self.low == self.high

    def __str__(self) -> str:
        return f"{self.count:,}" if self.is_exact else f"{self.low:,} to {self.high:,}"


def estimated(count: int, judged: int, among: int) -> Estimate:
    """What is known of `among` messages when it is true of `count` of those that were judged (Wilson's interval)."""
    if judged >= among or not judged:
        return Estimate(count, count, count)
    share, spread = count / judged, _Z * _Z / judged
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * math.sqrt(share * (1 - share) / judged + spread / (4 * judged))
    low = max(count, math.floor((middle - half) * among))
    high = min(among - (judged - count), math.ceil((middle + half) * among))
    return Estimate(count, low, high)


class MessageSample(msgspec.Struct, frozen=True):
    """One message that fares otherwise: why, in sentences, and the beginning of its record unless values are hidden."""

    explained: str
    record: str = ""
    source: str = ""


class DyingMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Messages that landed in a definition and would be dead letters, of one outcome and first reason."""

    definition: str
    outcome: str
    code: str
    at: str
    messages: Estimate
    sample: MessageSample | None = None


class MovingMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Messages that landed in one definition and would land in another one."""

    definition: str
    to: str
    messages: Estimate


class RevivedMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Dead letters of one outcome and reason that would land in a definition."""

    outcome: str
    code: str
    to: str
    messages: Estimate


class ForecastTable(msgspec.Struct, frozen=True):
    """What would become of a table: `created`, `columns_added`, or `replaced` by one with another number."""

    table: str
    definition: str
    kind: str
    detail: str = ""


class AffectedProducer(msgspec.Struct, frozen=True, kw_only=True):
    """Who sent messages that would die or land elsewhere: the topic or file, and the `source` of events."""

    source: str
    origin: str
    dying: int
    moving: int
    last_seen: datetime | None


class DefinitionImpact(msgspec.Struct, frozen=True, kw_only=True):
    """What a change means for one definition.

    Of its `landed` messages the `unaffected` surely stay what they are, those `without_record` cannot be judged, and
    `judged` were. `arriving` land in other definitions now, `reviving` are dead letters now. `becomes` is `ambiguous`
    where messages of it fit others as well, `unreachable` where none of them would be taken for it any more.
    """

    definition: str
    change: str
    landed: int
    unaffected: int
    without_record: int
    judged: int
    same: Estimate
    dying: Estimate
    moving: Estimate
    arriving: Estimate
    reviving: Estimate
    becomes: str = ""
    deprecated: bool = False
    changes: list[CatalogChange] = []

    @property
    def breaking_on_paper(self) -> bool:
        """Whether a comparison of the catalogs calls the change breaking."""
        return any(change.breaks for change in self.changes)


class ImpactReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a change of the catalog would have done to the messages of a lake.

    `against` names what the new catalog is compared with; empty where that is, for each message, the catalog by which
    it was judged. Landed messages are `landed` = `unaffected` + `without_record` + `judgeable`, of which `judged` were
    drawn; of `letters`, `letters_judged`.
    """

    lake: str
    catalog: str
    against: str
    since: datetime | None
    landed: int
    unaffected: int
    without_record: int
    judgeable: int
    judged: int
    letters: int
    letters_judged: int
    same: Estimate
    dying: Estimate
    moving: Estimate
    reviving: Estimate
    definitions: list[DefinitionImpact]
    deaths: list[DyingMessages]
    moves: list[MovingMessages]
    revivals: list[RevivedMessages]
    tables: list[ForecastTable]
    producers: list[AffectedProducer]
    changes: list[CatalogChange]
    findings: list[Finding]

    @property
    def breaks(self) -> bool:
        """Whether messages would die or land elsewhere."""
        return bool(self.dying.count or self.moving.count)

    @property
    def is_sample(self) -> bool:
        """Whether not all messages that could be judged were."""
        return self.judged < self.judgeable or self.letters_judged < self.letters
