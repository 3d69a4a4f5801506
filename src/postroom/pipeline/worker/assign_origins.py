"""Give rows of a DataFrame the source, position and id that they do not have themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.pipeline.sources.dataframe import KAFKA, holds_records, record_columns
from postroom.pipeline.sources.record_ids import digest_of, id_of_key, origin_of_rows
from postroom.pipeline.worker.arrow import numbers

# Rows of a task are counted from here.
ROWS_OF_A_TASK = 2**33


class RowSource(msgspec.Struct, frozen=True):
    """The name of rows that do not say where they came from, their batch, and the column that tells them apart."""

    source: str
    batch: str
    key: str = ""


def assign_origins(batches: Iterable[pa.RecordBatch], rows: RowSource, task: int) -> Iterator[pa.RecordBatch]:
    """Records with source, position and id, where they do not say these themselves; ranges of files as they are."""
    row = task * ROWS_OF_A_TASK
    for batch in batches:
        names = set(batch.schema.names)
        if not holds_records(names):
            yield batch
        elif names >= {"source", "position"} and rows.key not in names:
            yield batch.select(["source", "position", *record_columns(names)])
        else:
            yield _assigned(batch, names, rows, row)
        row += batch.num_rows


def _assigned(batch: pa.RecordBatch, names: set[str], rows: RowSource, row: int) -> pa.RecordBatch:
    count = batch.num_rows
    columns = {name: batch.column(name) for name in record_columns(names)}
    origins: dict[str, Any] = {"source": pa.repeat(rows.source, count), "position": numbers(row, count)}
    if names >= KAFKA and not names >= {"source", "position"}:
        pairs = zip(batch.column("topic").to_pylist(), batch.column("partition").to_pylist(), strict=True)
        base = rows.source if rows.source.startswith("kafka://") else "kafka:/"
        origins = {
            "source": pa.array([f"{base}/{topic}/{partition}" for topic, partition in pairs], pa.string()),
            "position": batch.column("offset").cast(pa.int64()),
        }
    origins |= {name: batch.column(name).cast(origins[name].type) for name in origins if name in names}
    is_counted = not (names >= KAFKA or "position" in names)
    if rows.key in names or is_counted:
        numbered = _by_number(**origins, batch=rows.batch if is_counted else "")
        keys = batch.column(rows.key).cast(pa.string()) if rows.key in names else pa.nulls(count, pa.string())
        origins["record_id"] = _by_key(origins["source"], keys, numbered)
    return pa.RecordBatch.from_arrays(list((origins | columns).values()), names=list(origins | columns))


def _by_number(source: pa.Array, position: pa.Array, batch: str) -> pa.Array:
    """Ids by source and position; positions that are numbers of rows count in one batch only."""
    sources: list[str] = source.to_pylist()
    digests = {name: digest_of(origin_of_rows(name, batch) if batch else name) for name in set(sources)}
    strings = pa.array([digests[name] for name in sources], pa.string())
    return pc.binary_join_element_wise(strings, position.cast(pa.string()), "-")


def _by_key(source: pa.Array, keys: pa.Array, otherwise: pa.Array) -> pa.Array:
    """Ids by source and key, and those of rows that have none."""
    if keys.null_count == len(keys):
        return otherwise
    pairs = zip(source.to_pylist(), keys.to_pylist(), strict=True)
    known = pa.array([None if key is None else id_of_key(name, key) for name, key in pairs], pa.string())
    return pc.coalesce(known, otherwise)
