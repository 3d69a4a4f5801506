"""A slice of records crosses from `pipeline` into `messages` once, and comes back once."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from postroom.catalog.catalog import Catalog
from postroom.messages.making.make import AUTO
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.storage.folder import FolderStorage
from postroom.pipeline.worker.batch_reader import read_batches
from postroom.pipeline.worker.sort_task import Tables, open_engine
from postroom.protocols.records import Record, render_record
from tests.pipeline.worker.test_agreement import as_kafka_columns, as_lines

MESSAGE = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {"type": {"value": "t"}, "time": {"required": True}},
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschema": {"type": "object", "properties": {"temperature": {"type": "number"}}},
}
CATALOG = Catalog({"messagegroups": {"g": {"messages": {"m": MESSAGE}}}})


class Crossings:
    """Calls between the two rooms, by the names of functions; a generator that goes on is the call that began it."""

    def __init__(self) -> None:
        self.into_messages: list[str] = []
        self.into_pipeline: list[str] = []
        self._seen: list[FrameType] = []

    def look(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_back is None or any(frame is seen for seen in self._seen):
            return
        rooms = _room(frame.f_back), _room(frame)
        if rooms == ("pipeline", "messages"):
            self._seen.append(frame)
            self.into_messages.append(frame.f_code.co_qualname)
        elif rooms == ("messages", "pipeline"):
            self._seen.append(frame)
            self.into_pipeline.append(frame.f_code.co_qualname)


def _room(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.split(".")[1] if name.startswith("postroom.") else ""


@contextmanager
def watched() -> Iterator[Crossings]:
    crossings = Crossings()
    sys.setprofile(crossings.look)
    try:
        yield crossings
    finally:
        sys.setprofile(None)


def records() -> list[Record]:
    """Events of two modes that the columnar judge accepts, and others that the exact one lands or refuses."""
    rng = random.Random(7)
    maker = CATALOG.message("/messagegroups/g/messages/m").maker
    usual = [maker.make({}, AUTO, protocol="KAFKA", mode=mode, rng=rng) for mode in ("binary", "structured") * 5]
    headers = {
        "ce_specversion": "1.0",
        "ce_id": "1",
        "ce_source": "/o",
        "ce_type": "t",
        "ce_time": "2026-05-04T10:00:00Z",
    }
    unheard = Record("KAFKA", {"topic": "t", "key": "k", "headers": {**headers, "ce_unheard": "1"}}, b"{}")
    broken = Record("KAFKA", {"headers": headers}, b"{")
    return [*usual, unheard, broken, Record("KAFKA", {}, b"\xff")]


def as_record_columns(folder: Path) -> pa.RecordBatch:
    rows = [render_record(record) for record in records()]
    columns = {
        "protocol": [row["protocol"] for row in rows],
        "metadata": [json.dumps(row["metadata"]) for row in rows],
        "payload": [record.payload for record in records()],
    }
    return _in_parquet(folder, pa.table(columns))


def as_kafka_parquet(folder: Path) -> pa.RecordBatch:
    columns = as_kafka_columns(records())
    assert columns is not None
    return _in_parquet(folder, pa.Table.from_batches([columns]).drop_columns(["source", "position"]))


def _in_parquet(folder: Path, table: pa.Table) -> pa.RecordBatch:
    pq.write_table(table, folder / "records.parquet")
    return pa.RecordBatch.from_pydict(
        {"path": [str(folder / "records.parquet")], "start": [0], "length": [table.num_rows]}
    )


FORMS: dict[str, tuple[Callable[[Path], Any], set[str]]] = {
    "lines": (lambda _: as_lines(records()), set()),
    "Kafka columns": (lambda _: as_kafka_columns(records()), {"KafkaSlice", "SameHeaders"}),
    "Kafka columns in Parquet": (as_kafka_parquet, {"KafkaSlice", "SameHeaders"}),
    "records in Parquet": (as_record_columns, set()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_slice_of_records_crosses_into_messages_once_and_back_once(tmp_path: Path, form: str) -> None:
    as_batch, readers = FORMS[form]
    lake = tmp_path / "lake"
    (lake / "_catalogs").mkdir(parents=True)
    (lake / "_catalogs" / form).write_bytes(CATALOG.compiled.encode())
    engine, layouts = open_engine(FolderStorage(lake), form, "strict", 64, keep_undeclared=True)
    tables = Tables(
        Job(str(lake), form, "strict", "run", 0, datetime(2026, 5, 4, tzinfo=UTC)), engine, layouts, FolderStorage(lake)
    )
    first, second = (next(read_batches([as_batch(tmp_path)], rows=1_000, size=1_000_000)) for _ in range(2))
    tables.add(first)  # from here on it is known which columns tables have
    with watched() as crossings:
        tables.add(second)
    assert (tables.read, tables.dead) == (26, {"invalid": 2, "unmatched": 2})
    assert crossings.into_messages == ["Engine.judge"]
    # What is in columns is read when it is asked for; what landed comes back by `_land`.
    back = {name.partition(".")[0] for name in crossings.into_pipeline if name != "Tables._land"}
    assert back == readers
    assert "Tables._land" in crossings.into_pipeline
