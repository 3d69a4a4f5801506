"""A real cluster: a master and two workers that have a bare Python and other folders. `make long` runs longer forms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from demo.traffic import Traffic
from postroom.catalog.catalog import open_catalog
from postroom.pipeline.lake.lake import DEAD_LETTERS, LEDGER, Lake, open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.spark.engine_archive import cached_archive
from postroom.pipeline.storage.folder import FolderStorage
from postroom.version import VERSION
from tests.conftest import DEMO_CATALOG
from tests.pipeline.spark.standalone import TIMEOUT_S, Cluster, running_cluster, spark_submit, submitting

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RECORDS = int(os.environ.get("CLUSTER_RECORDS", "3000"))
KILLS = int(os.environ.get("CLUSTER_KILLS", "1"))
FILES = 12

# Runs a command with batches of one file, each in several tasks.
COMMAND = """
import sys
import postroom.pipeline.sources.file_ranges as file_ranges
import postroom.pipeline.sources.files as files

files.BYTES_OF_BATCH = 1
file_ranges.SMALLEST_RANGE = 40_000
from postroom.cli.main import run
run()
"""

# A task that is slower than another one is begun a second time elsewhere; who ends first counts.
OPTIONS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "1ms",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
CONF = [word for name, value in OPTIONS.items() for word in ("--conf", f"{name}={value}")]

# Sorts with workers as settings say, one after the other in one session, and then with a master that has none.
TRIES = """
import json, sys, tempfile
from pathlib import Path
from postroom.catalog.catalog import open_catalog
from postroom.errors import PostroomError
from postroom.pipeline import sort
from postroom.pipeline.spark.session import spark_session
from postroom.settings import Settings

master, lonely, tries, records, catalog, lake = sys.argv[1:]

def attempt(spark, frame, settings):
    try:
        opened = open_catalog(catalog, settings=Settings(**settings))
        print(json.dumps(sort(spark, frame, opened, lake).read), flush=True)
    except PostroomError as error:
        print(json.dumps([type(error).__name__, str(error)]), flush=True)

# Each task has a Python of its own, as in an application that has only one engine.
options = {"spark.executor.memory": "512m", "spark.python.worker.reuse": "false", "spark.task.maxFailures": "1"}
with spark_session(master, configuration=options) as spark:
    print(json.dumps(spark.sparkContext.getConf().get("spark.driver.host")), flush=True)
    frame = spark.read.text(records)
    for each in json.loads(tries):
        attempt(spark, frame, each)
with spark_session(lonely) as spark:
    attempt(spark, spark.read.text(records), {"shared_paths": ["/"], "worker_wait_s": 1.0})
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture
def traffic(tmp_path: Path) -> Traffic:
    """The demo's traffic in files of a folder."""
    made = Traffic(open_catalog(str(DEMO_CATALOG)))
    lines = [parcel.line for parcel in made.parcels(RECORDS)]
    (tmp_path / "inbox").mkdir()
    for number in range(FILES):
        (tmp_path / "inbox" / f"{number:02}.jsonl").write_text("".join(f"{line}\n" for line in lines[number::FILES]))
    return made


def arguments(folder: Path, *more: str) -> list[str]:
    words = ["sort", "--catalog", DEMO_CATALOG, "--source", folder / "inbox", "--lake", folder / "lake", *more]
    return [*map(str, words), "--shared-paths", str(folder), "--checkpoint", str(folder / "checkpoint")]


def run_command(cluster: Cluster, folder: Path) -> subprocess.Popen[bytes]:
    """`postroom sort` as somebody types it; the master is somebody else's."""
    command = [sys.executable, "-c", COMMAND, *arguments(folder, "--master", cluster.url, *CONF)]
    with (folder / "said").open("ab") as said:
        return subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)


def submit_command(cluster: Cluster, folder: Path) -> subprocess.Popen[bytes]:
    """The same by spark-submit, whose master it is."""
    (folder / "job.py").write_text(COMMAND)
    submit = spark_submit("--master", cluster.url, "--conf", "spark.driver.host=127.0.0.1", *CONF)
    with (folder / "said").open("ab") as said:
        return subprocess.Popen(
            [*submit, str(folder / "job.py"), *arguments(folder)],
            cwd=folder,
            env=submitting(),
            stdout=said,
            stderr=said,
        )


