"""Where records come from: files, Kafka, or any DataFrame with records in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from postroom.errors import LakeRefused, SourceUnknown
from postroom.pipeline.local_paths import local_path, scheme_of
from postroom.pipeline.sources.dataframe import KAFKA, KEY, check_key, holds_records, record_columns
from postroom.pipeline.sources.lag import Lags, Reached
from postroom.pipeline.storage.open_storage import is_remote, open_storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from postroom.pipeline.checkpoint import Checkpoint
    from postroom.pipeline.sources.preview import Preview


class Source(Protocol):
    """Something that has records: now, or now and later."""

    @property
    def name(self) -> str:
        """The source as the ledger and the checkpoint name it; no secrets in it."""

    @property
    def needs_spark(self) -> bool:
        """Whether only Spark can look what is there."""

    @property
    def configuration(self) -> Mapping[str, str]:
        """What Spark must be started with to read it, such as Java libraries by coordinates."""

    def check(self, *, follow: bool) -> None:
        """Raise when it is plain already that there is nothing to read."""

    def records(self, spark: SparkSession) -> DataFrame | None:
        """All records that are there now, as the sink takes them."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """A stream; each batch of it goes through `batch` first."""

    def batch(self, frame: DataFrame) -> DataFrame | None:
        """The records of one batch of the stream, as the sink takes them; None when there are none."""

    def is_outage(self, error: str) -> bool:
        """Whether an error of the stream passes by itself, so that it is worth trying again."""

    def check_rebind(self, other: str, stream: Path) -> None:
        """Raise unless what was read of a source of another name, by its part of a checkpoint, was read of this one."""

    def answers(self) -> bool:
        """Whether it can be reached at present, as far as a short look can tell."""

    def preview(self, spark: SparkSession | None, kept: Checkpoint | None, most: int) -> Preview:
        """What a run would read, after a checkpoint if there is one, and a sample of at most about so many records."""

    def lag(self, reached: Reached) -> Lags:
        """What is still to do, by what people call the parts of a source; empty where nobody knows."""

    def cluster(self, spark: SparkSession) -> str:
        """What ids of records name in place of brokers, `kafka://<id>`; empty where the name of a file does."""


def open_source(source: str | Path, storage_options: Mapping[str, str] | None = None) -> Source:
    """The source of a name: `kafka://…`, a file or a folder, here or in an object store."""
    scheme = scheme_of(source)
    if scheme in ("", "file"):
        from postroom.pipeline.sources.files import FileSource

        return FileSource(local_path(source, "a source"))
    if is_remote(source):
        from postroom.pipeline.sources.object_files import ObjectFileSource
        from postroom.pipeline.storage.object_store import ObjectStorage

        place = open_storage(source, "a source", storage_options)
        if isinstance(place, ObjectStorage):
            return ObjectFileSource(place)
    if scheme == "kafka":
        from postroom.pipeline.sources.kafka import parse_kafka

        return parse_kafka(str(source))
    raise SourceUnknown(
        f"records cannot be read from {scheme}:.",
        place=str(source),
        remedy="Give a file, a folder, s3://bucket/path, or kafka://host:port/topic.",
    )


def frame_of_records(frame: DataFrame, name: str = "dataframe", record_id: str = "") -> DataFrame:
    """A DataFrame of records with their source, the position where there is one, and the key if a column has it.

    Records are a column `value` (a line of JSON as text or bytes), the record columns of the contract (protocol,
    metadata, payload), or the columns of Spark's Kafka connector. The worker counts rows without a position.
    """
    from pyspark.sql import functions as f

    columns = set(frame.columns)
    if not holds_records(columns):
        raise LakeRefused(
            f"this DataFrame holds no records: its columns are {', '.join(frame.columns)}.",
            remedy="It needs a column `value`, or `protocol`, `metadata` and `payload`.",
        )
    source, position = f.lit(name), None
    if columns >= KAFKA:
        base = name if name.startswith("kafka://") else "kafka:/"
        source, position = f.concat_ws("/", f.lit(base), "topic", f.col("partition").cast("string")), f.col("offset")
    if "source" in columns:
        source = f.col("source").cast("string")
    if "position" in columns:
        position = f.col("position").cast("long")
    places = [source.alias("source")] if position is None else [source.alias("source"), position.alias("position")]
    if record_id:
        check_key(record_id, {field.name: field.dataType.simpleString() for field in frame.schema.fields})
        places.append(f.col(f"`{record_id}`").cast("string").alias(KEY))
    return frame.select(*places, *record_columns(columns))
