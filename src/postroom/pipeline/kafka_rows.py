"""Rows of Kafka's columns: events whose attributes are headers, read by column."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from postroom.messages.bundles import Pile, joined
from postroom.messages.engine import Engine
from postroom.messages.piling import RecordColumns
from postroom.pipeline.columns import KAFKA, header_value, kafka_metadata, record_lines
from postroom.protocols.kafka import KAFKA as WIRE
from postroom.protocols.wire import attribute_name


def is_kafka(schema: pa.Schema) -> bool:
    """Whether columns are those of Kafka's connector, with headers."""
    if not set(schema.names) >= KAFKA or "headers" not in schema.names:
        return False
    kind = schema.field("headers").type
    if not pa.types.is_list(kind) or not pa.types.is_struct(kind.value_type):
        return False
    return {field.name for field in kind.value_type} >= {"key", "value"} and schema.field("value").type == pa.binary()


_TYPE = WIRE.prefixes[0] + "type"


class Shape(NamedTuple):
    """Which header carries what, for rows whose headers have the same names in the same order."""

    attributes: dict[str, int]
    contenttype: int | None
    length: int


class KafkaRows:
    """A haul of Kafka's rows, those that seem to have one type side by side."""

    def __init__(self, batches: list[pa.RecordBatch]) -> None:
        whole = _one_batch(pa.Table.from_batches(batches))
        kinds = _seeming_types(whole.column("headers"))
        self._ends: list[int] = [whole.num_rows]
        if kinds is not None:
            # What a row seems to be decides nothing: it brings rows together whose tables are the same.
            numbers = kinds.dictionary_encode().indices  # which sort far quicker than texts
            whole = _one_batch(pa.Table.from_batches([whole]).take(pc.array_sort_indices(numbers)))
            self._ends = list(accumulate(sorted_counts(numbers)))
        self._batch = whole
        self.sources: list[str] = whole.column("source").to_pylist()
        self.positions: list[int] = whole.column("position").to_pylist()

    def piles(self, engine: Engine) -> Iterator[tuple[list[Pile], list[int]]]:
        """The records that the express lane may take, by definition, and the rows of the others; in parts."""
        start = 0
        for end in self._ends:
            piles, left = Headers(self._batch.slice(start, end - start)).piles(engine)
            for pile in piles:
                pile.rows = [start + row for row in pile.rows]
            yield piles, [start + row for row in left]
            start = end

    def lines(self, rows: list[int]) -> list[bytes]:
        """Records as lines of JSON."""
        return record_lines(_one_batch(pa.Table.from_batches([self._batch]).take(pa.array(rows, pa.int64()))))


class Headers:
    """Rows whose headers are read."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def piles(self, engine: Engine) -> tuple[list[Pile], list[int]]:
        """The records that the express lane may take, by definition, and the rows of the others."""
        piles: list[Pile] = []
        left: list[int] = []
        bodies = [body or b"" for body in self._batch.column("value").to_pylist()]
        for shape, rows in self._shapes():
            if shape is None or not engine.express.knows(shape.attributes):
                left += rows
                continue
            found, others = engine.piles_of_columns(WIRE.name, self._columns(shape, rows, bodies))
            for pile in found:
                pile.rows = [rows[place] for place in pile.rows]
            piles += found
            left += [rows[place] for place in others]
        return joined(piles), left

    def _columns(self, shape: Shape, rows: list[int], bodies: list[bytes]) -> RecordColumns:
        """The columns of rows whose headers have one shape."""
        values, each = self._values(rows), shape.length
        attributes: dict[str, list[Any]] = {name: values[number::each] for name, number in shape.attributes.items()}
        stated = [""] * len(rows) if shape.contenttype is None else values[shape.contenttype :: each]
        if len(rows) < len(bodies):
            bodies = [bodies[row] for row in rows]
        return RecordColumns(attributes, stated, bodies, lambda place: self.metadata(rows[place]))

    def metadata(self, row: int) -> dict[str, Any]:
        """The metadata of a record."""
        return kafka_metadata(self._metadata_rows[row])

    @functools.cached_property
    def _metadata_rows(self) -> list[dict[str, Any]]:
        names = [name for name in ("topic", "partition", "key", "headers") if name in self._batch.schema.names]
        rows: list[dict[str, Any]] = self._batch.select(names).to_pylist()
        return rows

    @functools.cached_property
    def _flat(self) -> tuple[list[int], pa.Array, list[str]]:
        """Where the headers of each row begin, their names, and their values."""
        headers = self._batch.column("headers")
        lengths = pc.fill_null(pc.list_value_length(headers), 0).to_pylist()
        pairs = headers.flatten()
        members = dict(zip((field.name for field in pairs.type), pairs.flatten(), strict=True))
        names = pc.fill_null(members["key"].cast(pa.string()), "")
        return list(accumulate(lengths, initial=0)), names, _texts(members["value"])

    def _values(self, rows: list[int]) -> list[str]:
        """The values of all headers of these rows, one after the other."""
        starts, _, values = self._flat
        count = self._batch.num_rows
        if len(rows) == count:
            return values
        found: list[str] = []
        if len(rows) < count // 2:
            for row in rows:
                found += values[starts[row] : starts[row + 1]]
            return found
        begin = 0
        for row in sorted(set(range(count)).difference(rows)):  # all but a few
            found += values[starts[begin] : starts[row]]
            begin = row + 1
        return found + values[starts[begin] :]

    def _shapes(self) -> list[tuple[Shape | None, list[int]]]:
        """The rows by the names of their headers."""
        starts, names, _ = self._flat
        encoded = names.dictionary_encode()
        known = encoded.dictionary.to_pylist()
        numbers = encoded.indices.cast(pa.int32()).buffers()[1].to_pybytes() if len(names) else b""
        rows: dict[bytes, list[int]] = {}
        places = [4 * start for start in starts]
        for row, (start, end) in enumerate(itertools.pairwise(places)):
            key = numbers[start:end]
            same = rows.get(key)
            if same is None:
                rows[key] = [row]
            else:
                same.append(row)
        return [(_shape([known[i] for i in memoryview(key).cast("i")]), found) for key, found in rows.items()]


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    return table.combine_chunks().to_batches(max_chunksize=max(table.num_rows, 1))[0]


def _seeming_types(headers: pa.ListArray) -> pa.Array | None:
    """A type for every row, where every row has one; None otherwise."""
    pairs = headers.flatten()
    members = dict(zip((field.name for field in pairs.type), pairs.flatten(), strict=True))
    kinds = members["value"].filter(pc.equal(members["key"], _TYPE))
    return kinds if len(kinds) == len(headers) else None


def sorted_counts(values: pa.Array) -> list[int]:
    """How often each value occurs, in the order of the values."""
    counts = pa.table({"value": values}).group_by("value").aggregate([([], "count_all")]).sort_by("value")
    found: list[int] = counts.column("count_all").to_pylist()
    return found


def _texts(values: pa.Array) -> list[str]:
    try:
        found: list[str] = pc.fill_null(values.cast(pa.string()), "").to_pylist()
    except pa.ArrowInvalid:  # some are no UTF-8
        return [header_value(value) for value in values.to_pylist()]
    return found


def _shape(names: list[str]) -> Shape | None:
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
    return Shape(attributes, contenttypes[0] if contenttypes else None, len(names))
