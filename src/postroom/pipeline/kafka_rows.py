"""Rows of Kafka's columns: events whose attributes are headers, read by column.

The headers of all rows lie one after the other in memory. Rows whose headers have the same names are taken together, so
that an attribute is every so many-th of those values; no row is ever looked at by itself.
"""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from postroom.messages.bundles import Pile, joined
from postroom.messages.engine import Engine
from postroom.messages.outcome import Sorted
from postroom.messages.piling import RecordColumns
from postroom.pipeline.columns import KAFKA, header_value, kafka_line, kafka_metadata
from postroom.pipeline.parquet import numbers
from postroom.pipeline.parts import AT_ONCE, Parts, shifted
from postroom.protocols.kafka import KAFKA as WIRE
from postroom.protocols.records import Record
from postroom.protocols.wire import attribute_name

# Rows with more headers, or with headers that hardly any others have, are cheaper one by one.
_MOST_HEADERS = 64
_MOST_SHAPES = 256


def is_kafka(schema: pa.Schema) -> bool:
    """Whether columns are those of Kafka's connector, with headers."""
    if not set(schema.names) >= KAFKA or "headers" not in schema.names:
        return False
    kind = schema.field("headers").type
    if not pa.types.is_list(kind) or not pa.types.is_struct(kind.value_type):
        return False
    return {field.name for field in kind.value_type} >= {"key", "value"} and schema.field("value").type == pa.binary()


class Shape(NamedTuple):
    """Which header carries what, for rows whose headers have the same names in the same order."""

    attributes: dict[str, int]
    contenttype: int | None

    @property
    def numbers(self) -> list[int]:
        """The headers that carry something."""
        return [*self.attributes.values(), *([] if self.contenttype is None else [self.contenttype])]


class KafkaRows:
    """A haul of Kafka's rows. They stay in the batches that they came in: new memory is dear."""

    def __init__(self, batches: list[pa.RecordBatch]) -> None:
        self._batches = batches
        self._starts = list(accumulate((batch.num_rows for batch in batches), initial=0))

    @functools.cached_property
    def sources(self) -> list[str]:
        """Where each record came from."""
        return [source for batch in self._batches for source in _listed(batch.column("source").dictionary_encode())]

    @functools.cached_property
    def positions(self) -> list[int]:
        """At which place there."""
        return [position for batch in self._batches for position in batch.column("position").to_pylist()]

    def piles(self, engine: Engine) -> Parts:
        """The records that the express lane may take, by definition, and the rows of the others; in parts."""
        for first, batches in self._parts():
            start = self._starts[first]
            # One batch, or several where their bytes are more than an array can hold.
            for batch in pa.Table.from_batches(batches).combine_chunks().to_batches():
                yield from shifted(Part(batch).piles(engine), start)
                start += batch.num_rows

    def _parts(self) -> Iterator[tuple[int, list[pa.RecordBatch]]]:
        """Batches that are looked at together, all with the same columns, and the number of the first of them."""
        first = 0
        for number in range(1, len(self._batches) + 1):
            if (
                number == len(self._batches)
                or self._starts[number] - self._starts[first] >= AT_ONCE
                or self._batches[number].schema != self._batches[first].schema
            ):
                yield first, self._batches[first:number]
                first = number

    def sort_exactly(self, engine: Engine, rows: list[int]) -> Iterator[tuple[bytes, list[Sorted]]]:
        """Sort records without the express lane, in their order, each with the line of JSON that says the same."""
        for batch, (start, end) in zip(self._batches, pairwise(self._starts), strict=True):
            some = rows[bisect_left(rows, start) : bisect_left(rows, end)]
            chosen = _Listed(batch.take(pa.array([row - start for row in some], pa.int64())))
            for place, body in enumerate(chosen.bodies):
                metadata = chosen.metadata(place)
                line = kafka_line(metadata, body)
                yield line, engine.sort_exactly(line, Record(WIRE.name, metadata, body or b""))


