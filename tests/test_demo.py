"""The demonstration: run for real, and its traffic checked without Spark."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx
import pytest

from demo.traffic import MIX, Traffic
from postroom.catalog.catalog import Catalog

ROOT = Path(__file__).parent.parent


def test_the_traffic_is_what_it_says_it_is(demo_catalog: Catalog) -> None:
    traffic = Traffic(demo_catalog)
    found: Counter[tuple[str, str]] = Counter()
    for parcel in traffic.parcels(2000):
        (result,) = demo_catalog.engine.sort_exactly(parcel.line.encode())
        found[result.match.outcome, result.match.message or ""] += 1
    assert found == traffic.expected
    assert {xid.rpartition("/")[2] for _, xid in found if xid} == set(MIX)
    wrong = sum(count for (outcome, _), count in found.items() if outcome != "landed")
    assert 60 < wrong < 140


def test_the_same_seed_makes_the_same_traffic(demo_catalog: Catalog) -> None:
    first, second = ([p.outcome for p in Traffic(demo_catalog, seed=3).parcels(200)] for _ in range(2))
    assert first == second


@pytest.mark.xdist_group("spark")
def test_the_demonstration_ends_with_balanced_books_and_can_be_repeated(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "demo", "--count", "300", "--folder", str(tmp_path)]
    for _ in range(2):
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
        assert run.returncode == 0, run.stdout + run.stderr
        assert "The books balance: read 300 = landed" in run.stdout
    tables = [sys.executable, "-m", "postroom", "tables", "--json", "--lake", str(tmp_path / "demo-lake")]
    listed = json.loads(subprocess.run(tables, capture_output=True, check=True, cwd=ROOT).stdout)
    assert len(listed) >= 9


@pytest.mark.xdist_group("spark")
def test_the_demonstration_keeps_its_pages_open_until_it_is_interrupted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "demo", "--count", "100", "--folder", str(tmp_path), "--ui"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        line = next((line for line in run.stdout if "until you press Ctrl-C" in line), "")
        address = line.rpartition(" ")[2].strip()
        assert "100 read" in " ".join(httpx.get(f"{address}-/lake").text.replace("<strong>100</strong>", "100").split())
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 0
