"""What a lake in an object store costs: the time that a sort takes longer than into a folder, against bare puts.

The server is one of the tests', on loopback. The bare puts are of the same objects, as many at once as a sort has.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench import stream
from bench.measure import Ratio
from postroom.pipeline import sort
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.spark.session import spark_session
from postroom.pipeline.storage.object_store import ObjectStorage
from postroom.pipeline.worker.parquet_writer import UPLOADS
from tests.object_stores import s3_server

RECORDS = int(os.environ.get("POSTROOM_BENCH_RECORDS", "1000000"))
TABLES = int(os.environ.get("POSTROOM_BENCH_TABLES", "200"))
CORES = 2
ROUNDS = 3


def measure() -> Iterator[Ratio]:
    """The wall time of a sort into a store, less that into a folder, against the bare puts."""
    with (
        tempfile.TemporaryDirectory(prefix="postroom-bench-") as folder,
        s3_server() as server,
        spark_session(f"local[{CORES}]") as spark,
    ):
        place, bucket = Path(folder), server.bucket()
        catalog = stream.catalog_of(TABLES)
        lines = stream.write_lines(place / "lines", RECORDS, TABLES)

        def into(lake: str, options: dict[str, str]) -> Callable[[], Any]:
            return lambda: sort(spark, lines, catalog, create_lake(lake, options), storage_options=options)

        into(str(place / "warm"), {})()
        here, there, bare = [], [], []
        for _ in range(ROUNDS):
            name = uuid4().hex
            here.append(_seconds(into(str(place / name), {})))
            there.append(_seconds(into(f"s3://{bucket}/{name}", server.options)))
            bare.append(_bare_puts(f"s3://{bucket}/{name}", f"s3://{bucket}/bare-{name}", server.options))
        extra = statistics.median(there) - statistics.median(here)
        yield Ratio("sort into S3 less into a folder / bare puts", extra / statistics.median(bare), 1.5)


def _bare_puts(source: str, target: str, options: dict[str, str]) -> float:
    """The time that it takes to put all objects of a lake elsewhere."""
    lake, copy = create_lake(source, options).storage, create_lake(target, options).storage
    if not isinstance(lake, ObjectStorage):
        raise TypeError(source)
    contents = [lake.read(file.path) for file in lake.everything("")]

    def put(content: bytes) -> None:
        copy.write(uuid4().hex, content)

    def put_all() -> None:
        with ThreadPoolExecutor(CORES * UPLOADS) as pool:
            list(pool.map(put, contents))

    return _seconds(put_all)


def _seconds(work: Callable[[], Any]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
