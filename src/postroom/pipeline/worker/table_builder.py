"""Arrow tables of landed messages, one definition at a time, whether judged by column or one by one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from postroom.formats.batch_decode import MemberColumns
from postroom.formats.column_types import STRING, TIMESTAMP, as_text
from postroom.messages.definitions.definition import Definition
from postroom.messages.matching.columnar import LandedEvents
from postroom.messages.matching.outcome import Sorted
from postroom.messages.matching.transport_metadata import Transport
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.worker.arrow import MISFITS, arrow_schema, arrow_type, property_reader, text_of
from postroom.pipeline.worker.dead_letter_table import column_misfit
from postroom.pipeline.worker.record_origins import JudgedMessage, RecordOrigins
from postroom.pipeline.worker.table_layout import Column, Layout, Origin
from postroom.pipeline.worker.time_columns import typed_times, with_inexact_times
from postroom.protocols.protocol_table import wire_named

_TIME = pa.timestamp("us", tz="UTC")
_STRINGS = frozenset((str, type(None)))
_TRANSPORT = {
    "_protocol": pa.string(),
    "_channel": pa.string(),
    "_key": pa.binary(),
    "_sent_at": _TIME,
    "_extra": pa.string(),
}


def landed_table(
    job: Job, layout: Layout, events: LandedEvents, origins: dict[str, pa.Array], *, is_checked: bool = True
) -> pa.Table:
    """The table of messages that landed in one definition; raises one of MISFITS when a column cannot hold a value."""
    schema = schema_of(layout)
    count = len(events.rows)
    leftovers: dict[int, dict[str, str]] = {
        row: {name: text_of(value) for name, value in attributes.items()}
        for row, attributes in events.extensions.items()
    }
    inexact: dict[int, Any] = {}
    arrays = origins | _constants(job, events.definition, count, is_checked) | _schema_versions(events, count)
    for column in layout.columns:
        if column.origin == "attribute":
            sure = column.member in events.timestamps
            arrays[column.name] = _property(column, events.attributes.get(column.member), count, leftovers, sure)
        elif column.origin == "variable":
            arrays[column.name] = _strings(events.variables.get(column.member), count)
        elif column.origin == "metadata":
            arrays[column.name] = _property(column, events.metadata.get(column.member), count, leftovers)
        elif column.origin == "data":
            data, inexact = typed_times(column.type, _data(events.data, arrow_type(as_text(column.type)), count))
            arrays[column.name] = data
    arrays |= _transport(events, keep=job.keep_undeclared)
    arrays["_rescued"] = _sparse(with_inexact_times(events.undeclared, inexact), count)
    arrays["_extensions"] = _extensions(leftovers, count, schema.field("_extensions").type)
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def landed_tables(
    job: Job, layout: Layout, origins: RecordOrigins, messages: list[JudgedMessage]
) -> tuple[list[pa.Table], list[JudgedMessage]]:
    """The tables of messages that the exact judge landed in one definition, and those that no column can hold."""
    by_protocol: dict[str, list[JudgedMessage]] = {}
    for message in messages:
        by_protocol.setdefault(message.sorted.protocol, []).append(message)
    tables: list[pa.Table] = []
    misfits: list[JudgedMessage] = []
    for protocol, some in by_protocol.items():
        build = partial(_judged_table, job, layout, origins, protocol)
        try:
            tables.append(build(some))
        except MISFITS:
            fitting, others = _tried_singly(build, some)
            misfits += others
            tables += [build(fitting)] if fitting else []
    return tables, misfits


def _tried_singly(
    build: Callable[[list[JudgedMessage]], pa.Table], messages: list[JudgedMessage]
) -> tuple[list[JudgedMessage], list[JudgedMessage]]:
    """The messages that columns can hold, and the others as dead letters."""
    fitting: list[JudgedMessage] = []
    misfits: list[JudgedMessage] = []
    for message in messages:
        try:
            build([message])
            fitting.append(message)
        except MISFITS as error:
            misfits.append(column_misfit(message, error))
    return fitting, misfits


def _judged_table(
    job: Job, layout: Layout, origins: RecordOrigins, protocol: str, messages: list[JudgedMessage]
) -> pa.Table:
    results = [message.sorted for message in messages]
    events = _landed_events(layout, protocol, results)
    return landed_table(job, layout, events, origins.message_columns(messages), is_checked=results[0].checked)


def _landed_events(layout: Layout, protocol: str, results: list[Sorted]) -> LandedEvents:
    """The columns of messages of one definition that came by one protocol."""
    definition = results[0].definition
    if definition is None:
        raise TypeError("a message that landed has a definition")
    members = _members(layout)
    declared = frozenset(members["attribute"])
    undeclared = [{n: v for n, v in result.attributes.items() if n not in declared} for result in results]
    return LandedEvents(
        definition,
        list(range(len(results))),
        {name: [result.attributes.get(name) for result in results] for name in declared},
        {name: [result.match.variables.get(name) for result in results] for name in members["variable"]},
        {name: [result.metadata.get(name) for result in results] for name in members["metadata"]},
        {row: found for row, found in enumerate(undeclared) if found},
        [result.data for result in results],
        frozenset(),
        {row: result.writer for row, result in enumerate(results) if result.writer is not None},
        protocol,
        [result.transport for result in results],
        {row: result.undeclared for row, result in enumerate(results) if result.undeclared is not None},
    )


@functools.lru_cache(maxsize=4096)
def _members(layout: Layout) -> dict[Origin, list[str]]:
    """The members that the columns of a layout show, by their origin."""
    found: dict[Origin, list[str]] = {"attribute": [], "variable": [], "metadata": []}
    for column in layout.columns:
        found.setdefault(column.origin, []).append(column.member)
    return found


@functools.lru_cache(maxsize=4096)
def schema_of(layout: Layout) -> pa.Schema:
    """The Arrow schema of a layout, made once."""
    return arrow_schema(layout.columns)


def _constants(job: Job, definition: Definition, count: int, is_checked: bool) -> dict[str, pa.Array]:
    return {
        "_definition": pa.repeat(definition.xid, count),
        "_definition_version": pa.repeat(definition.version, count),
        "_checked": pa.repeat(is_checked, count),
        "_landed_at": pa.repeat(pa.scalar(job.started, _TIME), count),
        "_batch": pa.repeat(job.batch_name, count),
    }


def _schema_versions(events: LandedEvents, count: int) -> dict[str, pa.Array]:
    """Which version of the schema wrote each payload, and by which id that is known."""
    schema, writers = events.definition.schema, events.writers
    version = (schema.version or None) if schema else None
    if not writers:
        return {"_schema_version": _constant_string(version, count), "_schema_id": _constant_string(None, count)}
    found = [writers.get(row) for row in range(count)]
    return {
        "_schema_version": _strings([writer.version or None if writer else version for writer in found], count),
        "_schema_id": _strings([writer.id if writer else None for writer in found], count),
    }


def _transport(events: LandedEvents, *, keep: bool) -> dict[str, pa.Array]:
    """What came with events, but for what the columns that they came in tell."""
    count = len(events.rows)
    protocol = wire_named(events.protocol).name
    if not protocol:
        return {name: pa.nulls(count, arrow) for name, arrow in _TRANSPORT.items()}
    found = {} if events.transport is None else _transport_columns(events.transport, count)
    return {"_protocol": pa.repeat(protocol, count), **found, **({} if keep else {"_extra": _strings(None, count)})}


def _transport_columns(carried: list[Transport], count: int) -> dict[str, pa.Array]:
    channels, keys, sent, extra = zip(*carried, strict=True)
    return {
        "_channel": _strings(channels, count),
        "_key": pa.array(keys, pa.binary(), size=count),
        "_sent_at": pa.array(sent, _TIME, size=count),
        "_extra": _strings(extra, count),
    }


def _sparse(texts: dict[int, str], count: int) -> pa.Array:
    return pa.array([texts.get(row) for row in range(count)], pa.string()) if texts else _strings(None, count)


def _constant_string(value: str | None, count: int) -> pa.Array:
    return pa.nulls(count, pa.string()) if value is None else pa.repeat(value, count)


def _strings(values: Sequence[Any] | None, count: int) -> pa.Array:
    if values is None:
        return pa.nulls(count, pa.string())
    repeated = _repeated(values, count)
    return pa.array(values, pa.string(), size=count) if repeated is None else repeated


def _repeated(values: Sequence[Any], count: int) -> pa.Array | None:
    """The array of texts that are all the same; None for others."""
    first = values[0] if count else None
    is_one = type(first) is str and values[-1] == first and values.count(first) == count
    return pa.repeat(first, count) if is_one else None


def _data(data: Sequence[Any] | MemberColumns, arrow: pa.DataType, count: int) -> pa.Array:
    if not isinstance(data, MemberColumns):
        return pa.array(data, arrow, size=count)
    fields = list(arrow)
    members = [pa.array(column, field.type, size=count) for column, field in zip(data.columns, fields, strict=True)]
    return pa.StructArray.from_arrays(members, fields=fields)


def _property(
    column: Column, values: Sequence[Any] | None, count: int, leftovers: dict[int, dict[str, str]], sure: bool = False
) -> pa.Array:
    repeated = _repeated(values, count) if values is not None and column.type == STRING else None
    if repeated is not None:
        return repeated
    if values is None or values.count(None) == count:
        return pa.nulls(count, arrow_type(column.type))
    if column.type == STRING and _STRINGS.issuperset(map(type, values)):
        return pa.array(values, pa.string(), size=count)
    if column.type == TIMESTAMP and sure:
        return pa.array(values, pa.string()).cast(_TIME)
    return _read_slowly(column, values, leftovers)


def _read_slowly(column: Column, values: Sequence[Any], leftovers: dict[int, dict[str, str]]) -> pa.Array:
    read = property_reader(column.type)
    found: list[Any] = []
    for row, value in enumerate(values):
        try:
            found.append(None if value is None else read(value))
        except (ValueError, OverflowError):
            # A leap second or the year 0000 is valid on the wire but has no row in a timestamp column.
            name = column.member if column.origin == "attribute" else column.name
            leftovers.setdefault(row, {})[name] = text_of(value)
            found.append(None)
    return pa.array(found, arrow_type(column.type), size=len(found))


def _extensions(leftovers: dict[int, dict[str, str]], count: int, arrow: pa.DataType) -> pa.Array:
    if not leftovers:
        return pa.nulls(count, arrow)
    return pa.array([leftovers.get(row) for row in range(count)], arrow, size=count)
