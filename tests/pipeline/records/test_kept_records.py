"""The exact records of landed rows are kept beside them, where a lake is asked to, and can be read again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.messages.making.make import AUTO
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.dead_letters.replay import replay
from postroom.pipeline.inspect.sql import run_query
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import Lake, create_lake
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.records.kept_records import kafka_batches, kept_records, line_batches, record_ids, record_tables
from postroom.pipeline.sources.dataframe import record_lines
from postroom.pipeline.sources.record_ids import record_of
from postroom.pipeline.worker.sort_task import write_batch
from postroom.pipeline.worker.table_layout import RECORDS
from tests.pipeline.worker.test_agreement import as_kafka_columns, as_lines

POSITION = "/messagegroups/fleet/messages/vehicle.position"


def keeping(job: Job) -> Job:
    return msgspec.structs.replace(job, keep_records=True)


@pytest.fixture
def keeping_lake(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> Lake:
    job = keeping(fleet.job(lake, catalog.compiled))
    commit_batch(lake, job, "records", [fleet.task(job, records)])
    return lake


def landed_lines(lake: Lake, records: Path) -> set[bytes]:
    """The lines of a file that something landed of, by the positions of rows."""
    data, positions = records.read_bytes(), set()
    for place in lake.tables():
        positions |= set(lake.table(place.folder).to_pyarrow_table().column("_position").to_pylist())
    return {data[position:].partition(b"\n")[0] for position in positions}


def test_each_record_of_which_something_landed_is_kept_once(keeping_lake: Lake, records: Path) -> None:
    kept = list(kept_records(keeping_lake))
    lines = [record.line for record in kept]
    assert len(lines) == len(set(lines))
    assert set(lines) == landed_lines(keeping_lake, records)
    assert list(differences(keeping_lake)) == []
    for record in kept:
        assert records.read_bytes()[record.position :].startswith(record.line)
        assert (record.source, record.batch) == (str(records), "run1-0")


def test_rows_and_records_are_joined_by_the_id(keeping_lake: Lake, fleet: Any) -> None:
    sql = 'SELECT ce_id, decode(record) FROM "fleet"."vehicle.position" JOIN records USING (_record_id)'
    rows = run_query(keeping_lake, sql).rows
    # One came in a batch of events.
    assert len(rows) == fleet.landed[POSITION] - 1
    assert all(json.loads(line)["id"] == identity for identity, line in rows)


def test_records_of_one_message_are_those_of_its_rows(keeping_lake: Lake) -> None:
    lines = [json.loads(record.line) for record in kept_records(keeping_lake, POSITION)]
    assert len(lines) == 11
    assert all("fleet.vehicle.position" in json.dumps(line) for line in lines)
    assert not list(kept_records(keeping_lake, "/messagegroups/fleet/messages/none"))


def test_nothing_is_kept_unless_it_is_asked_for(sorted_lake: Lake) -> None:
    assert not sorted_lake.has(RECORDS)
    assert list(kept_records(sorted_lake)) == []


def test_tidy_brings_files_of_records_together(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    for number in range(5):
        job = keeping(fleet.job(lake, catalog.compiled, f"run{number}"))
        commit_batch(lake, job, "records", [fleet.task(job, records)])
    before = sorted((record.id, record.batch, record.line) for record in kept_records(lake))
    done = tidy(lake)
    assert [(t.files_before, t.files_after) for t in done.tables if t.folder == RECORDS] == [(5, 1)]
    assert sorted((record.id, record.batch, record.line) for record in kept_records(lake)) == before


XID = "/messagegroups/g/messages/m"
MESSAGE = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {"type": {"value": "t"}},
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschema": {"type": "object", "properties": {"temperature": {"type": "number"}}},
}
CATALOG = Catalog({"messagegroups": {"g": {"messages": {"m": MESSAGE}}}})


def kafka_columns(count: int) -> pa.RecordBatch:
    rng, maker = random.Random(count), CATALOG.message(XID).maker
    columns = as_kafka_columns([maker.make({}, AUTO, protocol="KAFKA", mode="binary", rng=rng) for _ in range(count)])
    assert columns is not None
    return columns


def without(batch: pa.RecordBatch, *names: str) -> pa.RecordBatch:
    return batch.drop_columns(list(names))


def with_odd_header(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Names of headers as bytes, of which one is no text."""
    kind = pa.list_(pa.struct([("key", pa.binary()), ("value", pa.binary())]))
    headers = [
        [{"key": h["key"].encode(), "value": h["value"]} for h in row] + [{"key": b"\xff", "value": b"1"}]
        for row in batch.column("headers").to_pylist()
    ]
    return batch.set_column(batch.schema.get_field_index("headers"), "headers", pa.array(headers, kind))


