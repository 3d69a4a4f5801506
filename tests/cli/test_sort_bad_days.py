"""`postroom sort` on bad days: a disk that fills up, Ctrl-C, a folder that is followed."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from postroom.pipeline.lake.lake import Lake, open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import balance_of, differences
from tests.brokers import free_port

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROOM = 400_000
CATALOG = {
    "messagegroups": {
        "plant": {
            "messages": {
                kind: {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": kind}}}
                for kind in ("plant.small", "plant.large")
            }
        }
    }
}


def event(number: int, kind: str, size: int) -> bytes:
    noise = random.Random(number).randbytes(size).hex()
    return msgspec.json.encode(
        {"specversion": "1.0", "id": f"e{number}", "source": "/plant", "type": kind, "data": {"noise": noise}}
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "plant.json").write_bytes(msgspec.json.encode(CATALOG))
    (tmp_path / "inbox").mkdir()
    return tmp_path


def put(place: Path, name: str, events: Iterator[bytes] | list[bytes]) -> None:
    partial = place / name
    partial.write_bytes(b"\n".join(events) + b"\n")
    partial.rename(place / "inbox" / name)


def start(place: Path, *more: str, limit: Callable[[], Any] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "postroom", "sort", "--catalog", "plant.json", "--source", "inbox"]
    return subprocess.Popen(
        [*command, "--lake", "lake", "--master", "local[2]", *more],
        cwd=place,
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,  # noqa: PLW1509 - the one that is started has no threads yet
    )


def balance(lake: Lake) -> str:
    return str(balance_of(read_ledger(lake)))


def test_a_full_disk_is_one_sentence_and_nothing_is_half_there(place: Path) -> None:
    put(place, "a.jsonl", [event(number, "plant.small", 40) for number in range(50)])
    put(place, "b.jsonl", [event(number, "plant.large", 4000) for number in range(50, 200)])
    arguments = ("--checkpoint", "checkpoint")

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))

    full = start(place, *arguments, limit=little_room)
    _, errors = full.communicate(timeout=300)
    assert full.returncode == 3, errors
    assert "no room left" in errors
    assert errors.count("\n") == 1
    lake = open_lake(place / "lake")
    assert list(lake.root.rglob("*.parquet")) == []

    again = start(place, *arguments)
    output, errors = again.communicate(timeout=300)
    assert (again.returncode, output.splitlines()[-1]) == (0, "read 200 = landed 200 + dead 0"), errors
    assert balance(lake) == "read 200 = landed 200 + dead 0"


def test_a_folder_is_followed_until_ctrl_c(place: Path) -> None:
    put(place, "a.jsonl", [event(number, "plant.small", 40) for number in range(30)])
    port = free_port()
    follower = start(place, "--follow", "--every", "0.5", "--metrics-port", str(port))
    metrics = f"http://127.0.0.1:{port}/metrics"
    try:
        wait_for(lambda: read_by(place) == 30, follower)
        put(place, "b.jsonl", [*(event(number, "plant.large", 40) for number in range(20)), b"{}"])
        wait_for(lambda: read_by(place) == 51, follower)
        # A batch is counted when it has landed, and what waits when Spark says how the batch went.
        wanted = ('messages_dead_total{outcome="malformed"} 1\n', 'postroom_sort_lag_files{part="inbox"} 0\n')
        wait_for(lambda: all(line in httpx.get(metrics).text for line in wanted), follower)
        told = httpx.get(metrics).text
        follower.send_signal(signal.SIGINT)
        output, errors = follower.communicate(timeout=120)
    finally:
        follower.kill()
    assert (follower.returncode, output.splitlines()[-1]) == (0, "read 51 = landed 50 + dead 1"), errors
    where, *lines = errors.splitlines()
    assert where == f"metrics are at {metrics}"
    batches = [msgspec.json.decode(line) for line in lines if line.startswith("{")]
    assert [(batch["level"], batch["batch"], batch["read"]) for batch in batches] == [("info", 0, 30), ("info", 1, 21)]
    entries = read_ledger(open_lake(place / "lake"))
    assert [(entry.files, entry.bytes) for entry in entries] == [(batch["files"], batch["bytes"]) for batch in batches]
    on_disk = sum(
        path.stat().st_size for path in (place / "lake").rglob("part-*.parquet") if "_ledger" not in str(path)
    )
    assert sum(entry.bytes for entry in entries) == on_disk
    assert f"postroom_sort_bytes_written_total {on_disk}" in told
    assert f'postroom_sort_messages_read_total{{source="{place}/inbox"}} 51' in told


def test_a_port_for_metrics_needs_follow_and_has_to_be_one(place: Path) -> None:
    put(place, "a.jsonl", [])
    for more, sentence in (
        (("--metrics-port", "9"), "only --follow"),
        (("--tidy-every", "1"), "only --follow"),
        (("--metrics-port", "x", "--follow"), "no port"),
    ):
        refused = start(place, *more)
        _, errors = refused.communicate(timeout=60)
        assert (refused.returncode, errors.count("\n"), sentence in errors) == (2, 1, True), errors


def test_two_sorts_on_one_checkpoint_are_one_too_many_and_on_two_they_work(place: Path) -> None:
    put(place, "a.jsonl", [event(number, "plant.small", 40) for number in range(30)])
    first = start(place, "--follow", "--every", "0.5", "--quiet")
    try:
        wait_for(lambda: read_by(place) == 30, first)
        [checkpoint] = (place / "lake" / "_checkpoints").iterdir()
        second = start(place, "--checkpoint", str(checkpoint))
        output, errors = second.communicate(timeout=300)
        sentence = f"postroom: {checkpoint}: another process is using this checkpoint."
        assert (second.returncode, output, errors.splitlines()) == (2, "", [sentence])
        other = start(place, "--checkpoint", "other")
        put(place, "b.jsonl", [event(number, "plant.large", 40) for number in range(20)])
        output, errors = other.communicate(timeout=300)
        assert (other.returncode, errors) == (0, "")
        wait_for(lambda: read_by(place) >= 80, first)
        first.send_signal(signal.SIGINT)
        _, errors = first.communicate(timeout=120)
    finally:
        first.kill()
    assert (first.returncode, errors) == (0, "")
    lake = open_lake(place / "lake")
    runs = {entry.run: 0 for entry in read_ledger(lake)}
    for entry in read_ledger(lake):
        runs[entry.run] += entry.read
    # The second to come may have seen the later file or not; the first one sees it in any case.
    assert max(runs.values()) == 50
    assert min(runs.values()) in (30, 50)
    assert list(differences(lake)) == []


def test_java_that_is_killed_is_one_sentence(place: Path) -> None:
    put(place, "a.jsonl", [event(number, "plant.small", 40) for number in range(30)])
    follower = start(place, "--follow", "--every", "0.2", "--quiet")
    try:
        wait_for(lambda: read_by(place) == 30, follower)
        children = Path(f"/proc/{follower.pid}/task/{follower.pid}/children").read_text().split()
        (java,) = [child for child in children if Path(f"/proc/{child}/comm").read_text().strip() == "java"]
        os.kill(int(java), signal.SIGKILL)
        _, errors = follower.communicate(timeout=120)
    finally:
        follower.kill()
    sentence = "postroom: Spark's Java process ended. Run it again; with a checkpoint it goes on where it was."
    assert (follower.returncode, errors.splitlines()) == (3, [sentence])


def read_by(place: Path) -> int:
    try:
        return balance_of(read_ledger(open_lake(place / "lake"))).read
    except Exception:  # noqa: BLE001 - the lake is being made
        return 0


def wait_for(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 240
    while not holds():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.3)
