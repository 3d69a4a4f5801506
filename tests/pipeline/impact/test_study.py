"""A change of the catalog is tried on the messages of a lake, and the report says what it would have done."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

import postroom
from postroom.catalog.catalog import Catalog
from postroom.errors import BadFlag, LakeRefused
from postroom.pipeline.impact.markdown import markdown
from postroom.pipeline.impact.report import Estimate, estimated
from postroom.pipeline.impact.study import ImpactStudy
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.file_exchange import files_of
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.worker.sort_task import write_batch

POSITION = "/messagegroups/fleet/messages/vehicle.position"
ALARM = "/messagegroups/fleet/messages/vehicle.alarm"
ORDER = "/messagegroups/shop/messages/order.placed"


def land(
    fleet: Any, lake: Lake, tree: dict[str, Any], records: list[Any], run: str = "run1", *, keep: bool = True
) -> None:
    file = fleet.write(lake.root.parent / f"{run}.jsonl", records)
    job = msgspec.structs.replace(fleet.job(lake, Catalog(tree).compiled, run), keep_records=keep)
    commit_batch(lake, job, str(file), [fleet.task(job, file)])


@pytest.fixture
def kept_lake(fleet: Any, lake: Lake, records: Path) -> Lake:
    """Mixed records, all kept: 11 positions, 6 orders and 2 alarms landed, 5 letters."""
    land(fleet, lake, fleet.catalog(), records.read_text().splitlines())
    return lake


def files(lake: Lake) -> set[str]:
    return {str(path) for path in lake.root.rglob("*")}


def test_a_catalog_that_says_the_same_judges_no_landed_message(kept_lake: Lake, fleet: Any) -> None:
    before = files(kept_lake)
    report = postroom.impact(Catalog(fleet.catalog()), lake=kept_lake)
    assert (report.landed, report.unaffected, report.judged, report.letters_judged) == (19, 19, 0, 5)
    assert (report.breaks, report.definitions, report.deaths, report.tables) == (False, [], [], [])
    assert files(kept_lake) == before


def test_messages_that_would_die_are_counted_by_reason_and_explained(kept_lake: Lake, fleet: Any) -> None:
    stricter = fleet.catalog(speed={"type": "integer", "maximum": 7})
    report = postroom.impact(Catalog(stricter), lake=kept_lake)
    # Orders cannot be concerned; what came to the topic of alarms could be positions as well.
    assert (report.landed, report.unaffected, report.judged) == (19, 6, 13)
    assert (report.same, report.dying) == (Estimate(10, 10, 10), Estimate(3, 3, 3))
    (death,) = report.deaths
    assert (death.definition, death.outcome, death.at) == (POSITION, "invalid", "/data/speed")
    assert death.messages == Estimate(3, 3, 3)
    assert death.sample is not None
    assert "/data/speed must be" in death.sample.explained
    assert '"type": "fleet.vehicle.position"' in death.sample.record
    (definition,) = report.definitions
    assert (definition.change, definition.dying.count, definition.becomes) == ("changed", 3, "")
    producers = {(one.origin, one.dying) for one in report.producers}
    assert producers == {("/vehicles/VIN1", 2), ("/vehicles/VIN2", 1)}


def test_static_changes_stand_beside_what_was_seen(kept_lake: Lake, fleet: Any) -> None:
    stricter = fleet.catalog(speed={"type": "integer", "maximum": 200})
    report = postroom.impact(Catalog(stricter), lake=kept_lake, against=Catalog(fleet.catalog()))
    (definition,) = report.definitions
    assert definition.breaking_on_paper
    assert (definition.dying.count, definition.judged) == (0, 11)
    assert any("For example" in change.reason for change in definition.changes)
    assert not report.breaks


def test_messages_that_would_land_elsewhere_and_letters_that_would_live(kept_lake: Lake, fleet: Any) -> None:
    tree = fleet.catalog()
    position = tree["messagegroups"]["fleet"]["messages"]["vehicle.position"]
    tree["messagegroups"]["fleet"]["messages"]["boat.position"] = json.loads(json.dumps(position))
    boat = tree["messagegroups"]["fleet"]["messages"]["boat.position"]
    boat["envelopemetadata"]["source"]["value"] = "/boats/{vin}"
    tree["messagegroups"]["shop"]["messages"]["order.kept"] = tree["messagegroups"]["shop"]["messages"].pop(
        "order.placed"
    )
    report = postroom.impact(Catalog(tree), lake=kept_lake)
    (move,) = report.moves
    kept = "/messagegroups/shop/messages/order.kept"
    assert (move.definition, move.to, move.messages.count) == (ORDER, kept, 6)
    (revival,) = report.revivals
    assert (revival.outcome, revival.to, revival.messages.count) == (
        "invalid",
        POSITION.replace("vehicle.p", "boat.p"),
        1,
    )
    assert {(one.table, one.kind) for one in report.tables} == {
        ("fleet/boat.position", "created"),
        ("shop/order.kept", "created"),
    }
    changes = {one.definition: (one.change, one.moving.count, one.arriving.count) for one in report.definitions}
    assert (changes[ORDER], changes[kept]) == (("removed", 6, 0), ("added", 0, 6))


def test_tables_are_planned_as_a_batch_plans_them(kept_lake: Lake, fleet: Any) -> None:
    wider = fleet.catalog(heading={"type": "number"})
    assert [(one.table, one.kind, one.detail) for one in postroom.impact(Catalog(wider), lake=kept_lake).tables] == [
        ("fleet/vehicle.position", "columns_added", "data.heading")
    ]
    other = fleet.catalog(speed={"type": ["integer", "string"]})
    assert [(one.table, one.kind) for one in postroom.impact(Catalog(other), lake=kept_lake).tables] == [
        ("fleet/vehicle.position@2", "replaced")
    ]


def test_definitions_that_become_ambiguous_or_unreachable_are_named(kept_lake: Lake, fleet: Any) -> None:
    tree = fleet.catalog()
    orders = tree["messagegroups"]["shop"]["messages"]
    orders["order.twin"] = json.loads(json.dumps(orders["order.placed"]))
    tree["messagegroups"]["fleet"]["messages"]["vehicle.alarm"]["protocoloptions"]["topic_name"]["value"] = (
        "alarms/{vin}"
    )
    becomes = {one.definition: one.becomes for one in postroom.impact(Catalog(tree), lake=kept_lake).definitions}
    assert (becomes[ORDER], becomes[ALARM]) == ("ambiguous", "unreachable")


def test_messages_without_a_record_are_counted_first(fleet: Any, kept_lake: Lake) -> None:
    land(fleet, kept_lake, fleet.catalog(), [fleet.position(60), fleet.order(60)], "run2", keep=False)
    report = postroom.impact(Catalog(fleet.catalog(speed={"type": "string"})), lake=kept_lake)
    assert (report.landed, report.unaffected, report.without_record, report.judged) == (21, 7, 1, 13)
    assert markdown(report).split("\n")[2].startswith("- Not judged: 1 landed message")


def test_a_lake_that_keeps_no_records_still_has_its_letters(sorted_lake: Lake, fleet: Any) -> None:
    tree = fleet.catalog(lat={"type": ["number", "string"]})
    report = postroom.impact(Catalog(tree), lake=sorted_lake)
    assert (report.judged, report.without_record, report.reviving.count) == (0, 13, 1)


def test_a_record_that_was_sorted_twice_has_two_messages(fleet: Any, kept_lake: Lake, records: Path) -> None:
    job = msgspec.structs.replace(fleet.job(kept_lake, Catalog(fleet.catalog()).compiled, "run2"), keep_records=True)
    file = kept_lake.root.parent / "run1.jsonl"
    commit_batch(kept_lake, job, str(file), [fleet.task(job, file)])
    tidy(kept_lake)
    report = postroom.impact(Catalog(fleet.catalog(speed={"type": "integer", "maximum": 7})), lake=kept_lake)
    assert (report.judged, report.without_record, report.dying.count) == (26, 0, 6)


def test_rows_of_kafka_are_judged_by_their_columns(lake: Lake, fleet: Any) -> None:
    headers = [("ce_specversion", b"1.0"), ("ce_id", b"1"), ("ce_source", b"/vehicles/V1")]
    headers += [("ce_type", b"fleet.vehicle.position"), ("content-type", b"application/json")]
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    columns = {
        "source": ["kafka://broker/t/0", "kafka://broker/t/1"],
        "position": [5, 6],
        "topic": ["t"] * 2,
        "partition": pa.array([0, 1], pa.int32()),
        "offset": [5, 6],
        "key": [b"\xff\x00", None],
        "value": [b'{"lat": 1, "lon": 2, "speed": 9}', b'{"lat": 1, "lon": 2}'],
        "timestamp": pa.array([1_790_000_000_123_000] * 2, pa.timestamp("us", "UTC")),
        "headers": pa.array([[{"key": name, "value": value} for name, value in headers]] * 2, kind),
    }
    job = msgspec.structs.replace(fleet.job(lake, Catalog(fleet.catalog()).compiled), keep_records=True)
    commit_batch(lake, job, "kafka", [write_batch(job, [pa.RecordBatch.from_pydict(columns)])])
    report = postroom.impact(Catalog(fleet.catalog(speed={"type": "string"})), lake=lake)
    assert (report.judged, report.dying.count) == (2, 1)
    assert [(one.source, one.origin, one.dying) for one in report.producers] == [
        ("kafka://broker/t", "/vehicles/V1", 1)
    ]
    assert report.deaths[0].sample is not None
    assert "/data/speed" in report.deaths[0].sample.explained


def test_only_messages_since_a_moment_count(fleet: Any, kept_lake: Lake) -> None:
    changed = Catalog(fleet.catalog(speed={"type": "string"}))
    moment = datetime.now(UTC)
    assert postroom.impact(changed, lake=kept_lake, since=moment + timedelta(hours=1)).landed == 0
    report = postroom.impact(changed, lake=kept_lake, since=moment - timedelta(hours=1))
    assert (report.landed, report.judged, report.letters) == (19, 13, 5)


def test_a_sample_says_how_sure_it_is(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, fleet.catalog(), [fleet.position(n) for n in range(1300)])
    changed = Catalog(fleet.catalog(speed={"type": "integer", "maximum": 12}))
    report = postroom.impact(changed, lake=lake, sample=400)
    again = postroom.impact(changed, lake=lake, sample=400)
    assert (report.judged, report.judgeable, report.dying) == (400, 1300, again.dying)
    assert report.dying.low < 1300 * 117 // 130 < report.dying.high
    assert report.is_sample
    assert postroom.impact(changed, lake=lake).dying == Estimate(1170, 1170, 1170)
    with pytest.raises(BadFlag):
        postroom.impact(changed, lake=lake, sample=0)


@pytest.mark.parametrize(
    ("count", "judged", "among", "expected"),
    [
        (0, 0, 0, Estimate(0, 0, 0)),
        (3, 10, 10, Estimate(3, 3, 3)),
        (0, 100, 10_000, Estimate(0, 0, 370)),
        (100, 100, 10_000, Estimate(100, 9_630, 10_000)),
        (50, 100, 10_000, Estimate(50, 4_038, 5_962)),
        (1, 99, 100, Estimate(1, 1, 2)),
    ],
)
def test_intervals_are_those_of_wilson(count: int, judged: int, among: int, expected: Estimate) -> None:
    assert estimated(count, judged, among) == expected


def test_the_old_catalog_judges_what_landed_by_another_one(fleet: Any, lake: Lake) -> None:
    """What dies by both catalogs is not the fault of the change, and what only the old one lets die is its merit."""
    limits = {"type": "integer", "maximum": 5}
    land(fleet, lake, fleet.catalog(), [fleet.position(n) for n in range(10)])
    old, new = (Catalog(fleet.catalog(speed={**limits, **more})) for more in ({}, {"maximum": 7}))
    report = postroom.impact(new, lake=lake, against=old)
    assert (report.judged, report.same.count, report.dying.count, report.reviving.count) == (10, 6, 0, 2)
    assert postroom.impact(new, lake=lake).dying.count == 2


def test_values_are_masked_and_samples_left_out_where_that_is_asked_for(fleet: Any, lake: Lake) -> None:
    secret = fleet.position(1, data={"lat": 1, "lon": 2, "speed": 4711})
    land(fleet, lake, fleet.catalog(), [secret])
    changed = Catalog(fleet.catalog(speed={"type": "string"}))
    for samples in ("masked", "off"):
        report = postroom.impact(changed, lake=lake, samples=samples)
        text = msgspec.json.encode(report).decode() + markdown(report)
        assert "4711" not in text
        assert "VIN1" not in text.replace("/vehicles/VIN1", "", 3)
        assert ("/data/speed must be" in text) is (samples == "masked")
    assert "4711" in msgspec.json.encode(postroom.impact(changed, lake=lake)).decode()


def test_a_lake_that_others_write_to_is_read_in_one_state(fleet: Any, kept_lake: Lake) -> None:
    changed = Catalog(fleet.catalog(speed={"type": "integer", "maximum": 7}))
    study = ImpactStudy(kept_lake, changed)
    land(fleet, kept_lake, fleet.catalog(), [fleet.position(n) for n in range(20, 30)], "run2")
    report = study.report()
    assert (report.landed, report.judged, report.dying.count) == (19, 13, 3)


def test_a_file_that_is_gone_is_named(fleet: Any, kept_lake: Lake) -> None:
    (file,) = files_of(kept_lake.table("_records"))
    (kept_lake.path("_records") / file.path).unlink()
    with pytest.raises(LakeRefused, match="removed"):
        postroom.impact(Catalog(fleet.catalog(speed={"type": "string"})), lake=kept_lake)


def test_a_catalog_that_the_lake_has_lost_is_no_reason_to_skip_anything(fleet: Any, kept_lake: Lake) -> None:
    for path in (kept_lake.root / "_catalogs").iterdir():
        path.unlink()
    report = postroom.impact(Catalog(fleet.catalog()), lake=kept_lake)
    assert (report.unaffected, report.judged, report.same.count) == (0, 19, 19)


@pytest.mark.xdist_group("spark")
@pytest.mark.spark
def test_spark_finds_the_same(spark: Any, fleet: Any, kept_lake: Lake) -> None:
    changed = Catalog(fleet.catalog(speed={"type": "integer", "maximum": 7}))
    here, there = postroom.impact(changed, lake=kept_lake), postroom.impact(changed, lake=kept_lake, spark=spark)
    assert there == here


def test_the_comment_is_safe_to_post(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, fleet.catalog(), [fleet.position(1, data={"lat": 1, "lon": 2, "speed": 8, "x": "```\n<img>"})])
    text = markdown(postroom.impact(Catalog(fleet.catalog(speed={"type": "string"})), lake=lake), ["no <b>dying</b>"])
    assert "\\<b\\>" in text
    assert f"| `{POSITION}` | changed | 1 | 1 | 0 | 0 | 0 |  |" in text