class Part:
    """Some rows, few enough for a processor to have them near at hand."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def piles(self, engine: Engine) -> Parts:
        """The records that the express lane may take, by definition, and the rows of the others; in parts."""
        headers = _Headers(self._batch.column("headers"))
        parts: dict[str | None, list[Alike]] = {}
        left: list[int] = []
        alike = sorted(headers.alike(), key=lambda found: -len(found[1]))
        for number, (names, rows) in enumerate(alike):
            shape = _shape(names) if number < _MOST_SHAPES else None
            if shape is None or not engine.express.knows(shape.attributes):
                left += rows.to_pylist()
                continue
            for kind, some in Alike(self, headers, shape, rows).by_type():
                parts.setdefault(kind, []).append(some)
        for kind, several in parts.items():
            if kind is not None and engine.express.planned(WIRE.name, kind) is None:
                left += itertools.chain.from_iterable(some.rows.to_pylist() for some in several)
                continue
            found = [some.piles(engine) for some in several]
            yield joined(itertools.chain.from_iterable(piles for piles, _ in found)), [r for _, o in found for r in o]
        yield [], left

    def bodies(self, rows: pa.Array) -> list[bytes]:
        """The bodies of records."""
        values = self._batch.column("value").take(rows)
        return [body or b"" for body in values.to_pylist()] if values.null_count else values.to_pylist()

    def metadata(self, row: int) -> dict[str, Any]:
        """The metadata of a record."""
        return self._listed.metadata(row)

    @functools.cached_property
    def _listed(self) -> _Listed:
        return _Listed(self._batch)


class Alike:
    """Rows whose headers have one shape; `known` are the headers that are the same in all of them."""

    def __init__(
        self, whole: Part, headers: _Headers, shape: Shape, rows: pa.Array, known: dict[int, str] | None = None
    ) -> None:
        self.rows = rows
        self._whole = whole
        self._headers = headers
        self._shape = shape
        self._known = headers.constants(rows, shape.numbers) if known is None else known

    def by_type(self) -> Iterator[tuple[str | None, Alike]]:
        """Those of one type each; all together where headers tell none."""
        number = self._shape.attributes.get("type")
        if number is None or number in self._known:
            yield None if number is None else self._known[number], self
            return
        kinds = self._headers.values(self.rows, number).dictionary_encode()
        rows = self.rows.take(pc.array_sort_indices(kinds.indices))  # numbers sort far quicker than texts
        start = 0
        for place, count in _counts(kinds.indices):
            kind = kinds.dictionary[place].as_py()
            some = rows.slice(start, count)
            yield kind, Alike(self._whole, self._headers, self._shape, some, self._known | {number: kind})
            start += count

    def piles(self, engine: Engine) -> tuple[list[Pile], list[int]]:
        """The records that the express lane may take, by definition, and the rows of the others."""
        rows: list[int] = self.rows.to_pylist()
        attributes: dict[str, list[Any]] = {name: self._texts(n) for name, n in self._shape.attributes.items()}
        stated = [""] * len(rows) if self._shape.contenttype is None else self._texts(self._shape.contenttype)
        bodies = self._whole.bodies(self.rows)
        records = RecordColumns(attributes, stated, bodies, lambda place: self._whole.metadata(rows[place]))
        piles, left = engine.piles_of_columns(WIRE.name, records)
        for pile in piles:
            pile.rows = rows if len(pile.rows) == len(rows) else [rows[place] for place in pile.rows]
        return piles, [rows[place] for place in left]

    def _texts(self, number: int) -> list[str]:
        if number in self._known:
            return [self._known[number]] * len(self.rows)
        found: list[str] = self._headers.values(self.rows, number).to_pylist()
        return found


class _Headers:
    """The headers of all rows, one after the other."""

    def __init__(self, headers: pa.ListArray) -> None:
        starts, self._lengths, pairs = _flat(headers)
        self._starts = starts.cast(pa.int64())
        names, values = _members(pairs)
        self._names = names.dictionary_encode()
        self._values = _texts(values)

    def values(self, rows: pa.Array, number: int) -> pa.Array:
        """The values of one header of rows that have as many."""
        return self._values.take(pc.add(self._starts.take(rows), number))

    def constants(self, rows: pa.Array, numbers: list[int]) -> dict[int, str]:
        """Those headers that have the same value in all of some rows, by their numbers."""
        found: dict[int, str] = {}
        for number in numbers:
            values = self.values(rows, number)
            if pc.all(pc.equal(values, values[0])).as_py():
                found[number] = values[0].as_py()
        return found

    def alike(self) -> Iterator[tuple[list[str] | None, pa.Array]]:
        """Rows whose headers have the same names in the same order, with those names; None for those with too many."""
        for length, rows in _by_value(self._lengths, numbers(0, len(self._lengths))):
            yield from self._by_names(rows, length) if length <= _MOST_HEADERS else [(None, rows)]

    def _by_names(self, rows: pa.Array, length: int) -> Iterator[tuple[list[str], pa.Array]]:
        starts = self._starts.take(rows)
        kinds = None  # as many numbers as there are sequences of names so far
        for number in range(length):
            names = self._names.indices.take(pc.add(starts, number)).cast(pa.int64())
            range_of = pc.min_max(names)
            if range_of["min"] != range_of["max"]:
                told = names if kinds is None else pc.add(pc.multiply(kinds, len(self._names.dictionary)), names)
                kinds = told.dictionary_encode().indices.cast(pa.int64())
        for some in [rows] if kinds is None else [found for _, found in _by_value(kinds, rows)]:
            first = self._starts[some[0].as_py()].as_py()
            yield self._names.slice(first, length).to_pylist(), some


class _Listed:
    """Rows of Kafka's columns as lists, for those that are looked at one by one."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        headers = batch.column("headers")
        self.bodies: list[bytes | None] = batch.column("value").to_pylist()
        self._topics = batch.column("topic").to_pylist()
        self._partitions = batch.column("partition").to_pylist()
        self._keys = batch.column("key").to_pylist() if "key" in batch.schema.names else [None] * batch.num_rows
        starts, lengths, pairs = _flat(headers)
        self._starts: list[int] = starts.to_pylist()
        self._lengths: list[int] = lengths.to_pylist()
        names, values = _members(pairs)
        self._names, self._values = names.to_pylist(), _texts(values).to_pylist()

    def metadata(self, row: int) -> dict[str, Any]:
        """The metadata of a record."""
        start = self._starts[row]
        end = start + self._lengths[row]
        headers = zip(self._names[start:end], self._values[start:end], strict=True)
        return kafka_metadata(self._topics[row], self._partitions[row], self._keys[row], headers)


