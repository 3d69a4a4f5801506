"""Where the records of a worker's batch came from, as Arrow columns, and the messages that were judged one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from postroom.messages.matching.outcome import Sorted
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.sources.record_ids import digest_of, id_of_message, origin_in_cluster
from postroom.pipeline.worker.arrow import arrow_schema
from postroom.pipeline.worker.batch import WorkerBatch
from postroom.pipeline.worker.table_layout import RECORD_COLUMNS


class JudgedMessage(NamedTuple):
    """A message that was judged by itself: the row and bytes of its record, and its number among that record's."""

    row: int
    record: bytes
    number: int
    is_one_of_several: bool
    sorted: Sorted


class RecordOrigins:
    """Sources, positions and ids of a batch's records, and what its columns say of their transport."""

    def __init__(self, batch: WorkerBatch, cluster: str = "") -> None:
        sources = set(batch.sources)
        self._only_source = next(iter(sources)) if len(sources) == 1 else None
        positions = pa.array(batch.positions, pa.int64())
        made = batch.ids is None
        self._ids = self._made(batch.sources, positions, cluster) if made else pa.array(batch.ids, pa.string())
        columns = {"_record_id": self._ids, "_position": positions, **batch.transport}
        if self._only_source is None:
            columns["_source"] = pa.array(batch.sources, pa.string())
        self._columns = pa.RecordBatch.from_pydict(columns)

    def _made(self, sources: list[str], positions: pa.Array, cluster: str) -> pa.Array:
        """The ids of records whose source and position tell them from all others."""
        digests = {s: digest_of(origin_in_cluster(s, cluster) if cluster else s) for s in set(sources)}
        only = self._only_source
        digest: Any = digests[only] if only is not None else pa.array([digests[s] for s in sources])
        return pc.binary_join_element_wise(digest, positions.cast(pa.string()), "-")

    def columns(self, rows: list[int]) -> dict[str, pa.Array]:
        """The columns of some rows."""
        chosen = self._columns.take(pa.array(rows, pa.int64()))  # all at once: each step of Arrow costs by itself
        found = dict(zip(chosen.schema.names, chosen.columns, strict=True))
        return found if self._only_source is None else found | {"_source": pa.repeat(self._only_source, len(rows))}

    def __len__(self) -> int:
        """How many records there are."""
        return int(self._columns.num_rows)

    def message_columns(self, messages: list[JudgedMessage]) -> dict[str, pa.Array]:
        """The columns of messages, with an id for each of those that came in one record."""
        found = self.columns([message.row for message in messages])
        if any(message.is_one_of_several for message in messages):
            ids = zip(found["_record_id"].to_pylist(), messages, strict=True)
            named = [id_of_message(record, one.number, one.is_one_of_several) for record, one in ids]
            found["_record_id"] = pa.array(named, pa.string())
        return found


def record_table(job: Job, batch: WorkerBatch, origins: RecordOrigins, rows: pa.Array) -> pa.Table:
    """The exact records of some rows of a batch, with their ids."""
    schema, count = arrow_schema(RECORD_COLUMNS), len(rows)
    found = batch.exact(None if count == len(origins) else rows) | origins.columns(rows.to_pylist())
    found |= {
        "_batch": pa.repeat(job.batch_name, count),
        "_kept_at": pa.repeat(pa.scalar(job.started, schema.field("_kept_at").type), count),
    }
    columns = [found[field.name] if field.name in found else pa.nulls(count, field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)
