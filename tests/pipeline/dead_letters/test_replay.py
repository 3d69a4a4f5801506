from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from postroom.catalog.catalog import Catalog
from postroom.errors import BadFlag, FileMissing, LakeRefused
from postroom.pipeline.dead_letters import replay as replaying
from postroom.pipeline.dead_letters.replay import grouped, replay
from postroom.pipeline.dead_letters.report import LetterFile
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import balance_of, differences

POSITION = "/messagegroups/fleet/messages/vehicle.position"
ORDER = "/messagegroups/shop/messages/order.placed"


def rows(lake: Lake, folder: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = DeltaTable(lake.path(folder)).to_pyarrow_table().to_pylist()
    return found


def letters(lake: Lake) -> dict[str, dict[str, Any]]:
    return {row["_record_id"]: row for row in rows(lake, DEAD_LETTERS)}


@pytest.fixture
def tolerant(fleet: Any) -> Catalog:
    """The catalog of the next day: boats may report too, latitudes may be words, orders need no lines."""
    tree = fleet.catalog(lat={"type": ["number", "string"]})
    position = tree["messagegroups"]["fleet"]["messages"]["vehicle.position"]
    position["envelopemetadata"]["source"]["value"] = "/{kind}/{vin}"
    order = tree["messagegroups"]["shop"]["messages"]["order.placed"]
    order["dataschema"]["required"] = ["number"]
    return Catalog(tree)


@pytest.fixture
def boats(fleet: Any) -> Catalog:
    """Only this is new: boats may report too."""
    tree = fleet.catalog()
    tree["messagegroups"]["fleet"]["messages"]["vehicle.position"]["envelopemetadata"]["source"]["value"] = "/{a}/{vin}"
    return Catalog(tree)


def test_letters_that_fit_today_leave_the_dead_letters(sorted_lake: Lake, tolerant: Catalog) -> None:
    before = letters(sorted_lake)
    done = replay(None, tolerant, sorted_lake.root)
    assert (done.letters, done.landed, done.dead) == (5, {POSITION: 2, ORDER: 1}, {"unmatched": 1, "malformed": 1})
    after = letters(sorted_lake)
    assert sorted(row["outcome"] for row in after.values()) == ["malformed", "unmatched"]
    landed = before.keys() - after.keys()
    new = [row for place in sorted_lake.tables() for row in rows(sorted_lake, place.folder)]
    replayed = {row["_record_id"]: row for row in new if row["_batch"].startswith("replay-")}
    assert replayed.keys() == landed
    for name in landed:
        assert replayed[name]["_source"] == before[name]["_source"]
        assert replayed[name]["_position"] == before[name]["_position"]


def test_of_a_batch_only_the_letter_lands(sorted_lake: Lake, tolerant: Catalog) -> None:
    replay(None, tolerant, sorted_lake.root)
    orders = [row["ce_id"] for row in rows(sorted_lake, "shop/order.placed")]
    orders += (
        [row["ce_id"] for row in rows(sorted_lake, "shop/order.placed@2")]
        if sorted_lake.has("shop/order.placed@2")
        else []
    )
    assert sorted(orders) == ["o0", "o1", "o2", "o3", "o4", "o50", "o51"]


def test_a_second_replay_finds_nothing_to_do(sorted_lake: Lake, tolerant: Catalog) -> None:
    first = replay(None, tolerant, sorted_lake.root)
    version = DeltaTable(sorted_lake.path(DEAD_LETTERS)).version()
    again = replay(None, tolerant, sorted_lake.root)
    assert first.entry is not None
    assert (again.letters, again.landed, again.entry) == (2, {}, None)
    assert DeltaTable(sorted_lake.path(DEAD_LETTERS)).version() == version
    assert len(read_ledger(sorted_lake)) == 2


def test_the_balance_holds_over_the_whole_lake(sorted_lake: Lake, boats: Catalog, tolerant: Catalog) -> None:
    for catalog, landed in ((boats, 20), (tolerant, 22)):
        replay(None, catalog, sorted_lake.root)
        told = balance_of(read_ledger(sorted_lake))
        assert (told.read, told.landed, told.dead) == (24, landed, 24 - landed)
        assert list(differences(sorted_lake)) == []
    kinds = [(entry.kind, entry.replayed, entry.read) for entry in read_ledger(sorted_lake)]
    assert kinds == [("sort", 0, 24), ("replay", 5, 5), ("replay", 4, 4)]


def test_letters_that_stay_keep_their_record_and_get_new_reasons(sorted_lake: Lake, fleet: Any) -> None:
    tree = fleet.catalog()
    source = tree["messagegroups"]["fleet"]["messages"]["vehicle.position"]["envelopemetadata"]["source"]
    source["value"] = "/cars/{vin}"
    before = letters(sorted_lake)
    done = replay(None, Catalog(tree), sorted_lake.root)
    after = letters(sorted_lake)
    assert (done.landed, after.keys()) == ({}, before.keys())
    for name, letter in after.items():
        for column in ("record", "index", "_source", "_position", "_batch", "_dead_at"):
            assert letter[column] == before[name][column]
        assert letter["_catalog"] != before[name]["_catalog"]
        assert letter["_replayed_at"] is not None
    boat = next(letter for letter in after.values() if b"/boats/9" in letter["record"])
    assert boat["reasons"][0]["expected"] == "/cars/{vin}"


def test_where_selects(sorted_lake: Lake, tolerant: Catalog) -> None:
    done = replay(None, tolerant, sorted_lake.root, where=f"message = '{ORDER}' -- only orders")
    assert (done.letters, done.landed) == (1, {ORDER: 1})
    assert len(letters(sorted_lake)) == 4
    assert replay(None, tolerant, sorted_lake.root, where="outcome = 'ambiguous'").letters == 0
    assert list(differences(sorted_lake)) == []


@pytest.mark.parametrize(
    "where",
    [
        "colour = 'red'",
        "outcome =",
        "outcome = 'invalid'; DROP VIEW letters",
        "outcome IN (SELECT content FROM read_text('/etc/hostname'))",
        "count(*) > 1",
        ") FROM (SELECT 1",
    ],
)
def test_a_bad_condition_is_one_sentence_and_changes_nothing(sorted_lake: Lake, tolerant: Catalog, where: str) -> None:
    with pytest.raises(BadFlag) as error:
        replay(None, tolerant, sorted_lake.root, where=where)
    assert "\n" not in error.value.sentence
    assert len(letters(sorted_lake)) == 5


def test_a_dry_run_tells_and_writes_nothing(sorted_lake: Lake, tolerant: Catalog) -> None:
    before = sorted(str(path) for path in sorted_lake.root.rglob("*"))
    done = replay(None, tolerant, sorted_lake.root, dry_run=True)
    assert (done.landed, done.dead) == ({POSITION: 2, ORDER: 1}, {"unmatched": 1, "malformed": 1})
    assert sorted(str(path) for path in sorted_lake.root.rglob("*")) == before


def test_letters_of_a_record_that_was_sorted_twice_land_twice(
    fleet: Any, sorted_lake: Lake, catalog: Catalog, records: Path, tolerant: Catalog
) -> None:
    job = fleet.job(sorted_lake, catalog.compiled, run="run2")
    commit_batch(sorted_lake, job, "records", [fleet.task(job, records)])
    done = replay(None, tolerant, sorted_lake.root)
    assert (done.letters, done.landed) == (10, {POSITION: 4, ORDER: 2})
    assert list(differences(sorted_lake)) == []


def test_a_record_that_was_too_large_for_a_batch_is_taken_apart(
    fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path
) -> None:
    event = fleet.position(1, data={"lat": 1.0, "lon": 1.0, "note": "x" * 600_000})
    bad = fleet.position(2, data={"lat": "x" * 600_000})
    file = fleet.write(tmp_path / "large.jsonl", [json.dumps([event, bad, fleet.order(3)])])
    from msgspec.structs import replace

    job = replace(fleet.job(lake, catalog.compiled), max_record_mb=1)
    entry = commit_batch(lake, job, "large", [fleet.task(job, file)])
    assert entry.dead == {"malformed": 1}
    done = replay(None, catalog, lake.root)
    assert (done.letters, done.landed, done.dead) == (1, {POSITION: 1, ORDER: 1}, {"invalid": 1})
    assert list(differences(lake)) == []
    assert [row["index"] for row in rows(lake, DEAD_LETTERS)] == [1]
    assert replay(None, catalog, lake.root).entry is None


def test_what_is_no_lake_and_a_lake_without_letters(lake: Lake, catalog: Catalog, tmp_path: Path) -> None:
    assert replay(None, catalog, lake.root).letters == 0
    with pytest.raises(FileMissing):
        replay(None, catalog, tmp_path / "nowhere")


# Replays and dies without a word at a chosen moment: before the manifest, after n tables, or before the ledger.
DIE = """
import os, sys
import postroom.pipeline.lake.commit as commit, postroom.pipeline.dead_letters.replay_commit as replay
from postroom.catalog.catalog import open_catalog
from postroom.pipeline.dead_letters.replay import replay as run

lake, catalog, moment = sys.argv[1:]
real, done = commit.commit_table, []

def commit_then_die(*arguments, **named):
    if len(done) == int(moment):
        os._exit(9)
    real(*arguments, **named)
    done.append(1)

commit.PARALLEL_COMMITS = 1
commit.record_batch = lambda *_, **__: os._exit(9)
if moment == "manifest":
    replay.put_manifest = lambda *_: os._exit(9)
else:
    commit.commit_table = commit_then_die
run(None, open_catalog(catalog), lake)
"""


@pytest.fixture
def tolerant_file(tolerant: Catalog, tmp_path: Path) -> Path:
    path = tmp_path / "tolerant.json"
    path.write_text(json.dumps(tolerant.tree))
    return path


@pytest.mark.parametrize("moment", ["manifest", "0", "1", "2", "3", "9"])
def test_a_replay_that_died_is_finished_exactly_once(
    sorted_lake: Lake, tolerant: Catalog, tolerant_file: Path, moment: str
) -> None:
    command = [sys.executable, "-c", DIE, str(sorted_lake.root), str(tolerant_file), moment]
    assert subprocess.run(command, check=False).returncode == 9
    assert len(unfinished(sorted_lake)) == (0 if moment == "manifest" else 1)
    replay(None, tolerant, sorted_lake.root)
    assert unfinished(sorted_lake) == []
    assert str(balance_of(read_ledger(sorted_lake))) == "read 24 = landed 22 + dead 2"
    assert list(differences(sorted_lake)) == []


def _replay_in_a_process(lake: str, catalog: str, gate: Any) -> None:
    from postroom.catalog.catalog import open_catalog

    opened = open_catalog(catalog)
    gate.wait()
    replay(None, opened, lake)


def test_replays_at_the_same_time_land_each_letter_once(
    fleet: Any, lake: Lake, catalog: Catalog, tolerant_file: Path, tmp_path: Path
) -> None:
    job = fleet.job(lake, catalog.compiled)
    file = fleet.write(tmp_path / "boats.jsonl", [fleet.position(n, source="/boats/9") for n in range(300)])
    commit_batch(lake, job, "boats", [fleet.task(job, file)])
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(3)
    arguments = (str(lake.root), str(tolerant_file), gate)
    processes = [context.Process(target=_replay_in_a_process, args=arguments) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert [(entry.kind, entry.landed) for entry in read_ledger(lake)] == [("sort", {}), ("replay", {POSITION: 300})]
    assert list(differences(lake)) == []


def test_a_replay_that_was_overtaken_begins_again(
    sorted_lake: Lake, tolerant: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ran = replaying._run, []

    def overtaken(*arguments: Any) -> Any:
        done = run(*arguments)
        if not ran:
            ran.append(1)
            monkeypatch.setattr(replaying, "_run", run)
            replay(None, tolerant, sorted_lake.root)
        return done

    monkeypatch.setattr(replaying, "_run", overtaken)
    done = replay(None, tolerant, sorted_lake.root)
    assert (done.letters, done.landed, done.entry) == (2, {}, None)
    assert list(differences(sorted_lake)) == []
    known = set(DeltaTable(sorted_lake.path("shop/order.placed")).file_uris())
    assert {str(path) for path in sorted_lake.path("shop/order.placed").glob("*.parquet")} == known


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_on_spark_the_same_happens(spark: Any, sorted_lake: Lake, tolerant: Catalog) -> None:
    done = replay(spark, tolerant, sorted_lake.root)
    assert (done.letters, done.landed) == (5, {POSITION: 2, ORDER: 1})
    assert list(differences(sorted_lake)) == []


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_an_error_on_a_worker_is_one_sentence(
    spark: Any, sorted_lake: Lake, tolerant: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = [LetterFile("lost.parquet", 10, 1, 1)]
    monkeypatch.setattr(replaying, "letter_files", lambda *_: lost)
    with pytest.raises(LakeRefused, match="lost.parquet") as error:
        replay(spark, tolerant, sorted_lake.root)
    assert "\n" not in str(error.value)
    assert len(letters(sorted_lake)) == 5


def test_small_files_are_taken_together_and_all_cores_have_work() -> None:
    files = [LetterFile(f"{n}.parquet", 1000, 2000, 1) for n in range(10)]
    assert [len(group) for group in grouped(files, 1)] == [10]
    assert [len(group) for group in grouped(files, 2)] == [5, 5]
    assert [len(group) for group in grouped(files, 100)] == [2, 2, 2, 2, 2]
    large = [LetterFile("a.parquet", 15_000_000, 10, 1), LetterFile("b.parquet", 15_000_000, 10, 1)]
    assert [len(group) for group in grouped(large, 1)] == [1, 1]


def test_replay_is_offered_beside_sort() -> None:
    from postroom import pipeline

    assert pipeline.replay is replay
    assert "replay" in pipeline.__all__