def _listed(texts: pa.DictionaryArray) -> list[str]:
    """Texts that are few different ones: no new object for each."""
    known = texts.dictionary.to_pylist()
    return [known[number] for number in texts.indices.to_pylist()]


def _by_value(values: pa.Array, rows: pa.Array) -> Iterator[tuple[int, pa.Array]]:
    """Rows by a number each, in order."""
    counts = list(_counts(values))
    if len(counts) > 1:
        rows = rows.take(pc.array_sort_indices(values))
    start = 0
    for value, count in counts:
        yield value, rows.slice(start, count)
        start += count


def _counts(values: pa.Array) -> Iterator[tuple[int, int]]:
    """How often each number occurs, in their order."""
    return iter(sorted((found["values"], found["counts"]) for found in pc.value_counts(values).to_pylist()))


def _flat(headers: pa.ListArray) -> tuple[pa.Array, pa.Array, pa.StructArray]:
    """Where the headers of each row begin, how many there are, and the headers of all rows one after the other."""
    offsets = headers.offsets
    first, last = offsets[0].as_py(), offsets[-1].as_py()
    lengths = pc.fill_null(pc.list_value_length(headers), 0)
    return pc.subtract(offsets.slice(0, len(headers)), first), lengths, headers.values.slice(first, last - first)


def _members(pairs: pa.StructArray) -> tuple[pa.Array, pa.Array]:
    """The names and the values of headers."""
    members = dict(zip((field.name for field in pairs.type), pairs.flatten(), strict=True))
    return _texts(members["key"]), members["value"]


def _texts(values: pa.Array) -> pa.Array:
    try:
        return pc.fill_null(values.cast(pa.string()), "")
    except pa.ArrowInvalid:  # some are no UTF-8
        return pa.array([header_value(value) for value in values.to_pylist()], pa.string())


def _shape(names: list[str] | None) -> Shape | None:
    """What the names of headers say; None where one attribute has several."""
    if names is None:
        return None
    attributes: dict[str, int] = {}
    contenttypes = []
    for number, name in enumerate(names):
        attribute = attribute_name(name, WIRE.prefixes)
        if attribute in attributes:
            return None
        if attribute:
            attributes[attribute] = number
        elif name.lower() == WIRE.contenttype[-1]:
            contenttypes.append(number)
    if len(contenttypes) > 1:
        return None
    return Shape(attributes, contenttypes[0] if contenttypes else None)
