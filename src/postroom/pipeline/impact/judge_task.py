"""What one task of `impact` does: judge some records as `sort` would, and say what becomes of each message.

This runs in Spark's Python workers and therefore loads nothing of the server.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from postroom.messages.definitions.definition import CompiledCatalog
from postroom.messages.engine import Engine
from postroom.messages.gc_pause import no_garbage_collection
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.struct_columns import align_table
from postroom.pipeline.storage.folder import FolderStorage
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.worker.arrow import arrow_schema
from postroom.pipeline.worker.batch_reader import read_batches
from postroom.pipeline.worker.sort_task import FLUSH_BYTES, FLUSH_ROWS, Layouts, Tables
from postroom.pipeline.worker.table_layout import DEAD_LETTERS, RECORD_COLUMNS

# A message is known by the number of its record and its own number in it, in one whole number.
MOST_IN_RECORD = 2**32
JUDGED = pa.schema([("message", pa.int64()), ("verdict", pa.int32())])
_RECORD_SCHEMA = arrow_schema(RECORD_COLUMNS)


class RecordsToJudge(msgspec.Struct, frozen=True):
    """Records in a row group of a file: the first has the number `first`; `rows` are those that are meant (all: None).

    The column `record` of a dead letter is a line, whatever its record came in.
    """

    path: str
    group: int
    first: int
    rows: tuple[int, ...] | None = None


class MessageVerdict(msgspec.Struct, frozen=True):
    """What becomes of messages: the outcome, the definition that it is about, and the first reason."""

    outcome: str
    message: str = ""
    code: str = ""
    at: str = ""


class MessageVerdicts(msgspec.Struct):
    """Messages with their verdicts (Arrow's stream of `JUDGED`), the verdicts, and the columns of tables, by folder."""

    messages: bytes
    verdicts: list[MessageVerdict]
    schemas: dict[str, tuple[str, bytes]]


class ImpactTask(msgspec.Struct, frozen=True):
    """Records that are judged together, by a compiled catalog."""

    job: Job
    catalog: bytes
    parts: tuple[RecordsToJudge, ...]


def run_impact(argument: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """Do those of our tasks whose numbers Spark's task has. Spark's workers call this."""
    job, catalog, parts, storage = pickle.loads(argument)  # noqa: S301 - from our own driver
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield msgspec.msgpack.encode(judge_records(ImpactTask(job, catalog, parts[number]), storage))


def judge_records(task: ImpactTask, storage: Storage) -> MessageVerdicts:
    """Judge the records of a task, exactly as a batch of `sort` does, without writing anything."""
    tables = _JudgedTables(task.job, *open_proposed(task.catalog, task.job))
    batches = (batch for part in task.parts for batch in record_batches(part, storage))
    with no_garbage_collection():
        for batch in read_batches(batches, FLUSH_ROWS, FLUSH_BYTES):
            tables.add(batch)
    return tables.verdicts()


@functools.lru_cache(maxsize=2)
def _opened(catalog: bytes, nulls: str, max_record_mb: int, keep_undeclared: bool) -> tuple[Engine, Layouts]:
    compiled = CompiledCatalog.decode(catalog)
    engine = Engine(
        compiled, nulls=nulls, max_record_mb=max_record_mb, keep_transport=True, keep_undeclared=keep_undeclared
    )
    return engine, {}


def open_proposed(catalog: bytes, job: Job) -> tuple[Engine, Layouts]:
    """The engine of a catalog that need not be in the lake, and the tables of its definitions."""
    return _opened(catalog, job.nulls, job.max_record_mb, job.keep_undeclared)


def record_batches(part: RecordsToJudge, storage: Storage) -> Iterator[pa.RecordBatch]:
    """The records of a part as a worker reads them. Their positions are their numbers, and they have no ids."""
    file = pq.ParquetFile(storage.input(part.path))
    columns = [name for name in ("record", "kafka") if name in file.schema_arrow.names]
    table = align_table(file.read_row_group(part.group, columns), _RECORD_SCHEMA).select(["record", "kafka"])
    numbers = pa.array(range(part.first, part.first + table.num_rows), pa.int64())
    table = table.append_column("position", numbers)
    if part.rows is not None:
        table = table.take(pa.array(part.rows, pa.int64()))
    lines = table.filter(pc.is_valid(table.column("record")))
    for batch in lines.to_batches():
        yield _records(batch, {"value": batch.column("record")})
    columns_of_kafka = table.filter(pc.is_valid(table.column("kafka")))
    for batch in columns_of_kafka.to_batches():
        kafka = batch.column("kafka")
        yield _records(batch, dict(zip((field.name for field in kafka.type), kafka.flatten(), strict=True)))


def _records(batch: pa.RecordBatch, columns: dict[str, pa.Array]) -> pa.RecordBatch:
    nothing = pa.repeat("", batch.num_rows)
    origins = {"source": nothing, "position": batch.column("position"), "record_id": nothing}
    return pa.RecordBatch.from_pydict(origins | columns)


class _JudgedTables(Tables):
    """The tables of a batch, of which only is kept which messages are in them."""

    def __init__(self, job: Job, engine: Engine, layouts: Layouts) -> None:
        super().__init__(job, engine, layouts, FolderStorage(Path()))
        self._found: list[pa.Table] = []
        self._numbers: dict[MessageVerdict, int] = {}
        self._columns: dict[str, tuple[str, bytes]] = {}

    def verdicts(self) -> MessageVerdicts:
        """What became of all messages."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, JUDGED) as stream:
            for table in self._found:
                stream.write_table(table)
        return MessageVerdicts(sink.getvalue().to_pybytes(), list(self._numbers), self._columns)

    def _write(self, folder: str, xid: str, version: str, table: pa.Table) -> None:
        if folder == DEAD_LETTERS:
            numbers = pa.array(map(self._number, _letters(table)), pa.int32())
        else:
            self._columns.setdefault(folder, (xid, table.schema.serialize().to_pybytes()))
            numbers = pa.repeat(pa.scalar(self._number(MessageVerdict("landed", xid)), pa.int32()), table.num_rows)
        self._found.append(pa.table([_messages(table), numbers], schema=JUDGED))

    def _number(self, verdict: MessageVerdict) -> int:
        return self._numbers.setdefault(verdict, len(self._numbers))


def _letters(table: pa.Table) -> Iterable[MessageVerdict]:
    columns = (table.column(name).to_pylist() for name in ("outcome", "message", "reasons"))
    for outcome, message, reasons in zip(*columns, strict=True):
        first = reasons[0] if reasons else {}
        yield MessageVerdict(outcome, message or "", first.get("code") or "", first.get("at") or "")


def _messages(table: pa.Table) -> pa.ChunkedArray:
    """The numbers of messages. Of those that came with others the id, which a record does not have, is `-<index>`."""
    first = pc.multiply(table.column("_position"), MOST_IN_RECORD)
    ids = table.column("_record_id")
    is_numbered = pc.not_equal(ids, "")
    if not pc.any(is_numbered).as_py():
        return first
    index = pc.if_else(is_numbered, pc.utf8_slice_codeunits(ids, 1), "0").cast(pa.int64())
    return pc.add(first, index)
