"""Batches of Kafka's columns: events whose attributes are headers, grouped by the names of headers and by type."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from postroom.messages.matching.group_events import AlikeRecords, RecordColumns
from postroom.messages.matching.transport_metadata import Transport
from postroom.pipeline.lake.struct_columns import align
from postroom.pipeline.sources.dataframe import (
    KAFKA,
    KAFKA_RECORD,
    are_moments,
    kafka_line,
    kafka_metadata,
    microseconds,
)
from postroom.pipeline.worker.arrow import arrow_schema
from postroom.pipeline.worker.batch import SLICE_ROWS
from postroom.pipeline.worker.kafka_headers import HeaderColumns, HeaderNames, by_value, flat, header_names, members
from postroom.pipeline.worker.table_layout import RECORD_COLUMNS
from postroom.protocols.kafka import KAFKA as WIRE
from postroom.protocols.records import Record

# Rows with headers that hardly any others have are cheaper one by one.
_MOST_HEADER_NAMES = 256

KAFKA_STRUCT = arrow_schema(RECORD_COLUMNS).field("kafka").type


def is_kafka(schema: pa.Schema) -> bool:
    """Whether columns are those of Kafka's connector, with headers."""
    if not set(schema.names) >= KAFKA or "headers" not in schema.names:
        return False
    headers = schema.field("headers").type
    if not pa.types.is_list(headers) or not pa.types.is_struct(headers.value_type):
        return False
    return {field.name for field in headers.value_type} >= {"key", "value"} and schema.field(
        "value"
    ).type == pa.binary()


class KafkaBatch:
    """A batch of Kafka's rows. They stay in the batches that they came in: new memory is dear."""

    def __init__(self, batches: list[pa.RecordBatch]) -> None:
        self._batches = batches
        self._starts = list(accumulate((batch.num_rows for batch in batches), initial=0))

    @functools.cached_property
    def sources(self) -> list[str]:
        """Where each record came from."""
        return [source for batch in self._batches for source in _listed(batch.column("source").dictionary_encode())]

    @functools.cached_property
    def positions(self) -> list[int]:
        """The positions there."""
        return [position for batch in self._batches for position in batch.column("position").to_pylist()]

    @functools.cached_property
    def ids(self) -> list[str] | None:
        """The ids of the records, where they came with some."""
        if "record_id" not in self._batches[0].schema.names:
            return None
        return [record for batch in self._batches for record in batch.column("record_id").to_pylist()]

    @functools.cached_property
    def transport(self) -> dict[str, pa.Array]:
        """What came with all rows, but for their headers, by column of a table."""
        found = [_transport_columns(batch) for batch in self._batches]
        return {name: pa.concat_arrays([columns[name] for columns in found]) for name in found[0]}

    def exact(self, rows: pa.Array | None) -> dict[str, pa.Array]:
        """The columns of some rows, or of all, as one of structs."""
        columns = pa.chunked_array([_as_struct(batch) for batch in self._batches], KAFKA_STRUCT)
        return {"kafka": columns if rows is None else columns.take(rows)}

    def slices(self) -> Iterator[tuple[int, KafkaSlice]]:
        """What is judged together, and the first row of each."""
        for first, batches in self._slices():
            start = self._starts[first]
            # One batch, or several where their bytes are more than an array can hold.
            for batch in pa.Table.from_batches(batches).combine_chunks().to_batches():
                yield start, KafkaSlice(batch)
                start += batch.num_rows

    def _slices(self) -> Iterator[tuple[int, list[pa.RecordBatch]]]:
        """Batches that are looked at together, all with the same columns, and the number of the first of them."""
        first = 0
        for number in range(1, len(self._batches) + 1):
            if (
                number == len(self._batches)
                or self._starts[number] - self._starts[first] >= SLICE_ROWS
                or self._batches[number].schema != self._batches[first].schema
            ):
                yield first, self._batches[first:number]
                first = number


