"""What sorting on Spark costs, against a bare Spark scan of the same files, and against a job written by hand.

`POSTROOM_BENCH_RECORDS` sets how many records there are (a million unless set); the rest follows from it.
"""

from __future__ import annotations

import functools
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench import stream
from bench.by_hand import delta_session, seconds_by_hand
from bench.measure import Ratio
from bench.processes import cpu_of_tree, peak_memory_mb, seconds_of
from postroom.catalog.catalog import Catalog
from postroom.pipeline import sort
from postroom.pipeline.lake.lake import create_lake, open_lake
from postroom.pipeline.sources.source import open_source
from postroom.pipeline.spark.session import spark_session
from postroom.pipeline.worker.table_layout import RECORDS as RECORDS_KEPT
from postroom.settings import Settings

RECORDS = int(os.environ.get("POSTROOM_BENCH_RECORDS", "1000000"))
ROUNDS = 3
FEW, MANY = 200, 2000
SOME = 10
AVRO = "Avro/1.11"


def measure() -> Iterator[Ratio]:
    """All measurements of the pipeline, in one Spark session."""
    with tempfile.TemporaryDirectory(prefix="postroom-bench-") as folder:
        place = Path(folder)
        with spark_session("local[2]") as spark:
            yield from Pipeline(spark, place).measure()
        yield from against_by_hand(place)


