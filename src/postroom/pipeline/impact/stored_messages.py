"""The messages of a lake that a change of the catalog may concern: what became of them, and where their records are."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.impact.affected import CatalogChanges
from postroom.pipeline.impact.judge_task import MOST_IN_RECORD, MessageVerdict, RecordsToJudge
from postroom.pipeline.impact.snapshot import LakeSnapshot, TableFiles
from postroom.pipeline.records.kept_records import record_ids

# Which messages a sample has is drawn by this: the same state of a lake gives the same report.
SEED = 22
MOST_RECORDS = 50_000

MESSAGES = pa.schema(
    [
        ("message", pa.int64()),
        ("base", pa.int32()),
        ("by_old", pa.bool_()),
        ("source", pa.string()),
        ("origin", pa.string()),
        ("seen", pa.timestamp("us", tz="UTC")),
    ]
)
_ROW_COLUMNS = ("_record_id", "_batch", "_landed_at", "_source", "ce_source")
_LETTER_COLUMNS = ("outcome", "message", "reasons", "index", "_catalog", "_dead_at", "_source")


class Comparison:
    """The catalogs that are compared. Without an old one it is, for each message, the one by which it was judged."""

    def __init__(self, snapshot: LakeSnapshot, new: CompiledCatalog, old: CompiledCatalog | None) -> None:
        self.new = new
        self.old = old
        self._snapshot = snapshot
        self._old_digest = "" if old is None else old.digest
        self._changes: dict[tuple[str, bool], CatalogChanges | None] = {}

    def may_concern(self, xid: str, digest: str) -> tuple[bool, bool]:
        """Whether messages that landed in a definition by a catalog may land otherwise: by the new one, by the old."""
        if self.old is None:
            return self._concerns(digest, xid), False
        by_old = self._concerns(digest, xid, to_old=True)
        return by_old or self._concerns(self._old_digest, xid), by_old

    def needs_old(self, digest: str) -> bool:
        """Whether dead letters have to be judged by the old catalog, because theirs was another one."""
        if self.old is None:
            return False
        changes = self._since(digest, to_old=True)
        return changes is None or bool(changes.changed)

    def latest(self) -> CatalogChanges | None:
        """From the old catalog to the new one; from that of the last batch where no old one was named."""
        return self._since(self._old_digest or next(reversed(self._snapshot.batches.values()), ""))

    def _concerns(self, digest: str, xid: str, *, to_old: bool = False) -> bool:
        changes = self._since(digest, to_old=to_old)
        return changes is None or changes.may_concern(xid)

    def _since(self, digest: str, *, to_old: bool = False) -> CatalogChanges | None:
        """What changed from a catalog that is known by its digest; None where it cannot be had."""
        if (digest, to_old) not in self._changes:
            before = self.old if digest == self._old_digest else self._snapshot.catalog(digest)
            after = self.old if to_old else self.new
            changes = None if before is None or after is None else CatalogChanges(before, after)
            self._changes[digest, to_old] = changes
        return self._changes[digest, to_old]


class Counted(msgspec.Struct):
    """How many messages of a definition there are: all, those that surely stay, and those that nobody can judge."""

    landed: int = 0
    unaffected: int = 0
    without_record: int = 0


class StoredMessages:
    """Messages that are to be judged (the columns of `MESSAGES`), and how many others there are.

    `base` is the number of what became of each, in `verdicts`. Records have numbers: those that were kept come first,
    then those of dead letters.
    """

    def __init__(
        self, snapshot: LakeSnapshot, comparison: Comparison, since: datetime | None, sample: int | None
    ) -> None:
        self.counts: dict[str, Counted] = {}
        self.verdicts: dict[MessageVerdict, int] = {}
        self._snapshot = snapshot
        self._comparison = comparison
        self._since = since
        self._parts: list[tuple[int, int, str, int]] = []
        rows = self._rows()
        # Only who has something to judge looks for records.
        landed = self._with_records(rows) if rows.num_rows else MESSAGES.empty_table()
        self._first_letter = self._count_records()
        letters = self._letters()
        self.judgeable = landed.num_rows
        self.letters = letters.num_rows
        self.landed, self.dead = _drawn(landed, sample), _drawn(letters, sample)

    def tasks(self, messages: pa.Table) -> list[tuple[RecordsToJudge, ...]]:
        """The records of some messages, for one task each."""
        numbers = pc.unique(pc.divide(messages.column("message"), MOST_IN_RECORD)).sort().to_pylist()
        return list(_grouped(self._wanted(numbers)))

    def records(self, messages: Iterable[int]) -> list[RecordsToJudge]:
        """Where the records of a few messages are."""
        return list(self._wanted(sorted({message // MOST_IN_RECORD for message in messages})))

    def _wanted(self, numbers: list[int]) -> Iterator[RecordsToJudge]:
        for first, count, path, group in self._parts:
            start, end = bisect_left(numbers, first), bisect_left(numbers, first + count)
            for begin in range(start, end, MOST_RECORDS):
                chosen = numbers[begin : min(begin + MOST_RECORDS, end)]
                rows = None if len(chosen) == count else tuple(number - first for number in chosen)
                yield RecordsToJudge(path, group, first, rows)

    def _verdict(self, verdict: MessageVerdict) -> int:
        return self.verdicts.setdefault(verdict, len(self.verdicts))

    def _rows(self) -> pa.Table:
        """Landed messages that may fare otherwise: their ids and batches beside the columns of `MESSAGES`."""
        found = [part for table in self._snapshot.tables for part in self._rows_of(table)]
        return pa.concat_tables(found) if found else MESSAGES.empty_table()

    def _rows_of(self, table: TableFiles) -> Iterator[pa.Table]:
        counted = self.counts.setdefault(table.owner, Counted())
        base = self._verdict(MessageVerdict("landed", table.owner))
        for _, _, rows in self._snapshot.groups(table, _ROW_COLUMNS):
            chosen = self._recent(rows, "_landed_at")
            counted.landed += chosen.num_rows
            by_new, by_old = [], []
            for batch in pc.unique(chosen.column("_batch")).to_pylist():
                new, old = self._comparison.may_concern(table.owner, self._snapshot.batches.get(batch, ""))
                by_new += [batch] if new else []
                by_old += [batch] if old else []
            batches = chosen.column("_batch")
            concerned = chosen.filter(pc.is_in(batches, pa.array(by_new, pa.string())))
            counted.unaffected += chosen.num_rows - concerned.num_rows
            if concerned.num_rows:
                yield _as_messages(concerned, base, by_old)

    def _recent(self, rows: pa.Table, column: str) -> pa.Table:
        if self._since is None:
            return rows
        moments = rows.column(column)
        return rows.filter(pc.greater_equal(moments, pa.scalar(self._since, moments.type)))

    def _with_records(self, rows: pa.Table) -> pa.Table:
        """The messages whose records were kept; the others are counted."""
        numbers = self._find_records(rows)
        missing = rows.filter(pc.is_null(numbers))
        names = {number: verdict.message for verdict, number in self.verdicts.items()}
        for base, count in Counter(missing.column("base").to_pylist()).items():
            self.counts[names[base]].without_record += count
        there = rows.append_column("number", numbers).filter(pc.is_valid(numbers))
        message = pc.add(pc.multiply(there.column("number"), MOST_IN_RECORD), there.column("message"))
        return there.set_column(there.schema.get_field_index("message"), "message", message).select(MESSAGES.names)

    def _find_records(self, rows: pa.Table) -> pa.ChunkedArray:
        """The numbers of the records that messages came in; null where none is kept, or nobody can tell which."""
        kept = pa.chunked_array([pa.array([], pa.string())])
        batches = pa.chunked_array([pa.array([], pa.string())])
        first = 0
        for path, group, table in self._snapshot.groups(self._snapshot.records, ("_record_id", "_batch")):
            self._parts.append((first, table.num_rows, path, group))
            first += table.num_rows
            kept = pa.chunked_array([*kept.chunks, *table.column("_record_id").chunks])
            batches = pa.chunked_array([*batches.chunks, *table.column("_batch").chunks])
        found = pc.index_in(rows.column("record"), kept).cast(pa.int64())
        known = pc.value_counts(kept)
        several = known.filter(pc.greater(known.field("counts"), 1)).field("values")
        if not len(several):
            return found
        # A record that was sorted twice is there twice: once for each batch.
        places: dict[tuple[str, str], list[int]] = {}
        for number in pc.indices_nonzero(pc.is_in(kept, several)).to_pylist():
            places.setdefault((kept[number].as_py(), batches[number].as_py()), []).append(number)
        numbers = found.to_pylist()
        for row in pc.indices_nonzero(pc.is_in(rows.column("record"), several)).to_pylist():
            same = places.get((rows.column("record")[row].as_py(), rows.column("batch")[row].as_py()), [])
            numbers[row] = same[0] if len(same) == 1 else None
        return pa.chunked_array([pa.array(numbers, pa.int64())])

    def _count_records(self) -> int:
        return self._parts[-1][0] + self._parts[-1][1] if self._parts else 0

    def _letters(self) -> pa.Table:
        found = [MESSAGES.empty_table()]
        first = self._first_letter
        for path, group, table in self._snapshot.groups(self._snapshot.letters, _LETTER_COLUMNS):
            self._parts.append((first, table.num_rows, path, group))
            numbers = pa.array(range(first, first + table.num_rows), pa.int64())
            first += table.num_rows
            chosen = self._recent(table.append_column("number", numbers), "_dead_at")
            if chosen.num_rows:
                found.append(self._as_letters(chosen))
        return pa.concat_tables(found)

    def _as_letters(self, letters: pa.Table) -> pa.Table:
        bases: list[int] = []
        columns = (letters.column(name).to_pylist() for name in ("outcome", "message", "reasons"))
        for outcome, message, reasons in zip(*columns, strict=True):
            first = reasons[0] if reasons else {}
            bases.append(
                self._verdict(MessageVerdict(outcome, message or "", first.get("code") or "", first.get("at") or ""))
            )
        catalogs = letters.column("_catalog")
        by_old = [digest for digest in pc.unique(catalogs).to_pylist() if self._comparison.needs_old(digest or "")]
        message = pc.add(pc.multiply(letters.column("number"), MOST_IN_RECORD), letters.column("index"))
        arrays = [
            message,
            pa.array(bases, pa.int32()),
            pc.is_in(catalogs, pa.array(by_old, pa.string())),
            letters.column("_source"),
            pa.nulls(letters.num_rows, pa.string()),
            letters.column("_dead_at").cast(MESSAGES.field("seen").type),
        ]
        return pa.table(arrays, schema=MESSAGES)


def _as_messages(rows: pa.Table, base: int, by_old: list[str]) -> pa.Table:
    """Rows of a table as messages whose record has no number yet."""
    count, ids = rows.num_rows, rows.column("_record_id")
    records = record_ids(ids)
    is_numbered = pc.not_equal(ids, records)
    index = pa.array([0] * count, pa.int64())
    if pc.any(is_numbered).as_py():
        numbers = pc.replace_substring_regex(ids, "^.*-([0-9]+)$", r"\1")
        index = pc.if_else(is_numbered, numbers, "0").cast(pa.int64())
    columns: dict[str, Any] = {
        "message": index,
        "base": pa.repeat(pa.scalar(base, pa.int32()), count),
        "by_old": pc.is_in(rows.column("_batch"), pa.array(by_old, pa.string())),
        "source": rows.column("_source"),
        "origin": rows.column("ce_source") if "ce_source" in rows.schema.names else pa.nulls(count, pa.string()),
        "seen": rows.column("_landed_at").cast(MESSAGES.field("seen").type),
        "record": records,
        "batch": rows.column("_batch"),
    }
    return pa.table(columns)


def _drawn(messages: pa.Table, sample: int | None) -> pa.Table:
    """So many messages, drawn at random, or all."""
    if sample is None or messages.num_rows <= sample:
        return messages
    chosen = sorted(random.Random(SEED).sample(range(messages.num_rows), sample))  # noqa: S311 - no secret
    return messages.take(pa.array(chosen, pa.int64()))


def _grouped(parts: Iterable[RecordsToJudge]) -> Iterator[tuple[RecordsToJudge, ...]]:
    group: list[RecordsToJudge] = []
    held = 0
    for part in parts:
        group.append(part)
        held += MOST_RECORDS if part.rows is None else len(part.rows)
        if held >= MOST_RECORDS:
            yield tuple(group)
            group, held = [], 0
    if group:
        yield tuple(group)