class KafkaSlice:
    """Some rows, few enough for a processor to have them near at hand."""

    protocol = WIRE.name

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __len__(self) -> int:
        """How many rows there are."""
        return int(self._batch.num_rows)

    def alike(self) -> Iterator[AlikeRecords]:
        """The rows by their headers, without those that are best judged one by one."""
        headers = HeaderColumns(self._batch.column("headers"))
        by_names = sorted(headers.alike(), key=lambda found: -len(found[1]))
        for names, all_rows in by_names[:_MOST_HEADER_NAMES]:
            known_names = header_names(names)
            # An attribute without a value, or one that is no text, is for the exact judge.
            rows = [] if known_names is None else headers.with_strings(all_rows, known_names.numbers)
            if known_names is not None and len(rows):
                yield from SameHeaders(self, headers, names or [], known_names, rows).by_type()

    def records(self, rows: list[int]) -> Iterator[tuple[bytes, Record]]:
        """Some rows as records, each with its line of JSON."""
        chosen = _Listed(self._batch.take(pa.array(rows, pa.int64())))
        for index, body in enumerate(chosen.bodies):
            metadata = chosen.metadata(index)
            yield kafka_line(metadata, body), Record(WIRE.name, metadata, body or b"")

    def bodies(self, rows: pa.Array) -> list[bytes]:
        """The bodies of records."""
        values = self._batch.column("value").take(rows)
        return [body or b"" for body in values.to_pylist()] if values.null_count else values.to_pylist()

    def metadata(self, row: int) -> dict[str, Any]:
        """The metadata of a record."""
        return self._listed.metadata(row)

    @functools.cached_property
    def transport(self) -> list[Transport] | None:
        """What came with all rows, without their headers; None where rows have to be looked at one by one to tell."""
        if not self.has_moments:
            return None
        columns = _transport_columns(self._batch)
        channels, extra = (_listed(columns[name].dictionary_encode("encode")) for name in ("_channel", "_extra"))
        sent = columns["_sent_at"].cast(pa.int64()).to_pylist()
        return list(zip(channels, columns["_key"].to_pylist(), sent, extra, strict=True))

    @functools.cached_property
    def has_moments(self) -> bool:
        """Whether a column can hold the times of all rows."""
        return "timestamp" not in self._batch.schema.names or are_moments(microseconds(self._batch.column("timestamp")))

    @functools.cached_property
    def _listed(self) -> _Listed:
        return _Listed(self._batch)


class SameHeaders:
    """Rows whose headers have the same names; `known` are the values of those that are the same in all of them."""

    def __init__(
        self,
        whole: KafkaSlice,
        headers: HeaderColumns,
        names: list[str],
        known_names: HeaderNames,
        rows: pa.Array,
        known: dict[int, str] | None = None,
    ) -> None:
        self.rows = rows
        self._names = names
        self._slice = whole
        self._headers = headers
        self._header_names = known_names
        self._known = headers.constants(rows, known_names.numbers) if known is None else known

    def by_type(self) -> Iterator[AlikeRecords]:
        """Those of one type each; all together where headers tell none."""
        attributes = self._header_names.attributes
        number = attributes.get("type")
        if number is None or number in self._known:
            yield AlikeRecords(attributes, None if number is None else self._known[number], self.read)
            return
        types = self._headers.values(self.rows, number).dictionary_encode()
        for index, rows in by_value(types.indices, self.rows):  # numbers sort far quicker than strings
            event_type = types.dictionary[index].as_py()
            known = self._known | {number: event_type}
            some = SameHeaders(self._slice, self._headers, self._names, self._header_names, rows, known)
            yield AlikeRecords(attributes, event_type, some.read)

    def read(self) -> RecordColumns:
        """Their attributes, content types and bodies."""
        rows: list[int] = self.rows.to_pylist()
        names = self._header_names
        attributes: dict[str, list[Any]] = {name: self._strings(number) for name, number in names.attributes.items()}
        stated = [""] * len(rows) if names.contenttype is None else self._strings(names.contenttype)
        return RecordColumns(
            rows,
            attributes,
            stated,
            self._slice.bodies(self.rows),
            lambda index: self._slice.metadata(rows[index]),
            transport=lambda binary: self._with_headers(rows, stated, binary=binary),
            in_columns=lambda binary: self._is_plain(stated, binary=binary) and not self._undeclared(binary=binary),
        )

    def _with_headers(self, rows: list[int], stated: list[str], *, binary: bool) -> list[Transport] | None:
        """What came with the events; None where rows have to be looked at one by one to tell."""
        known = self._slice.transport
        if known is None or not self._is_plain(stated, binary=binary):
            return None
        remaining = self._undeclared(binary=binary)
        pairs = [self._headers.pairs(self.rows, number, self._names[number]) for number in remaining]
        headers = (",".join(some) for some in zip(*pairs, strict=True))
        return [
            (channel, key, sent, f'{{"headers":[{some}],{(extra or "{")[1:]}')
            for (channel, key, sent, extra), some in zip(map(known.__getitem__, rows), headers, strict=True)
        ]

    def _is_plain(self, stated: list[str], *, binary: bool) -> bool:
        """Whether the names of headers alone say which of them the envelope shows, and times are such."""
        states_type = self._header_names.contenttype is not None
        is_unclear = binary and states_type and ("datacontenttype" in self._header_names.attributes or "" in stated)
        return self._slice.has_moments and not is_unclear

    def _undeclared(self, *, binary: bool) -> list[int]:
        """The headers that are not part of the envelope."""
        shown = self._header_names.numbers if binary else []
        return [number for number in range(len(self._names)) if number not in shown]

    def _strings(self, number: int) -> list[str]:
        if number in self._known:
            return [self._known[number]] * len(self.rows)
        found: list[str] = self._headers.values(self.rows, number).to_pylist()
        return found


