"""Rows are judged anew by a later catalog, from their exact records: exactly once, whatever becomes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.errors import MessageUnknown
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.dead_letters.replay import replay
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake, create_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.records.compare_rows import differing_rows
from postroom.pipeline.records.reprocess import Reprocess, reprocess
from postroom.pipeline.worker.sort_task import write_batch

GROUP = "/messagegroups/plant/messages"
READING, ALARM = f"{GROUP}/reading", f"{GROUP}/alarm"


def message(properties: dict[str, Any], event: str, **more: Any) -> dict[str, Any]:
    return {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": event}, **more},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschema": {"type": "object", "properties": properties},
    }


def plant(properties: dict[str, Any] | None = None, **others: Any) -> Catalog:
    """Readings, and other messages."""
    messages = {"reading": message(properties or {"sensor": {"type": "string"}}, "reading"), **others}
    return Catalog({"messagegroups": {"plant": {"messages": messages}}})


def event(number: int, data: Any, **attributes: Any) -> dict[str, Any]:
    common = {"specversion": "1.0", "id": str(number), "source": "/s", "type": "reading"}
    return common | attributes | {"data": data}


def land(fleet: Any, lake: Lake, catalog: Catalog, *records: Any, run: str = "run1", keep: bool = True) -> None:
    file = fleet.write(lake.root.parent / f"{run}.jsonl", list(records))
    job = msgspec.structs.replace(fleet.job(lake, catalog.compiled, run), keep_records=keep)
    commit_batch(lake, job, str(file), [fleet.task(job, file)])


def rows(lake: Lake, folder: str = "plant/reading") -> list[dict[str, Any]]:
    found = lake.table(folder).to_pyarrow_table().to_pylist() if lake.has(folder) else []
    return sorted(found, key=lambda row: row["_record_id"])


def data_of(lake: Lake, folder: str = "plant/reading") -> list[Any]:
    return [{name: value for name, value in row["data"].items() if value is not None} for row in rows(lake, folder)]


def told(done: Reprocess) -> tuple[Any, ...]:
    return done.rows, done.unchanged, done.changed, done.moved, done.dead, done.without_record


TYPED = {"sensor": {"type": "string"}, "quality": {"type": "integer"}}


def test_rows_get_the_columns_that_were_declared_later(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, plant(), event(1, {"sensor": "a", "quality": 7}), event(2, {"sensor": "b"}))
    before = {row["ce_id"]: row for row in rows(lake)}
    done = reprocess(lake, plant(TYPED), message=READING)
    assert told(done) == (2, 1, 1, {}, {}, 0)
    assert data_of(lake) == [{"sensor": "a", "quality": 7}, {"sensor": "b"}]
    after = {row["ce_id"]: row for row in rows(lake)}
    assert after["1"]["_rescued"] is None
    assert (after["1"]["_batch"], after["2"]["_batch"]) == (f"{done.entry.run}-0", "run1-0")  # type: ignore[union-attr]
    assert after["1"]["_record_id"] == before["1"]["_record_id"]
    assert list(differences(lake)) == []


def test_a_second_time_changes_nothing(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, plant(), event(1, {"sensor": "a", "quality": 7}))
    reprocess(lake, plant(TYPED), message=READING)
    version = lake.table("plant/reading").version()
    again = reprocess(lake, plant(TYPED), message=READING)
    assert (told(again), again.entry) == ((1, 1, 0, {}, {}, 0), None)
    assert lake.table("plant/reading").version() == version


def test_a_dry_run_says_the_same_and_changes_nothing(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, plant(), event(1, {"sensor": "a", "quality": 7}), event(2, {"sensor": "b", "quality": "high"}))
    before = rows(lake)
    said = reprocess(lake, plant(TYPED), message=READING, dry_run=True)
    assert (rows(lake), len(read_ledger(lake)), said.entry) == (before, 1, None)
    assert fleet.unknown_files(lake) == {path for path in fleet.unknown_files(lake) if "_records" in path}
    assert told(reprocess(lake, plant(TYPED), message=READING)) == told(said) == (2, 0, 1, {}, {"invalid": 1}, 0)


def test_rows_that_fit_no_more_are_dead_letters_which_a_replay_can_land(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, plant(), event(1, {"sensor": "a", "quality": "high"}), event(2, {"quality": 3}))
    before = rows(lake)
    assert reprocess(lake, plant(TYPED), message=READING).dead == {"invalid": 1}
    (letter,) = rows(lake, DEAD_LETTERS)
    assert json.loads(letter["record"])["id"] == "1"
    assert letter["reasons"][0]["at"] == "/data/quality"
    assert list(differences(lake)) == []
    assert replay(None, plant(), lake).landed == {READING: 1}
    assert [row["_record_id"] for row in rows(lake)] == [row["_record_id"] for row in before]
    assert list(differences(lake)) == []


def test_rows_move_to_the_message_that_they_are_of_today(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, plant(), *(event(n, {"sensor": "a"}, severity="high") for n in range(3)), event(9, {}))
    alarm = message({"sensor": {"type": "string"}}, "reading", severity={"value": "high", "required": True})
    done = reprocess(lake, plant(alarm=alarm), message=READING)
    assert told(done) == (4, 1, 0, {ALARM: 3}, {}, 0)
    assert (len(rows(lake)), len(rows(lake, "plant/alarm"))) == (1, 3)
    assert {row["ce_severity"] for row in rows(lake, "plant/alarm")} == {"high"}
    assert read_ledger(lake)[-1].landed == {READING: -3, ALARM: 3}
    assert read_ledger(lake)[-1].kind == "reprocess"
    assert list(differences(lake)) == []


def test_columns_that_a_table_cannot_take_make_a_second_one(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, plant(), event(1, {"sensor": "a", "quality": 7}))
    number = plant({"sensor": {"type": "string"}, "quality": {"type": "integer"}})
    reprocess(lake, number, message=READING)
    text = plant({"sensor": {"type": "string"}, "quality": {"type": ["integer", "string"]}})
    assert reprocess(lake, text, message=READING).changed == 1
    assert (rows(lake), len(rows(lake, "plant/reading@2"))) == ([], 1)
    assert reprocess(lake, text, message=READING).entry is None
    assert list(differences(lake)) == []


def test_events_of_a_batch_are_judged_each_by_itself(fleet: Any, lake: Lake) -> None:
    """The other events of the same record, landed elsewhere or dead, stay what they are."""
    other = message({}, "other")
    wrong = event(3, {"sensor": 7})
    land(fleet, lake, plant(other=other), json.dumps([event(1, {"quality": 1}), event(2, {}, type="other"), wrong]))
    others, letters = rows(lake, "plant/other"), rows(lake, DEAD_LETTERS)
    assert told(reprocess(lake, plant(TYPED, other=other), message=READING)) == (1, 0, 1, {}, {}, 0)
    assert data_of(lake) == [{"quality": 1}]
    assert (rows(lake, "plant/other"), rows(lake, DEAD_LETTERS)) == (others, letters)


def test_a_record_that_was_sorted_twice_has_two_rows_again(fleet: Any, lake: Lake) -> None:
    records = [event(1, {"quality": 1}), event(2, {"quality": "x"})]
    land(fleet, lake, plant(), *records)
    file = lake.root.parent / "run1.jsonl"
    job = msgspec.structs.replace(fleet.job(lake, plant().compiled, "run2"), keep_records=True)
    commit_batch(lake, job, str(file), [fleet.task(job, file)])
    tidy(lake)
    assert told(reprocess(lake, plant(TYPED), message=READING)) == (4, 0, 2, {}, {"invalid": 2}, 0)
    assert data_of(lake) == [{"quality": 1}] * 2
    assert list(differences(lake)) == []


def test_rows_without_a_record_stay_as_they_are(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, plant(), event(1, {"quality": 1}), keep=False)
    land(fleet, lake, plant(), event(2, {"quality": 2}), run="run2")
    before = rows(lake)
    assert told(reprocess(lake, plant(TYPED), message=READING)) == (2, 0, 1, {}, {}, 1)
    assert next(row for row in rows(lake) if row["ce_id"] == "1")["_rescued"] == '{"quality":1}'
    assert len(rows(lake)) == len(before)


def test_rows_of_kafka_are_judged_by_their_columns(lake: Lake, fleet: Any) -> None:
    headers = [("ce_specversion", b"1.0"), ("ce_id", b"1"), ("ce_source", b"/s"), ("ce_type", b"reading")]
    columns = {
        "source": ["kafka://broker/t/0"] * 2,
        "position": [5, 6],
        "topic": ["t"] * 2,
        "partition": pa.array([0, 0], pa.int32()),
        "offset": [5, 6],
        "key": [b"\xff\x00", None],
        "value": [b'{"quality": 4}', b'{"sensor": "a"}'],
        "timestamp": pa.array([1_790_000_000_123_000] * 2, pa.timestamp("us", "UTC")),
        "headers": pa.array(
            [[{"key": name, "value": value} for name, value in headers]] * 2,
            pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
        ),
    }
    job = msgspec.structs.replace(fleet.job(lake, plant().compiled), keep_records=True)
    commit_batch(lake, job, "kafka", [write_batch(job, [pa.RecordBatch.from_pydict(columns)])])
    before = rows(lake)
    assert told(reprocess(lake, plant(TYPED), message=READING)) == (2, 1, 1, {}, {}, 0)
    changes = {"data", "_rescued", "_landed_at", "_batch"}
    assert [{k: v for k, v in row.items() if k not in changes} for row in rows(lake)] == [
        {k: v for k, v in row.items() if k not in changes} for row in before
    ]
    assert data_of(lake) == [{"quality": 4}, {"sensor": "a"}]


def test_days_of_a_partitioned_table_stay_apart(fleet: Any, lake: Lake) -> None:
    file = fleet.write(lake.root.parent / "r.jsonl", [event(1, {"quality": 1}), event(2, {})])
    job = msgspec.structs.replace(fleet.job(lake, plant().compiled), keep_records=True, partition_by_date=True)
    commit_batch(lake, job, str(file), [fleet.task(job, file)])
    assert told(reprocess(lake, plant(TYPED), message=READING)) == (2, 1, 1, {}, {}, 0)
    assert [row["_landed_on"] for row in rows(lake)] == [row["_landed_at"].date() for row in rows(lake)]


def test_a_message_without_a_table_is_refused(sorted_lake: Lake) -> None:
    with pytest.raises(MessageUnknown):
        reprocess(sorted_lake, plant(), message=READING)


DRIVER = """
import os, sys
from pathlib import Path
from postroom.messages.definitions.definition import CompiledCatalog
import postroom.pipeline.lake.commit as commit
import postroom.pipeline.lake.file_exchange as exchange
import postroom.pipeline.records.reprocess as again

