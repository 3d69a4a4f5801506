"""The job that a good Spark user writes by hand, as the measure of ours.

The input is cached once; each type has its schema for `from_json`, and one filtered append into its Delta table.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from bench import stream
from postroom.pipeline.spark import spark_session

DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"
_SETTINGS = {
    "spark.jars.packages": DELTA,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_DATA = "sensor string, value double, count bigint, unit string, ok boolean, note string"
_EVENT = f"specversion string, id string, type string, source string, time timestamp, data struct<{_DATA}>"


def delta_session() -> AbstractContextManager[Any]:
    """A Spark session with Delta's own library."""
    return spark_session("local[2]", configuration=_SETTINGS)


def land_by_hand(spark: Any, lines: Path, lake: Path, definitions: int) -> None:
    """Land all types, and the rest as dead letters."""
    from pyspark.sql import functions as f

    events = spark.read.text(str(lines)).select("value", f.get_json_object("value", "$.type").alias("type")).cache()
    events.count()
    known = [stream.type_of(number) for number in range(definitions)]
    for kind in known:
        parsed = events.where(f.col("type") == kind).select(f.from_json("value", _EVENT).alias("event"), "value")
        good = parsed.where(
            "event.data.sensor is not null and event.data.value is not null and event.time is not null"
            " and event.source rlike '^/plants/[^/?#]+/machines/[^/?#]+$'"
        )
        good.select("event.*").write.format("delta").mode("append").save(str(lake / kind))
    rest = events.where(~f.col("type").isin(known) | f.col("type").isNull())
    rest.select("value").write.format("delta").mode("append").save(str(lake / "rest"))
    events.unpersist()
