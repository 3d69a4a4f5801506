"""`kill -9` at random moments: every record is in one table or among the dead letters, once.

The short form runs with all tests, the long one with `make long`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake, open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.python_api import sort
from tests.object_stores import S3Server
from tests.processes import command_of, descendants, is_running

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

CRASHES = int(os.environ.get("CRASHES", "3"))
RECORDS = int(os.environ.get("CRASH_RECORDS", "12000"))
PAUSE = float(os.environ.get("CRASH_PAUSE", "6"))
SEED = int(os.environ.get("CRASH_SEED", "7"))
TABLES, BATCHES = 200, 20
DEAD = 23  # one in so many is wrong; no divisor of the number of tables, or some would stay empty

# Runs `postroom sort` with small batches and says when the stream begins.
DRIVER = """
import sys
from pathlib import Path
import postroom.pipeline.sources.files as file_source
import postroom.pipeline.python_api as sorting

ready, size = Path(sys.argv[1]), int(sys.argv[2])
file_source.BYTES_OF_BATCH = size
real = sorting.run_stream

def run_stream(*arguments, **options):
    ready.touch()
    return real(*arguments, **options)

sorting.run_stream = run_stream
from postroom.cli.main import run
run(sys.argv[3:])
"""


def plant_catalog(tables: int) -> dict[str, Any]:
    schema = {"type": "object", "required": ["value"], "properties": {"value": {"type": "integer"}}}
    messages = {
        f"reading.{number}": {
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {"type": {"value": f"plant.reading.{number}"}},
            "dataschemaformat": "JsonSchema/draft-07",
            "dataschema": schema,
        }
        for number in range(tables)
    }
    return {"messagegroups": {"plant": {"messages": messages}}}


def plant_events(count: int, tables: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        value = "warm" if number % DEAD == 0 else number
        kind, padding = f"plant.reading.{number % tables}", "x" * 120
        yield {
            "specversion": "1.0",
            "id": f"e{number}",
            "type": kind,
            "source": "/plants/oslo",
            "data": {"value": value, "note": padding},
        }


class Target(NamedTuple):
    """Where the lake and the checkpoint are, how to get there, and how many tables and batches there are."""

    lake: str = "lake"
    checkpoint: str = "checkpoint"
    options: Mapping[str, str] = {}
    tables: int = TABLES
    batches: int = BATCHES
    crashes: int = CRASHES


FOLDER = Target()


class Run:
    """A sort in a process of its own, and its children."""

    def __init__(self, folder: Path, size: int, *more: str, target: Target = FOLDER) -> None:
        self.ready = folder / "ready"
        self.ready.unlink(missing_ok=True)
        options = ["--catalog", "catalog.json", "--source", "in", "--lake", target.lake, "--master", "local[2]", *more]
        command = [sys.executable, "-c", DRIVER, str(self.ready), str(size), "sort", *options]
        with (folder / "said").open("ab") as said:
            environment = os.environ | {name.upper(): value for name, value in target.options.items()}
            self.process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, env=environment)

    def until_ready(self) -> None:
        while not self.ready.exists() and self.process.poll() is None:
            time.sleep(0.05)

    def kill_driver(self) -> None:
        self.process.kill()
        self.process.wait()

    def kill_driver_and_wait(self) -> None:
        """Until its children are gone too, which takes them a moment."""
        children = descendants(self.process.pid)
        self.kill_driver()
        while any(is_running(pid) for pid in children):
            time.sleep(0.05)

    def kill_java(self) -> bool:
        return self._kill("java")

    def kill_worker(self) -> bool:
        return self._kill("pyspark.daemon")

    def _kill(self, word: str) -> bool:
        found = [pid for pid in descendants(self.process.pid) if word in command_of(pid)]
        for pid in found[-1:]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return False
        return bool(found)


def write_inbox(folder: Path, target: Target = FOLDER) -> int:
    """The records in as many files as there are batches; says how large one is."""
    (folder / "catalog.json").write_text(json.dumps(plant_catalog(target.tables)))
    (folder / "in").mkdir()
    events = plant_events(RECORDS, target.tables)
    for part in range(target.batches):
        with (folder / "in" / f"{part:03}.jsonl").open("w") as file:
            for _ in range(RECORDS // target.batches):
                file.write(json.dumps(next(events)) + "\n")
    return (folder / "in" / "000.jsonl").stat().st_size


def crash(folder: Path, size: int, rng: random.Random, target: Target) -> Counter[str]:
    """Kill what is running again and again; counts what was killed."""
    killed: Counter[str] = Counter()

    def start() -> Run:
        return Run(folder, size, "--checkpoint", target.checkpoint, target=target)

    run = start()
    while sum(killed.values()) < target.crashes:
        run.until_ready()
        time.sleep(rng.uniform(0, PAUSE))
        if run.process.poll() is not None:
            if run.process.returncode == 0:
                break  # all is sorted: there is nothing left to disturb
            run = start()
            continue
        victim = ("driver", "worker", "java")[sum(killed.values()) % 3]
        if victim == "driver":
            run.kill_driver()
            killed[victim] += 1
            run = start()
        elif run.kill_worker() if victim == "worker" else run.kill_java():
            killed[victim] += 1
    run.process.wait(1200)
    assert start().process.wait(1200) == 0, (folder / "said").read_text()[-2000:]
    return killed


def ids(lake: Lake) -> Counter[str]:
    found: Counter[str] = Counter()
    for place in lake.tables():
        found.update(lake.table(place.folder).to_pyarrow_table(columns=["ce_id"]).column("ce_id").to_pylist())
    letters = lake.table(DEAD_LETTERS).to_pyarrow_table(columns=["record"]).column("record").to_pylist()
    found.update(json.loads(letter)["id"] for letter in letters)
    return found


@pytest.fixture(params=["folder", "s3"])
def target(request: pytest.FixtureRequest) -> Target:
    """A lake in a folder, and one in an object store, which takes its time for every table."""
    if request.param == "folder":
        return FOLDER
    s3: S3Server = request.getfixturevalue("s3")
    bucket = s3.bucket()
    crashes = CRASHES if "CRASHES" in os.environ else 1
    batches = 4 if crashes < 10 else 40
    return Target(f"s3://{bucket}/lake", f"s3://{bucket}/checkpoint", s3.options, 20, batches, crashes)


def test_every_record_is_there_once_whatever_was_killed(fleet: Any, tmp_path: Path, target: Target) -> None:
    size = write_inbox(tmp_path, target)
    began = time.monotonic()
    killed = crash(tmp_path, size, random.Random(SEED), target)
    lake = open_lake(target.lake if target.options else tmp_path / "lake", target.options)
    entries = read_ledger(lake)
    print(
        f"\n{RECORDS:,} records, {target.tables} tables, {len(entries)} batches, killed {dict(killed)},"
        f" {time.monotonic() - began:.0f} s"
    )
    assert sum(killed.values()) >= min(target.crashes, 1)
    assert sum(entry.read for entry in entries) == RECORDS
    assert sum(sum(entry.dead.values()) for entry in entries) == len(range(0, RECORDS, DEAD))
    assert len(list(lake.tables())) == target.tables
    found = ids(lake)
    assert len(found) == RECORDS
    assert set(found.values()) == {1}
    assert list(differences(lake)) == []
    assert unfinished(lake) == []
    assert fleet.unknown_files(lake) == set()


def test_a_run_without_a_checkpoint_that_was_killed_costs_no_disk(spark: Any, fleet: Any, tmp_path: Path) -> None:
    size = write_inbox(tmp_path)
    run = Run(tmp_path, size)
    while not list((tmp_path / "lake" / "plant").glob("*/part-*.parquet")):
        assert run.process.poll() is None, (tmp_path / "said").read_text()
        time.sleep(0.01)
    run.kill_driver_and_wait()
    lake = open_lake(tmp_path / "lake")
    left = fleet.unknown_files(lake)
    sort(spark, tmp_path / "in" / "000.jsonl", tmp_path / "catalog.json", lake.root)
    assert len(list(lake.tables())) == TABLES
    assert fleet.unknown_files(lake) == set()
    # The driver may have died during the commit as well: then the next run finished that.
    assert left or len(read_ledger(lake)) == 2
