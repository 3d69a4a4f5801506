"""The job that a good Spark user writes by hand, as the measure of ours.

The input is cached once, in memory that holds all of it; each type has its schema for `from_json`, and one filtered
append into its Delta table. That takes half an hour for a million records: the clock is read for some of the tables,
which are all alike, and counted up.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from bench import stream
from bench.processes import seconds_of
from postroom.pipeline.spark.session import spark_session

DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"
_SETTINGS = {
    "spark.driver.memory": "6g",
    "spark.jars.packages": DELTA,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_DATA = "sensor string, value double, count bigint, unit string, ok boolean, note string"
_EVENT = f"specversion string, id string, type string, source string, time timestamp, data struct<{_DATA}>"


def delta_session() -> AbstractContextManager[Any]:
    """A Spark session with Delta's own library."""
    return spark_session("local[2]", configuration=_SETTINGS)


def seconds_by_hand(spark: Any, lines: Path, lake: Path, definitions: int, tables: int) -> float:
    """Seconds to land all types, by the appends to so many tables of theirs."""
    from pyspark.sql import functions as f

    events = spark.read.text(str(lines)).select("value", f.get_json_object("value", "$.type").alias("type")).cache()
    cached = seconds_of(events.count)
    _land(events, 0, lake)  # whatever is done once is done
    some = sum(seconds_of(partial(_land, events, number, lake)) for number in range(1, tables + 1))
    events.unpersist()
    return cached + some / tables * definitions


def _land(events: Any, number: int, lake: Path) -> None:
    from pyspark.sql import functions as f

    kind = stream.type_of(number)
    parsed = events.where(f.col("type") == kind).select(f.from_json("value", _EVENT).alias("event"), "value")
    good = parsed.where(
        "event.data.sensor is not null and event.data.value is not null and event.time is not null"
        " and event.source rlike '^/plants/[^/?#]+/machines/[^/?#]+$'"
    )
    good.select("event.*").write.format("delta").mode("append").save(str(lake / kind))