def until_batches(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the ledger has so many batches, as long as somebody makes them."""
    deadline = time.monotonic() + TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        lake = Lake(FolderStorage(folder / "lake"))
        if lake.has(LEDGER) and len(read_ledger(lake)) >= count:
            return
        time.sleep(0.05)
    raise AssertionError((folder / "said").read_text())


def record_ids(lake: Lake) -> Counter[tuple[str, int | None]]:
    """How often each message is in the lake: ids of records, and of the messages of a batch their numbers."""
    found: Counter[tuple[str, int | None]] = Counter()
    for folder in [*(table.folder for table in lake.tables()), DEAD_LETTERS]:
        rows = DeltaTable(lake.path(folder)).to_pyarrow_table(columns=["_record_id"])
        found.update((row, None) for row in rows.column("_record_id").to_pylist())
    return found


def expected_numbers(traffic: Traffic) -> tuple[dict[str, int], dict[str, int]]:
    landed = {xid: count for (outcome, xid), count in traffic.expected.items() if outcome == "landed"}
    dead: Counter[str] = Counter()
    for (outcome, _), count in traffic.expected.items():
        if outcome != "landed":
            dead[outcome] += count
    return landed, dict(dead)


def added(counts: Iterator[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)


def test_what_two_workers_sort_lands_once_though_one_of_them_and_the_driver_are_killed(
    cluster: Cluster, traffic: Traffic, tmp_path: Path
) -> None:
    for kill in range(KILLS):
        run = run_command(cluster, tmp_path)
        until_batches(tmp_path, 1 + 3 * kill, run)
        cluster.kill(cluster.workers[-1])
        cluster.add_worker()
        until_batches(tmp_path, 3 + 3 * kill, run)
        run.kill()
        run.wait()
    again = submit_command(cluster, tmp_path)
    assert again.wait(TIMEOUT_S) == 0, (tmp_path / "said").read_text()

    lake = open_lake(tmp_path / "lake")
    entries, (landed, dead) = read_ledger(lake), expected_numbers(traffic)
    assert added(entry.landed for entry in entries) == landed
    assert added(entry.dead for entry in entries) == dead
    assert len(entries) == FILES
    found = record_ids(lake)
    assert len(found) == found.total() == RECORDS
    assert list(differences(lake)) == []
    assert unfinished(lake) == []


def _altered(archive: Path, target: Path, version: str) -> Path:
    """An engine of another version."""
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(target, "w") as made:
        for entry in source.infolist():
            name = entry.filename
            if name.endswith("/postroom/version.py"):
                made.writestr(name, f'VERSION = "{version}"\n')
            elif not name.endswith("postroom/__pycache__/version.cpython-311.pyc"):
                made.writestr(entry, source.read(entry))
    return target


def test_workers_that_cannot_work_are_told_in_a_sentence_with_a_remedy(
    cluster: Cluster, traffic: Traffic, tmp_path: Path
) -> None:
    shared = {"shared_paths": [str(tmp_path)]}
    other = _altered(cached_archive(), tmp_path / "other.zip", "0.0.7")
    tries: list[tuple[dict[str, Any], Any]] = [
        ({}, ["BadFlag", "cannot be seen by the workers of a cluster"]),
        (shared | {"engine": "installed"}, ["WorkersUnfit", "cannot load Postroom (No module named 'postroom')"]),
        (shared | {"worker_python": "/opt/python9"}, ["WorkersUnfit", "no Python called /opt/python9"]),
        (shared | {"engine": str(other)}, ["WorkersUnfit", f"has Postroom 0.0.7 and the driver {VERSION}."]),
        (shared, RECORDS // FILES),
    ]
    words = [json.dumps([settings for settings, _ in tries]), str(tmp_path / "inbox" / "00.jsonl")]
    places = [str(DEMO_CATALOG), str(tmp_path / "lake")]
    (tmp_path / "lonely").mkdir()
    with running_cluster(tmp_path / "lonely", workers=0) as lonely:
        ran = subprocess.run(
            [sys.executable, "-c", TRIES, cluster.url, lonely.url, *words, *places],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    tries.append(({"worker_wait_s": 1}, ["WorkersUnfit", "no worker began within 1 s."]))
    driver_host, *answers = map(json.loads, ran.stdout.splitlines())
    assert driver_host == "127.0.0.1"
    assert len(answers) == len(tries), ran.stderr
    for answer, (settings, expected) in zip(answers, tries, strict=True):
        if isinstance(expected, int):
            assert answer == expected, settings
        else:
            assert answer[0] == expected[0], answer
            assert expected[1] in answer[1]
    assert "Traceback" not in ran.stderr
