"""Sorted messages as rows of tables: landed ones by the layout of their definition, the others as dead letters."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from postroom.messages.matching.outcome import Match, Reason, Sorted
from postroom.messages.matching.undeclared_metadata import NOTHING, Carried, carrier_of
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.sources.record_ids import id_of_message
from postroom.pipeline.worker.arrow import MISFITS, arrow_column, arrow_schema, property_reader, text_of
from postroom.pipeline.worker.jsonl import Line
from postroom.pipeline.worker.table_layout import DEAD_LETTER_COLUMNS, Column, Layout
from postroom.protocols.protocol_table import wire_named


class Row(NamedTuple):
    """One message with the line it came in."""

    line: Line
    number: int
    several: bool
    sorted: Sorted


def landed_table(job: Job, layout: Layout, rows: list[Row]) -> tuple[pa.Table, list[Row]]:
    """The rows of one definition as an Arrow table, and those that its columns cannot hold, as dead letters."""
    schema = arrow_schema(layout.columns)
    try:
        return _table(landed_columns(job, layout, rows), schema), []
    except MISFITS:
        pass
    good: list[Row] = []
    misfits: list[Row] = []
    for row in rows:
        try:
            _table(landed_columns(job, layout, [row]), schema)
            good.append(row)
        except MISFITS as error:
            misfits.append(row._replace(sorted=_misfit(row.sorted, error)))
    return _table(landed_columns(job, layout, good), schema), misfits


def landed_columns(job: Job, layout: Layout, rows: list[Row]) -> dict[str, list[Any]]:
    """The values of all columns of one definition's table."""
    first = rows[0].sorted.definition if rows else None
    version = first.version if first else ""
    schema_version = (first.schema.version or None) if first and first.schema else None
    writers = [row.sorted.writer for row in rows]
    extensions = [_undeclared(layout, row.sorted.attributes) for row in rows]
    columns: dict[str, list[Any]] = {}
    for column in layout.columns:
        if column.origin == "attribute":
            columns[column.name] = _properties(column, [row.sorted.attributes for row in rows], extensions)
        elif column.origin == "variable":
            columns[column.name] = [row.sorted.match.variables.get(column.member) for row in rows]
        elif column.origin == "metadata":
            columns[column.name] = _properties(column, [row.sorted.metadata for row in rows], extensions)
        elif column.origin == "data":
            columns[column.name] = [row.sorted.data for row in rows]
    return (
        columns
        | _transport(job, rows)
        | {
            "_extensions": [extension or None for extension in extensions],
            "_record_id": _record_ids(rows),
            "_definition": [first.xid if first else ""] * len(rows),
            "_definition_version": [version] * len(rows),
            "_schema_version": [writer.version or None if writer else schema_version for writer in writers],
            "_schema_id": [writer.id if writer else None for writer in writers],
            "_checked": [row.sorted.checked for row in rows],
            "_landed_at": [job.started] * len(rows),
            "_source": [row.line.source for row in rows],
            "_position": [row.line.position for row in rows],
            "_batch": [job.batch_name] * len(rows),
        }
    )


def _transport(job: Job, rows: list[Row]) -> dict[str, list[Any]]:
    found = [_carried(row.sorted, keep=job.keep_undeclared) for row in rows]
    channels, keys, sent, extra = ([carried[number] for carried in found] for number in range(4))
    protocols = [row.sorted.origin.protocol if row.sorted.origin else "" for row in rows]
    return {
        "_protocol": [wire_named(protocol).name or None for protocol in protocols],
        "_channel": channels,
        "_key": keys,
        "_sent_at": sent,
        "_extra": extra,
        "_rescued": [row.sorted.undeclared for row in rows],
    }


def _carried(message: Sorted, *, keep: bool) -> Carried:
    if message.origin is None or message.definition is None:
        return NOTHING
    origin = message.origin
    read = carrier_of(message.definition, origin.protocol).read
    return read(origin.metadata, binary=origin.mode == "binary", keep=keep)


def dead_letters_table(job: Job, versions: dict[str, str], rows: list[Row]) -> pa.Table:
    """Dead letters as an Arrow table."""
    matches = [row.sorted.match for row in rows]
    columns: dict[str, list[Any]] = {
        "_record_id": _record_ids(rows),
        "outcome": [match.outcome for match in matches],
        "message": [match.message for match in matches],
        "reasons": [[_clean(msgspec.structs.asdict(reason)) for reason in match.reasons] for match in matches],
        "candidates": [list(match.candidates) for match in matches],
        "versions": [_tried(match, versions) for match in matches],
        "record": [row.line.record for row in rows],
        "index": [row.number for row in rows],
        "_source": [row.line.source for row in rows],
        "_position": [row.line.position for row in rows],
        "_catalog": [job.catalog] * len(rows),
        "_batch": [job.batch_name] * len(rows),
        "_dead_at": [job.started] * len(rows),
    }
    return _table(columns, arrow_schema(DEAD_LETTER_COLUMNS))


def _table(columns: dict[str, list[Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays([arrow_column(columns[field.name], field.type) for field in schema], schema=schema)


def _record_ids(rows: list[Row]) -> list[str]:
    return [id_of_message(row.line.id, row.number, row.several) for row in rows]


def _undeclared(layout: Layout, attributes: dict[str, Any]) -> dict[str, str]:
    declared = _declared(layout)
    return {name: text_of(value) for name, value in attributes.items() if name not in declared}


@functools.lru_cache(maxsize=4096)
def _declared(layout: Layout) -> frozenset[str]:
    return frozenset(column.member for column in layout.columns if column.origin == "attribute")


def _properties(column: Column, members: list[dict[str, Any]], leftovers: list[dict[str, str]]) -> list[Any]:
    read = property_reader(column.type)
    values: list[Any] = []
    for position, row in enumerate(members):
        value = row.get(column.member)
        if value is not None:
            try:
                value = read(value)
            except (ValueError, OverflowError):
                # A leap second or the year 0000 is valid on the wire but has no place in a timestamp column.
                leftovers[position][column.member if column.origin == "attribute" else column.name] = text_of(value)
                value = None
        values.append(value)
    return values


def _misfit(message: Sorted, error: Exception) -> Sorted:
    xid = message.match.message or ""
    reason = Reason(xid, "/payload", "column_misfit", "values that the table's columns can hold", str(error)[:200])
    return Sorted(Match("invalid", xid, {}, message.match.candidates, (_clean_reason(reason),)), message.definition)


def _clean_reason(reason: Reason) -> Reason:
    return Reason(**_clean(msgspec.structs.asdict(reason)))


def _clean(texts: dict[str, str]) -> dict[str, str]:
    # A lone surrogate can come out of a JSON escape; UTF-8, and with it Arrow, cannot hold it.
    return {name: text.encode("utf-8", "backslashreplace").decode() for name, text in texts.items()}


def _tried(match: Match, versions: dict[str, str]) -> list[dict[str, str]]:
    named = [match.message or "", *match.candidates, *(reason.message for reason in match.reasons)]
    return [{"message": xid, "version": versions[xid]} for xid in dict.fromkeys(named) if xid in versions]
