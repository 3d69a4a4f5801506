"""A sink that sorts and writes nothing: match and validate alone, on the way that landing takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage

from postroom.messages.engine import Engine
from postroom.messages.gc_pause import no_garbage_collection
from postroom.messages.matching.columnar import LandedEvents
from postroom.pipeline.storage.folder import FolderStorage
from postroom.pipeline.worker.batch import WorkerBatch
from postroom.pipeline.worker.batch_reader import read_batches
from postroom.pipeline.worker.sort_task import FLUSH_BYTES, FLUSH_ROWS, open_engine

# Workers cannot import this module, so its classes travel to them.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # Spark left it untyped


class Counted(WriterCommitMessage):
    """How many messages of a task landed, and how many did not."""

    def __init__(self, landed: int, others: int) -> None:
        self.landed = landed
        self.others = others


class CountWriter(DataSourceArrowWriter):
    """Sorts and counts."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """What a task does."""
        engine, _ = open_engine(FolderStorage(Path(self.options["lake"])), self.options["catalog"], "strict", 64)
        total = Counted(0, 0)
        with no_garbage_collection():
            for batch in read_batches(iterator, FLUSH_ROWS, FLUSH_BYTES):
                _count(engine, batch, total)
        return total

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Tell the driver's side by a file: a data source has no other way to answer."""
        counted = [message for message in messages if isinstance(message, Counted)]
        landed, others = sum(one.landed for one in counted), sum(one.others for one in counted)
        Path(self.options["answer"]).write_text(f"{landed} {others}")


class CountSink(DataSource):
    """`df.write.format("count")`."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "count"

    def writer(self, schema: Any, overwrite: bool) -> CountWriter:
        """The writer."""
        return CountWriter(dict(self.options))


def count_outcomes(frame: Any, lake: str, catalog: str) -> tuple[int, int]:
    """How many messages of a frame land by a catalog of a lake, and how many do not."""
    answer = Path(lake) / "answer"
    frame.sparkSession.dataSource.register(CountSink)
    options = {"lake": lake, "catalog": catalog, "answer": str(answer)}
    frame.write.format("count").options(**options).mode("append").save()
    landed, others = map(int, answer.read_text().split())
    return landed, others


def _count(engine: Engine, batch: WorkerBatch, total: Counted) -> None:
    def land(events: LandedEvents) -> None:
        total.landed += len(events.rows)

    for _, records in batch.slices():
        for judged in engine.judge(records, land):
            landed = sum(message.match.outcome == "landed" for message in judged.messages)
            total.landed += landed
            total.others += len(judged.messages) - landed