class _Listed:
    """Rows of Kafka's columns as lists, for those that are looked at one by one."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        headers = batch.column("headers")
        self.bodies: list[bytes | None] = batch.column("value").to_pylist()
        self._topics = batch.column("topic").to_pylist()
        self._partitions = batch.column("partition").to_pylist()
        self._keys = batch.column("key").to_pylist() if "key" in batch.schema.names else [None] * batch.num_rows
        sent = microseconds(batch.column("timestamp")).to_pylist() if "timestamp" in batch.schema.names else None
        self._sent: list[int | None] = [None] * batch.num_rows if sent is None else sent
        starts, lengths, pairs = flat(headers)
        self._starts: list[int] = starts.to_pylist()
        self._lengths: list[int] = lengths.to_pylist()
        names, values = members(pairs)
        self._names, self._values = names.to_pylist(), values.to_pylist()

    def metadata(self, row: int) -> dict[str, Any]:
        """The metadata of a record."""
        start = self._starts[row]
        end = start + self._lengths[row]
        headers = zip(self._names[start:end], self._values[start:end], strict=True)
        return kafka_metadata(self._topics[row], self._partitions[row], self._keys[row], headers, self._sent[row])


def _as_struct(batch: pa.RecordBatch) -> pa.StructArray:
    """Rows of Kafka as structs that have the same members whatever columns there are, and of whatever types."""
    columns = {name: batch.column(name) for name in KAFKA_RECORD if name in batch.schema.names}
    if "timestamp" in columns:
        columns["timestamp"] = microseconds(columns["timestamp"])
    columns["headers"] = _with_names(columns["headers"])
    members = [
        align(columns[field.name], field.type) if field.name in columns else pa.nulls(batch.num_rows, field.type)
        for field in KAFKA_STRUCT
    ]
    return pa.StructArray.from_arrays(members, fields=list(KAFKA_STRUCT))


def _with_names(headers: pa.ListArray) -> pa.ListArray:
    """Headers whose names are text; bytes that are none are shown."""
    names, values = members(flat(headers)[2])
    pairs = pa.StructArray.from_arrays([names, values], names=["key", "value"])
    offsets = pc.subtract(headers.offsets, headers.offsets[0])
    return pa.ListArray.from_arrays(offsets, pairs, mask=headers.is_null())


def _transport_columns(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """What came with rows, but for their headers, by column of a table."""
    nothing = pa.nulls(batch.num_rows)
    key = batch.column("key") if "key" in batch.schema.names else nothing
    sent = microseconds(batch.column("timestamp")) if "timestamp" in batch.schema.names else nothing
    partition = pc.fill_null(batch.column("partition").cast(pa.string()), "null")
    return {
        "_channel": batch.column("topic").cast(pa.string()),
        "_key": key.cast(pa.binary()),
        "_sent_at": sent.cast(pa.timestamp("us", tz="UTC")),
        "_extra": pc.binary_join_element_wise('{"partition":', partition, "}", ""),
    }


def _listed(strings: pa.DictionaryArray) -> list[str]:
    """Texts that are few different ones: no new object for each."""
    known = strings.dictionary.to_pylist()
    return [known[number] for number in strings.indices.to_pylist()]
