"""The headers of Kafka's rows, read by column.

Those of all rows lie one after the other in memory. Rows whose headers have the same names are taken together, so that
an attribute is every so many-th of those values; no row is ever looked at by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.pipeline.sources.dataframe import header_pair, header_value
from postroom.pipeline.worker.arrow import numbers
from postroom.protocols.kafka import KAFKA as WIRE
from postroom.protocols.protocol import CONTENT_ENCODING, attribute_name

# Rows with more headers are cheaper one by one.
_MOST_HEADERS = 64


class HeaderNames(NamedTuple):
    """Which header has which attribute, for rows whose headers have the same names in the same order."""

    attributes: dict[str, int]
    contenttype: int | None

    @property
    def numbers(self) -> list[int]:
        """The headers that carry something."""
        return [*self.attributes.values(), *([] if self.contenttype is None else [self.contenttype])]


class HeaderColumns:
    """The headers of all rows, one after the other."""

    def __init__(self, headers: pa.ListArray) -> None:
        starts, self._lengths, pairs = flat(headers)
        self._starts = starts.cast(pa.int64())
        names, values = members(pairs)
        self._names = names.dictionary_encode()
        self._bytes = values
        self._values = strings(values)
        self._has_odd_values = values.null_count > 0 or not _are_strings(values)

    def values(self, rows: pa.Array, number: int) -> pa.Array:
        """The values of one header of rows that have as many."""
        return self._values.take(pc.add(self._starts.take(rows), number))

    def with_strings(self, rows: pa.Array, numbers: list[int]) -> pa.Array:
        """Those of rows whose headers of some numbers have a value each, and one that is text."""
        if not self._has_odd_values:
            return rows
        for number in numbers:
            values = self._bytes.take(pc.add(self._starts.take(rows), number))
            if values.null_count or not _are_strings(values):
                rows = rows.filter(pa.array([_is_string(value) for value in values.to_pylist()]))
        return rows

    def pairs(self, rows: pa.Array, number: int, name: str) -> list[str]:
        """One header of rows that have as many, as a pair of name and value in JSON."""
        values = self._bytes.take(pc.add(self._starts.take(rows), number))
        known = values.dictionary_encode("encode")
        strings = [msgspec.json.encode(header_pair(name, value)).decode() for value in known.dictionary.to_pylist()]
        return [strings[index] for index in known.indices.to_pylist()]

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
        for length, rows in by_value(self._lengths, numbers(0, len(self._lengths))):
            yield from self._by_names(rows, length) if length <= _MOST_HEADERS else [(None, rows)]

    def _by_names(self, rows: pa.Array, length: int) -> Iterator[tuple[list[str], pa.Array]]:
        starts = self._starts.take(rows)
        sequences = None  # as many numbers as there are sequences of names so far
        for number in range(length):
            names = self._names.indices.take(pc.add(starts, number)).cast(pa.int64())
            range_of = pc.min_max(names)
            if range_of["min"] != range_of["max"]:
                combined = (
                    names if sequences is None else pc.add(pc.multiply(sequences, len(self._names.dictionary)), names)
                )
                sequences = combined.dictionary_encode().indices.cast(pa.int64())
        for some in [rows] if sequences is None else [found for _, found in by_value(sequences, rows)]:
            first = self._starts[some[0].as_py()].as_py()
            yield self._names.slice(first, length).to_pylist(), some


def by_value(values: pa.Array, rows: pa.Array) -> Iterator[tuple[int, pa.Array]]:
    """Rows by a number each, in order of the numbers."""
    counts = sorted((found["values"], found["counts"]) for found in pc.value_counts(values).to_pylist())
    if len(counts) > 1:
        rows = rows.take(pc.array_sort_indices(values))
    start = 0
    for value, count in counts:
        yield value, rows.slice(start, count)
        start += count


def flat(headers: pa.ListArray) -> tuple[pa.Array, pa.Array, pa.StructArray]:
    """Where the headers of each row begin, how many there are, and the headers of all rows one after the other."""
    offsets = headers.offsets
    first, last = offsets[0].as_py(), offsets[-1].as_py()
    lengths = pc.fill_null(pc.list_value_length(headers), 0)
    return pc.subtract(offsets.slice(0, len(headers)), first), lengths, headers.values.slice(first, last - first)


def members(pairs: pa.StructArray) -> tuple[pa.Array, pa.Array]:
    """The names and the values of headers."""
    found = dict(zip((field.name for field in pairs.type), pairs.flatten(), strict=True))
    return strings(found["key"]), found["value"]


def strings(values: pa.Array) -> pa.Array:
    """Bytes as strings; those that are none are shown."""
    try:
        return pc.fill_null(values.cast(pa.string()), "")
    except pa.ArrowInvalid:  # some are no UTF-8
        return pa.array([header_value(value) for value in values.to_pylist()], pa.string())


def _is_string(value: bytes | str | None) -> bool:
    return value is not None and header_pair("", value).keys() == {"name", "value"}


def _are_strings(values: pa.Array) -> bool:
    try:
        values.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def header_names(names: list[str] | None) -> HeaderNames | None:
    """What the names of headers say; None where one attribute has several, payloads are packed,
    or a header names their schema."""
    if names is None:
        return None
    attributes: dict[str, int] = {}
    contenttypes = []
    for number, name in enumerate(names):
        attribute = attribute_name(name, WIRE.prefixes)
        # One that is spelled oddly is kept beside its attribute, which the exact judge sees to.
        if attribute in attributes or not name.endswith(attribute):
            return None
        if attribute:
            attributes[attribute] = number
        elif name.lower() == WIRE.contenttype[-1]:
            contenttypes.append(number)
        elif name.lower() == CONTENT_ENCODING or name == WIRE.schema_id:
            return None
    if len(contenttypes) > 1:
        return None
    return HeaderNames(attributes, contenttypes[0] if contenttypes else None)
