"""Landing: bundles of events as Arrow tables, column by column."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from postroom.formats.batch_decode import Members
from postroom.formats.column_types import STRING, TIMESTAMP
from postroom.messages.definitions.definition import Definition
from postroom.messages.matching.columnar import Bundle, surely_timestamps
from postroom.messages.matching.undeclared_metadata import Carried
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.sources.record_ids import digest_of, origin_in_cluster
from postroom.pipeline.worker.arrow import arrow_schema, arrow_type, property_reader, text_of
from postroom.pipeline.worker.table_layout import Column, Layout
from postroom.pipeline.worker.worker_batches import Haul
from postroom.protocols.protocol_table import wire_named

_TIME = pa.timestamp("us", tz="UTC")
_TEXT = frozenset((str, type(None)))
_TRANSPORT = {
    "_protocol": pa.string(),
    "_channel": pa.string(),
    "_key": pa.binary(),
    "_sent_at": _TIME,
    "_extra": pa.string(),
}


class Places:
    """Where the records of a haul came from, and what came with them where its columns tell, as Arrow arrays."""

    def __init__(self, haul: Haul, cluster: str = "") -> None:
        named = set(haul.sources)
        self._one = next(iter(named)) if len(named) == 1 else None
        positions = pa.array(haul.positions, pa.int64())
        made = haul.ids is None
        self._ids = self._made(haul.sources, positions, cluster) if made else pa.array(haul.ids, pa.string())
        columns = {"_record_id": self._ids, "_position": positions, **haul.carried}
        if self._one is None:
            columns["_source"] = pa.array(haul.sources, pa.string())
        self._columns = pa.RecordBatch.from_pydict(columns)

    def _made(self, sources: list[str], positions: pa.Array, cluster: str) -> pa.Array:
        """The ids of records whose source and position tell them from all others."""
        digests = {s: digest_of(origin_in_cluster(s, cluster) if cluster else s) for s in set(sources)}
        digest: Any = digests[self._one] if self._one is not None else pa.array([digests[s] for s in sources])
        return pc.binary_join_element_wise(digest, positions.cast(pa.string()), "-")

    def record_id(self, row: int) -> str:
        """The id of one record."""
        found: str = self._ids[row].as_py()
        return found

    def columns(self, rows: list[int]) -> dict[str, pa.Array]:
        """The columns that tell where some rows came from, and what came with them."""
        chosen = self._columns.take(pa.array(rows, pa.int64()))  # all at once: each step of Arrow costs by itself
        found = dict(zip(chosen.schema.names, chosen.columns, strict=True))
        return found if self._one is None else found | {"_source": pa.repeat(self._one, len(rows))}


def bundle_table(job: Job, layout: Layout, places: Places, bundle: Bundle) -> pa.Table:
    """The table of a bundle; raises one of MISFITS when a column cannot hold a value of it."""
    schema = schema_of(layout)
    count = len(bundle.rows)
    leftovers: dict[int, dict[str, str]] = {
        place: {name: text_of(value) for name, value in attributes.items()}
        for place, attributes in bundle.extensions.items()
    }
    arrays = places.columns(bundle.rows) | _constants(job, bundle.definition, count) | _written(bundle, count)
    for column in layout.columns:
        if column.origin == "attribute":
            sure = column.member in bundle.timestamps
            arrays[column.name] = _property(column, bundle.attributes.get(column.member), count, leftovers, sure)
        elif column.origin == "variable":
            arrays[column.name] = _texts(bundle.variables.get(column.member), count)
        elif column.origin == "metadata":
            arrays[column.name] = _property(column, bundle.metadata.get(column.member), count, leftovers)
        elif column.origin == "data":
            arrays[column.name] = _data(bundle.data, schema.field(column.name).type, count)
    arrays |= _transport(bundle, keep=job.keep_undeclared)
    arrays["_rescued"] = _sparse(bundle.undeclared, count)
    arrays["_extensions"] = _extensions(leftovers, count, schema.field("_extensions").type)
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


@functools.lru_cache(maxsize=4096)
def schema_of(layout: Layout) -> pa.Schema:
    """The Arrow schema of a layout, made once."""
    return arrow_schema(layout.columns)


def _constants(job: Job, definition: Definition, count: int) -> dict[str, pa.Array]:
    return {
        "_definition": pa.repeat(definition.xid, count),
        "_definition_version": pa.repeat(definition.version, count),
        "_checked": pa.repeat(True, count),
        "_landed_at": pa.repeat(pa.scalar(job.started, _TIME), count),
        "_batch": pa.repeat(job.batch_name, count),
    }


def _written(bundle: Bundle, count: int) -> dict[str, pa.Array]:
    """Which version of the schema wrote each payload, and by which id that is known."""
    schema, writers = bundle.definition.schema, bundle.writers
    version = (schema.version or None) if schema else None
    if not writers:
        return {"_schema_version": _constant_text(version, count), "_schema_id": _constant_text(None, count)}
    found = [writers.get(place) for place in range(count)]
    return {
        "_schema_version": _texts([writer.version or None if writer else version for writer in found], count),
        "_schema_id": _texts([writer.id if writer else None for writer in found], count),
    }


def _transport(bundle: Bundle, *, keep: bool) -> dict[str, pa.Array]:
    """What came with events, but for what the columns that they came in tell."""
    count = len(bundle.rows)
    if not bundle.protocol:
        return {name: pa.nulls(count, kind) for name, kind in _TRANSPORT.items()}
    found = {} if bundle.carried is None else _listed(bundle.carried, count)
    shown = found if keep else found | {"_extra": _texts(None, count)}
    return {"_protocol": pa.repeat(wire_named(bundle.protocol).name, count), **shown}


def _listed(carried: list[Carried], count: int) -> dict[str, pa.Array]:
    channels, keys, sent, extra = zip(*carried, strict=True)
    return {
        "_channel": _texts(channels, count),
        "_key": pa.array(keys, pa.binary(), size=count),
        "_sent_at": pa.array(sent, _TIME, size=count),
        "_extra": _texts(extra, count),
    }


def _sparse(texts: dict[int, str], count: int) -> pa.Array:
    return pa.array([texts.get(place) for place in range(count)], pa.string()) if texts else _texts(None, count)


def _constant_text(value: str | None, count: int) -> pa.Array:
    return pa.nulls(count, pa.string()) if value is None else pa.repeat(value, count)


def _texts(values: Sequence[Any] | None, count: int) -> pa.Array:
    if values is None:
        return pa.nulls(count, pa.string())
    repeated = _repeated(values, count)
    return pa.array(values, pa.string(), size=count) if repeated is None else repeated


def _repeated(values: Sequence[Any], count: int) -> pa.Array | None:
    """The array of texts that are all the same; None for others."""
    first = values[0] if count else None
    is_one = type(first) is str and values[-1] == first and values.count(first) == count
    return pa.repeat(first, count) if is_one else None


def _data(data: Sequence[Any] | Members, kind: pa.DataType, count: int) -> pa.Array:
    if not isinstance(data, Members):
        return pa.array(data, kind, size=count)
    fields = list(kind)
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
    if column.type == STRING and _TEXT.issuperset(map(type, values)):
        return pa.array(values, pa.string(), size=count)
    if column.type == TIMESTAMP and (sure or surely_timestamps(values)):
        return pa.array(values, pa.string()).cast(_TIME)
    return _read_slowly(column, values, leftovers)


def _read_slowly(column: Column, values: Sequence[Any], leftovers: dict[int, dict[str, str]]) -> pa.Array:
    read = property_reader(column.type)
    found: list[Any] = []
    for place, value in enumerate(values):
        try:
            found.append(None if value is None else read(value))
        except (ValueError, OverflowError):
            # A leap second or the year 0000 is valid on the wire but has no place in a timestamp column.
            name = column.member if column.origin == "attribute" else column.name
            leftovers.setdefault(place, {})[name] = text_of(value)
            found.append(None)
    return pa.array(found, arrow_type(column.type), size=len(found))


def _extensions(leftovers: dict[int, dict[str, str]], count: int, kind: pa.DataType) -> pa.Array:
    if not leftovers:
        return pa.nulls(count, kind)
    return pa.array([leftovers.get(place) for place in range(count)], kind, size=count)