class Pipeline:
    """Measures with one Spark session, all of whose processes count."""

    def __init__(self, spark: Any, place: Path) -> None:
        self.spark = spark
        self.place = place
        self.lakes = 0

    def measure(self) -> Iterator[Ratio]:
        few, many = stream.catalog_of(FEW), stream.catalog_of(MANY)
        lines = stream.write_lines(self.place / "lines", RECORDS, FEW)
        scan = self._warm(lambda: self._scan(lines))
        matched = self._warm(lambda: self._match(lines, few))
        yield Ratio(f"match and validate, {FEW} definitions / scan", matched / scan, 3.5)
        landed = self._warm(lambda: self._land(lines, few))
        yield Ratio(f"land in {FEW} tables / scan", landed / scan, 5.0)
        kept = Catalog(few.tree, settings=Settings(keep_records=True))
        yield Ratio("land with kept records / scan", self._warm(lambda: self._land(lines, kept)) / scan, 3.6)
        yield Ratio("memory of a Python worker, in GB", peak_memory_mb() / 1024)
        shutil.rmtree(lines)

        lines = stream.write_lines(self.place / "many", RECORDS, MANY)
        yield Ratio(f"match and validate, {MANY} / {FEW}", self._warm(lambda: self._match(lines, many)) / matched, 1.4)
        yield Ratio(f"land, {MANY} / {FEW} tables", self._warm(lambda: self._land(lines, many)) / landed, 2.5)
        shutil.rmtree(lines)

        lines = stream.write_lines(self.place / "large", RECORDS // 5, FEW, stream.LARGE)
        scan = self._warm(lambda: self._scan(lines))
        yield Ratio(
            "match and validate payloads of 1.7 KB / scan", self._warm(lambda: self._match(lines, few)) / scan, 3.2
        )
        shutil.rmtree(lines)

        avro = stream.catalog_of(FEW, AVRO)
        lines = stream.write_avro_lines(self.place / "avro", RECORDS, FEW)
        scan = self._warm(lambda: self._scan(lines))
        yield Ratio("match and validate Avro payloads / scan", self._warm(lambda: self._match(lines, avro)) / scan)
        yield Ratio("land Avro payloads / scan", self._warm(lambda: self._land(lines, avro)) / scan, 5.0)
        shutil.rmtree(lines)

        yield from self._records(few, "application/json", msgspec.json.encode, "binary records from Parquet", 3.0)
        yield from self._records(avro, "application/avro", stream.avro_encoder(), "Avro payloads from Parquet", None)
        yield self._versions(avro)
        yield from self._first_result(few)

    def _records(
        self, catalog: Catalog, contenttype: str, encode: Callable[[Any], bytes], name: str, goal: float | None
    ) -> Iterator[Ratio]:
        records = stream.write_records(self.place / "records", RECORDS, FEW, encode, contenttype)
        scan = self._warm(lambda: self._scan_records(records))
        yield Ratio(f"match and validate {name} / scan", self._warm(lambda: self._match(records, catalog)) / scan, goal)
        yield Ratio(f"land {name} / scan", self._warm(lambda: self._land(records, catalog)) / scan, 5.0)
        shutil.rmtree(records)

    def _versions(self, avro: Catalog) -> Ratio:
        """Payloads of two versions in turns behind ids, against the same of one without."""
        seconds = []
        for name, encode, catalog in (
            ("framed", stream.framed_encoder(), stream.catalog_of_versions(FEW)),
            ("plain", stream.avro_encoder(), avro),
        ):
            records = stream.write_records(self.place / name, RECORDS, FEW, encode, "application/avro")
            seconds.append(self._warm(functools.partial(self._land, records, catalog)))
            shutil.rmtree(records)
        return Ratio("land Avro behind ids of two versions in turns / without ids", seconds[0] / seconds[1], 1.25)

    def _first_result(self, catalog: Catalog) -> Iterator[Ratio]:
        lines = stream.write_lines(self.place / "first", 1000, FEW)
        yield Ratio(
            "seconds until 1,000 records have landed, Spark running", seconds_of(lambda: self._land(lines, catalog))
        )

    def _warm(self, work: Callable[[], object]) -> float:
        work()
        return statistics.median(cpu_of_tree(work) for _ in range(ROUNDS))

    def _scan(self, lines: Path) -> None:
        from pyspark.sql import functions as f

        self.spark.read.text(str(lines)).select(f.sum(f.length("value"))).collect()

    def _scan_records(self, records: Path) -> None:
        from pyspark.sql import functions as f

        # Summing up the headers' own lengths takes an interpreted function, which costs more than all the rest.
        size = f.expr("length(topic) + length(key) + length(value) + size(headers)")
        self.spark.read.parquet(str(records)).select(f.sum(size)).collect()

    def _match(self, records: Path, catalog: Catalog) -> None:
        from bench.counting import count_outcomes

        lake = create_lake(self.place / "catalogs")
        frame = open_source(str(records)).records(self.spark)
        _check(*count_outcomes(frame, str(lake.root), lake.keep_catalog(catalog.compiled)))

    def _land(self, records: Path, catalog: Catalog) -> None:
        shutil.rmtree(self.place / "lake", ignore_errors=True)
        entry = sort(self.spark, str(records), catalog, self.place / "lake")
        _check(sum(entry.landed.values()), sum(entry.dead.values()))
        if catalog.settings.keep_records != open_lake(self.place / "lake").has(RECORDS_KEPT):
            sys.exit("bench: records were not kept as the catalog's settings say")


def _check(landed: int, others: int) -> None:
    """A measurement of something else is worse than none."""
    if abs(others / (landed + others) - stream.WRONG) > 0.001:
        sys.exit(f"bench: {others} of {landed + others} messages did not land")


def against_by_hand(place: Path) -> Iterator[Ratio]:
    """The same records landed by a job as Spark users write it, and by ours; by the clock, in sessions of their own."""
    lines = stream.write_lines(place / "by-hand", RECORDS, FEW)
    catalog = stream.catalog_of(FEW)
    with spark_session("local[2]") as spark:
        sort(spark, str(lines), catalog, place / "ours-warm")
        ours = seconds_of(lambda: sort(spark, str(lines), catalog, place / "ours"))
    with delta_session() as spark:
        by_hand = seconds_by_hand(spark, lines, place / "theirs", FEW, SOME)
    yield Ratio(f"by hand, {SOME} of {FEW} tables counted up / land in {FEW} tables, by the clock", by_hand / ours)
    yield Ratio(f"land in {FEW} tables / by hand with delta-spark, by the clock", ours / by_hand, 1 / 15)