lake, compiled, moment = sys.argv[1:4]
where, name, when = moment.split(":")
module = {"reprocess": again, "exchange": exchange, "commit": commit}[where]
real = getattr(module, name)

def dying(*arguments, **options):
    if when == "after":
        real(*arguments, **options)
    os._exit(9)

setattr(module, name, dying)
again.reprocess(lake, CompiledCatalog.decode(Path(compiled).read_bytes()), message=sys.argv[4])
"""
STEPS = ("reprocess:write_parquet", "exchange:put_manifest", "commit:commit_table", "commit:record_batch")


@pytest.mark.parametrize("moment", [f"{step}:{when}" for step in STEPS for when in ("before", "after")])
def test_dying_at_any_moment_loses_and_doubles_nothing(fleet: Any, lake: Lake, tmp_path: Path, moment: str) -> None:
    alarm = message(TYPED, "reading", severity={"value": "high", "required": True})
    land(
        fleet, lake, plant(), *(event(n, {"quality": n}, severity="high") for n in range(3)), event(8, {"quality": "x"})
    )
    land(fleet, lake, plant(), event(9, {"sensor": "s"}), run="run2")
    today = plant(TYPED, alarm=alarm)
    compiled = tmp_path / "compiled"
    compiled.write_bytes(today.compiled.encode())
    command = [sys.executable, "-c", DRIVER, str(lake.root), str(compiled), moment, READING]
    assert subprocess.run(command, env=os.environ, timeout=300, check=False).returncode == 9
    finish_commits(lake)
    reprocess(lake, today, message=READING)
    assert data_of(lake) == [{"sensor": "s"}]
    assert data_of(lake, "plant/alarm") == [{"quality": n} for n in range(3)]
    assert len(rows(lake, DEAD_LETTERS)) == 1
    assert list(differences(lake)) == []
    assert unfinished(lake) == []
    assert [entry.kind for entry in read_ledger(lake)] == ["sort", "sort", "reprocess"]


properties = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sampled_from([{"type": "integer"}, {"type": "string"}, {}]),
        "b": st.sampled_from(
            [{"type": "string", "format": "date-time"}, {"type": "array", "items": {"type": "number"}}]
        ),
        "c": st.sampled_from(
            [{"type": "object", "properties": {"d": {"type": "number"}}}, {"type": "object", "properties": {"e": {}}}]
        ),
    },
)
payloads = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sampled_from([1, "x", None, 2**70]),
        "b": st.sampled_from(["2026-01-01T00:00:00Z", [1.5, 2], [], "soon"]),
        "c": st.sampled_from([{"d": 1.5}, {"e": {"f": 1}}, {}, 7]),
    },
)


def two_messages(reading: dict[str, Any], other: dict[str, Any], has_other: bool) -> Catalog:
    others = {"other": message(other, "reading", severity={"value": "1"})} if has_other else {}
    return plant(reading or {"sensor": {}}, **others)


catalogs = st.builds(two_messages, properties, properties, st.booleans())
records = st.lists(
    st.builds(lambda data, more: (data, more), payloads, st.sampled_from([{}, {"severity": "1"}, {"type": "?"}])),
    min_size=1,
    max_size=6,
)


def everything(lake: Lake) -> Counter[str]:
    """All rows and letters without what says when they came, however many tables they are in."""
    found: Counter[str] = Counter()
    for place in lake.tables():
        for row in rows(lake, place.folder):
            values = {n: v for n, v in row.items() if v is not None and n not in ("_batch", "_landed_at")}
            found[repr(sorted(_present(values).items()))] += 1
    for letter in rows(lake, DEAD_LETTERS):
        found[repr([letter[name] for name in ("_record_id", "outcome", "message", "reasons", "record")])] += 1
    return found


def _present(value: Any) -> Any:
    return {n: _present(v) for n, v in value.items() if v is not None} if isinstance(value, dict) else value


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=catalogs, today=catalogs, came=records)
def test_judged_anew_is_as_if_sorted_today(
    fleet: Any, tmp_path_factory: pytest.TempPathFactory, first: Catalog, today: Catalog, came: list[Any]
) -> None:
    """Sort by one catalog, judge the rows and replay the letters by another: the lake is as if sorted by the other."""
    folder = tmp_path_factory.mktemp("property")
    events = [event(number, data, **more) for number, (data, more) in enumerate(came)]
    lake, expected = create_lake(folder / "lake"), create_lake(folder / "expected")
    land(fleet, lake, first, *events)
    land(fleet, expected, today, *events)
    for xid in sorted({lake.table(place.folder).metadata().name for place in lake.tables()}):
        reprocess(lake, today, message=xid)
        assert reprocess(lake, today, message=xid).entry is None
        assert list(differences(lake)) == []
    replay(None, today, lake)
    assert everything(lake) == everything(expected)


numbers = st.one_of(st.none(), st.floats().map(lambda value: value + 0.0))  # a zero that is not negative
structs = st.one_of(st.none(), st.fixed_dictionaries({"x": numbers, "y": st.one_of(st.none(), st.lists(numbers))}))


@given(st.lists(st.tuples(structs, structs), max_size=8))
def test_rows_differ_where_a_value_does(pairs: list[tuple[Any, Any]]) -> None:
    kind = pa.struct([("x", pa.float64()), ("y", pa.list_(pa.float64()))])
    old, new = (pa.table({"s": pa.array([pair[side] for pair in pairs], kind)}) for side in (0, 1))
    both = zip(old["s"].to_pylist(), new["s"].to_pylist(), strict=True)
    assert differing_rows(old, new).to_pylist() == [repr(one) != repr(other) for one, other in both]
    assert not any(differing_rows(old, old).to_pylist())


def test_a_column_that_is_missing_is_the_same_as_one_without_values() -> None:
    full = pa.table({"a": [1, 2], "b": pa.array([None, "x"]), "c": pa.array([{"d": 1, "e": None}, None])})
    bare = pa.table({"a": [1, 2], "c": pa.array([{"d": 1}, None])})
    assert differing_rows(full, bare).to_pylist() == [False, True]
    assert differing_rows(bare, full, {"b"}).to_pylist() == [False, False]
    assert differing_rows(bare, pa.table({"a": ["1", "2"], "c": bare["c"]})).to_pylist() == [True, True]
