"""Judged messages added up: how many fare how, by definition, reason and producer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.pipeline.impact.judge_task import MessageVerdict
from postroom.pipeline.impact.report import (
    AffectedProducer,
    DyingMessages,
    Estimate,
    MessageSample,
    MovingMessages,
    RevivedMessages,
    estimated,
)

LANDED = "landed"
MOST_PRODUCERS = 20

# What is said of messages, each with its number and its verdict.
Explain = Callable[[list[tuple[int, MessageVerdict]]], list[MessageSample | None]]


class Fate(NamedTuple):
    """Messages that were judged alike by both catalogs, and where they are kept: as rows or as dead letters."""

    before: MessageVerdict
    after: MessageVerdict
    is_letter: bool
    messages: int

    @property
    def is_dying(self) -> bool:
        """Whether they landed, and would not."""
        return self.before.outcome == LANDED != self.after.outcome

    @property
    def is_moving(self) -> bool:
        """Whether they would land in another definition."""
        return self.before.outcome == LANDED == self.after.outcome and self.before.message != self.after.message

    @property
    def is_reviving(self) -> bool:
        """Whether they did not land, and would."""
        return self.before.outcome != LANDED == self.after.outcome

    @property
    def stays(self) -> bool:
        """Whether they landed, and would land in the same definition."""
        return self.before.outcome == LANDED and self.before == self.after


class Drawn(msgspec.Struct, frozen=True):
    """How many of how many were judged, of rows and of dead letters."""

    rows: tuple[int, int]
    letters: tuple[int, int]

    def estimate(self, fates: list[Fate]) -> Estimate:
        """How many messages of all fare like those that were judged."""
        counts = Counter({False: 0, True: 0})
        for fate in fates:
            counts[fate.is_letter] += fate.messages
        parts = estimated(counts[False], *self.rows), estimated(counts[True], *self.letters)
        return Estimate(*(sum(numbers) for numbers in zip(*map(msgspec.structs.astuple, parts), strict=True)))


class ImpactTotals:
    """Messages with the numbers of their verdicts, `base` by what was and `next` by the new catalog, added up."""

    def __init__(self, messages: pa.Table, verdicts: list[MessageVerdict], drawn: Drawn) -> None:
        self._messages = messages
        self._verdicts = verdicts
        self.drawn = drawn
        counted = messages.group_by(["base", "next", "is_letter"]).aggregate([([], "count_all")]).to_pylist()
        self.fates = [
            Fate(verdicts[one["base"]], verdicts[one["next"]], one["is_letter"], one["count_all"]) for one in counted
        ]

    def estimate(self, holds: Callable[[Fate], bool]) -> Estimate:
        """How many messages fare in some way."""
        return self.drawn.estimate([fate for fate in self.fates if holds(fate)])

    def deaths(self, explain: Explain) -> list[DyingMessages]:
        """Messages that would die, by definition, outcome and first reason; the most frequent first."""
        groups = self._grouped(lambda fate: fate.is_dying)
        samples = explain([(first, after) for first, (_, after) in zip(self._firsts(groups), groups, strict=True)])
        found = [
            DyingMessages(
                definition=before.message,
                outcome=after.outcome,
                code=after.code,
                at=after.at,
                messages=self.drawn.estimate(fates),
                sample=sample,
            )
            for ((before, after), fates), sample in zip(groups.items(), samples, strict=True)
        ]
        return sorted(found, key=lambda one: (-one.messages.count, one.definition, one.outcome, one.code, one.at))

    def moves(self) -> list[MovingMessages]:
        """Messages that would land elsewhere."""
        found = [
            MovingMessages(definition=before.message, to=after.message, messages=self.drawn.estimate(fates))
            for (before, after), fates in self._grouped(lambda fate: fate.is_moving).items()
        ]
        return sorted(found, key=lambda one: (-one.messages.count, one.definition, one.to))

    def revivals(self) -> list[RevivedMessages]:
        """Dead letters that would land, by outcome and first reason."""
        groups: dict[tuple[str, str, str], list[Fate]] = {}
        for fate in self.fates:
            if fate.is_reviving:
                groups.setdefault((fate.before.outcome, fate.before.code, fate.after.message), []).append(fate)
        found = [
            RevivedMessages(outcome=outcome, code=code, to=to, messages=self.drawn.estimate(fates))
            for (outcome, code, to), fates in groups.items()
        ]
        return sorted(found, key=lambda one: (-one.messages.count, one.to, one.outcome, one.code))

    def producers(self) -> list[AffectedProducer]:
        """Who sent messages that would die or land elsewhere, as far as they were judged."""
        chosen = self._of(lambda fate: fate.is_dying or fate.is_moving)
        if not chosen.num_rows:
            return []
        dead = pa.array([verdict.outcome != LANDED for verdict in self._verdicts])
        chosen = chosen.append_column("is_dying", dead.take(chosen.column("next").combine_chunks()))
        chosen = chosen.append_column(
            "where", pc.replace_substring_regex(chosen["source"], "^(kafka://.*)/[0-9]+$", r"\1")
        )
        groups = chosen.group_by(["where", "origin"]).aggregate(
            [("is_dying", "sum"), ("is_dying", "count"), ("seen", "max")]
        )
        found = [
            AffectedProducer(
                source=row["where"] or "",
                origin=row["origin"] or "",
                dying=row["is_dying_sum"],
                moving=row["is_dying_count"] - row["is_dying_sum"],
                last_seen=row["seen_max"],
            )
            for row in groups.to_pylist()
        ]
        found.sort(key=lambda one: (-one.dying, -one.moving, one.source, one.origin))
        return found[:MOST_PRODUCERS]

    def _grouped(self, holds: Callable[[Fate], bool]) -> dict[tuple[MessageVerdict, MessageVerdict], list[Fate]]:
        groups: dict[tuple[MessageVerdict, MessageVerdict], list[Fate]] = {}
        for fate in self.fates:
            if holds(fate):
                groups.setdefault((fate.before, fate.after), []).append(fate)
        return groups

    def _of(self, holds: Callable[[Fate], bool]) -> pa.Table:
        """The messages of some fates."""
        pairs = [self._pair(fate.before, fate.after) for fate in self.fates if holds(fate)]
        return self._messages.filter(pc.is_in(self._pairs(), pa.array(pairs, pa.int64())))

    def _firsts(self, groups: Iterable[tuple[MessageVerdict, MessageVerdict]]) -> list[int]:
        """The number of the first message with each pair of verdicts."""
        wanted = pa.array([self._pair(before, after) for before, after in groups], pa.int64())
        places = pc.index_in(wanted, self._pairs().combine_chunks())
        numbers: list[int] = pc.take(self._messages.column("message"), places).to_pylist()
        return numbers

    def _pairs(self) -> pa.ChunkedArray:
        base = self._messages.column("base").cast(pa.int64())
        return pc.add(pc.multiply(base, len(self._verdicts)), self._messages.column("next"))

    def _pair(self, before: MessageVerdict, after: MessageVerdict) -> int:
        return self._verdicts.index(before) * len(self._verdicts) + self._verdicts.index(after)