FORMS: dict[str, Callable[[], pa.RecordBatch]] = {
    "lines": lambda: as_lines([CATALOG.message(XID).maker.make({}, AUTO, protocol="MQTT/5.0")]),
    "Kafka columns": lambda: kafka_columns(5),
    "Kafka columns without keys and times": lambda: without(kafka_columns(5), "key", "timestamp"),
    "Kafka columns, sliced": lambda: kafka_columns(6).slice(2, 3),
    "Kafka columns with names of headers that are no text": lambda: with_odd_header(kafka_columns(3)),
    "records in columns": lambda: pa.RecordBatch.from_pydict(
        {
            "source": ["s", "s"],
            "position": [0, 1],
            "protocol": ["KAFKA"] * 2,
            "metadata": ['{"headers": {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/o", "ce_type": "t"}}'] * 2,
            "payload": [b"{}", b'{"temperature": 1}'],
        }
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_records_of_every_form_make_the_same_rows_again(form: str, tmp_path: Path) -> None:
    """What is kept has all that the record had: sorted again it makes the same rows, with the same ids."""
    given_records = FORMS[form]()
    first, second = create_lake(tmp_path / "first"), create_lake(tmp_path / "second")
    land(first, [given_records])
    if "no text" not in form:
        assert [record.line for record in kept_records(first)] == record_lines(given_records)
    tables = list(record_tables(first))
    land(second, (batch for table in tables for batch in (*kafka_batches(table), *line_batches(table))))
    assert rows(first) == rows(second) != []
    assert all(batch.num_rows for table in tables for batch in kafka_batches(table)) or "Kafka" not in form


def land(lake: Lake, batches: Any) -> None:
    job = Job(lake.url, lake.keep_catalog(CATALOG.compiled), "strict", "r", 0, STARTED, keep_records=True)
    commit_batch(lake, job, "s", [write_batch(job, batches)])


STARTED = datetime(2026, 5, 4, tzinfo=UTC)


def rows(lake: Lake) -> list[dict[str, Any]]:
    found: Iterator[dict[str, Any]] = (
        row for place in lake.tables() for row in lake.table(place.folder).to_pyarrow_table().to_pylist()
    )
    return sorted(found, key=lambda row: row["_record_id"])


identities = st.one_of(
    st.from_regex(r"[0-9a-f]{16}-[0-9]{1,3}(-[0-9]{1,2})?", fullmatch=True),
    st.from_regex(r"[0-9a-f]{16}--[0-9]{1,3}(-[0-9]{1,2})?", fullmatch=True),
    st.from_regex(r"[0-9a-f]{32}(-[0-9]{1,2})?", fullmatch=True),
    st.text(alphabet="0123456789abcdef-", max_size=40),
)


@given(st.lists(identities))
def test_ids_of_records_are_the_same_by_column_and_one_by_one(messages: list[str]) -> None:
    assert record_ids(pa.array(messages, pa.string())).to_pylist() == [record_of(message) for message in messages]


def test_a_replay_keeps_the_records_of_the_letters_that_land(keeping_lake: Lake, fleet: Any) -> None:
    """The record of a batch, of which other events landed before, is kept again; what stays dead keeps its own."""
    before = sorted(record.line for record in kept_records(keeping_lake))
    tree = fleet.catalog(lat={})
    order = tree["messagegroups"]["shop"]["messages"]["order.placed"]["dataschema"]
    order["required"] = ["number"]
    settings = msgspec.structs.replace(Catalog(tree).settings, keep_records=True)
    done = replay(None, Catalog(tree, settings=settings), keeping_lake)
    assert sum(done.landed.values()) == 2
    after = sorted(record.line for record in kept_records(keeping_lake))
    new = [line for line in after if after.count(line) > before.count(line)]
    assert any(b'"north"' in line for line in new)
    assert any(line.startswith(b"[") for line in new)
    assert len(after) == len(before) + 2
    assert list(differences(keeping_lake)) == []
