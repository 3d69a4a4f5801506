"""Ids of records: the same for the same record, never the same for two."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.errors import BadFlag
from postroom.pipeline import replay
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.sources.dataframe import KEY, check_key
from postroom.pipeline.sources.record_ids import digest_of, id_of_key, id_of_message, origin_in_cluster, record_of
from postroom.pipeline.spark.write_options import check_options, lake_of
from postroom.pipeline.worker.assign_origins import RowSource, assign_origins
from postroom.pipeline.worker.sort_task import write_batch

KAFKA = {"topic": ["orders"], "partition": [3], "offset": [42], "key": [None], "value": [b"{}"]}


@given(
    st.sampled_from(
        [digest_of("/a/b.jsonl") + "-17", digest_of("x") + "--3", digest_of("x") + "-0", id_of_key("x", "1")]
    ),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_the_record_of_a_message_is_known_by_its_id(record: str, index: int, several: bool) -> None:
    message = id_of_message(record, index, several)
    assert record_of(message) == record
    assert (message != record) == several


def test_ids_that_others_made_stand_for_themselves() -> None:
    assert record_of("order-7-1") == "order-7-1"


def test_a_partition_is_known_by_its_cluster_and_not_by_brokers() -> None:
    spelled = [f"kafka://{brokers}/orders/3" for brokers in ("localhost:9092", "127.0.0.1:9092,b:9092", "[::1]:9092")]
    assert {origin_in_cluster(source, "kafka://Q0uAb") for source in spelled} == {"kafka://Q0uAb/orders/3"}
    # A cluster without a name is known as the columns of Kafka are that come in a DataFrame.
    assert {origin_in_cluster(source, "kafka:/") for source in spelled} == {"kafka://orders/3"}


def placed(columns: dict[str, Any], source: str = "dataframe", **more: Any) -> list[dict[str, Any]]:
    task = more.pop("task", 0)
    named = RowSource(source, **({"batch": "run-0"} | more))
    rows: list[dict[str, Any]] = []
    for batch in assign_origins([pa.RecordBatch.from_pydict(columns)], named, task):
        rows += batch.to_pylist()
    return rows


LINES = {"value": ["{}", "{}"]}


@pytest.mark.parametrize(
    ("columns", "source", "places"),
    [
        (LINES, "dataframe", [("dataframe", 0), ("dataframe", 1)]),
        (LINES, "shop", [("shop", 0), ("shop", 1)]),
        (LINES | {"source": ["a", "b"], "length": [1, 2], "record_id": ["x", "y"]}, "", [("a", 0), ("b", 1)]),
        (LINES | {"source": ["a", "b"], "position": [7, 8], "path": ["x", "y"]}, "", [("a", 7), ("b", 8)]),
        (KAFKA, "dataframe", [("kafka://orders/3", 42)]),
        (KAFKA, "kafka://prod", [("kafka://prod/orders/3", 42)]),
        (KAFKA | {"source": ["mirror"]}, "dataframe", [("mirror", 42)]),
    ],
)
def test_rows_say_where_they_came_from_or_are_counted(
    columns: dict[str, list[Any]], source: str, places: list[tuple[str, int]]
) -> None:
    assert [(row["source"], row["position"]) for row in placed(columns, source)] == places


def test_rows_that_say_where_they_came_from_need_no_other_id() -> None:
    for columns in (KAFKA, LINES | {"source": ["a", "a"], "position": [0, 1], "record_id": ["x", "x"]}):
        assert all("record_id" not in row for row in placed(columns))


def test_counted_rows_have_ids_of_their_own_in_every_batch_and_task() -> None:
    ids = [
        row["record_id"]
        for batch, task, source in itertools.product(["run-0", "run-1", "other-0"], range(3), ["shop", "fleet"])
        for row in placed(LINES, source, batch=batch, task=task)
    ]
    assert len(set(ids)) == len(ids) == 36
    assert placed(LINES, batch="run-0") == placed(LINES, batch="run-0")


def test_a_key_makes_the_same_id_wherever_its_row_is() -> None:
    first = placed(LINES | {"number": [1, 2]}, key="number")
    second = placed(LINES | {"number": ["2", "1"]}, key="number", batch="run-9", task=4)
    assert [row["record_id"] for row in first] == [row["record_id"] for row in second][::-1]
    other = placed(LINES | {"number": [1, 2]}, "shop", key="number")
    assert {row["record_id"] for row in first}.isdisjoint(row["record_id"] for row in other)


def test_rows_without_a_key_are_told_apart_all_the_same() -> None:
    ids = [
        row["record_id"]
        for batch in "ab"
        for row in placed(LINES | {"number": [None, None]}, key="number", batch=batch)
    ]
    assert len(set(ids)) == 4


def test_a_row_without_a_key_is_known_by_its_place_if_it_has_one() -> None:
    (row,) = placed(KAFKA | {KEY: pa.array([None], pa.string())}, key=KEY)
    assert row["record_id"] == f"{digest_of('kafka://orders/3')}-42"


def test_batches_without_rows_are_batches() -> None:
    for columns in (
        {"value": pa.array([], pa.string())},
        {"value": pa.array([], pa.string()), KEY: pa.array([], pa.int64())},
    ):
        assert placed(columns, key=KEY) == []


def test_a_key_wins_over_topic_and_offset() -> None:
    (row,) = placed(KAFKA | {KEY: ["A-17"]}, key=KEY)
    assert (row["record_id"], row["position"]) == (id_of_key("kafka://orders/3", "A-17"), 42)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("nubmer", "Did you mean 'number'"), ("x", "The columns are number, price"), ("price", "texts or whole numbers")],
)
def test_a_key_that_is_none_is_one_sentence(name: str, sentence: str) -> None:
    types = {"number": "bigint", "price": "double"}
    check_key("number", types)
    with pytest.raises(BadFlag, match=sentence):
        check_key(name, types)


@pytest.mark.parametrize("keyed", [False, True])
def test_events_and_letters_have_the_ids_that_came_with_them(
    fleet: Any, lake: Lake, catalog: Catalog, keyed: bool
) -> None:
    lines = [fleet.position(1), fleet.position(2, colour="red"), [fleet.position(3), fleet.position(4)], {}]
    ids = [id_of_key("shop", f"A-{number}") if keyed else f"{digest_of('x')}-{number}" for number in range(4)]
    columns = {"value": [json.dumps(line) for line in lines], "source": ["s"] * 4, "position": [0] * 4}
    job = fleet.job(lake, catalog.compiled)
    written = write_batch(job, [pa.RecordBatch.from_pydict(columns | {"record_id": ids})])
    found = [
        record
        for file in written.files
        for record in pq.read_table(lake.path(file.folder) / file.path).column("_record_id").to_pylist()
    ]
    assert sorted(found) == sorted([ids[0], ids[1], f"{ids[2]}-0", f"{ids[2]}-1", ids[3]])


def test_a_replay_keeps_the_ids_that_an_older_version_made(
    fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path
) -> None:
    """One record under the id of its brokers' address, again under that of its cluster, and rows that share one id."""
    boat, batch = fleet.position(1, source="/boats/9"), [fleet.position(2), fleet.position(3, source="/boats/9")]
    ids = [f"{digest_of('kafka://old/t/0')}-5", f"{digest_of('kafka://c/t/0')}-5", *["88b0d5883bc1df85-0"] * 3]
    lines = [boat, boat, boat, fleet.position(4, source="/boats/7"), batch]
    for number, (record, line) in enumerate(zip(ids, lines, strict=True)):
        value = json.dumps(line)
        row = {"source": ["kafka://old/t/0"], "position": [5], "record_id": [record], "value": [value]}
        job = fleet.job(lake, catalog.compiled, batch=number)
        commit_batch(lake, job, "", [write_batch(job, [pa.RecordBatch.from_pydict(row)])])
    letters = sorted(DeltaTable(lake.path(DEAD_LETTERS)).to_pyarrow_table().column("_record_id").to_pylist())
    assert letters == sorted([*ids[:4], f"{ids[4]}-1"])
    wider = fleet.catalog()
    wider["messagegroups"]["fleet"]["messages"]["vehicle.position"]["envelopemetadata"]["source"] = {"type": "string"}
    done = replay(None, Catalog(wider), lake.root)
    assert (done.letters, sum(done.landed.values())) == (5, 5)
    rows = DeltaTable(lake.path("fleet/vehicle.position")).to_pyarrow_table().to_pylist()
    landed = [row["_record_id"] for row in rows if row["_batch"].startswith("replay-")]
    assert sorted(landed) == letters


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"checkpiont": "x"}, "no option 'checkpiont'. There are catalog"),
        ({"catalogue": "x"}, "Did you mean 'catalog'"),
        ({"partition_by_date": "true"}, "Did you mean 'partitionByDate'"),
        ({"record_id": "x"}, "Did you mean 'recordId'"),
        ({"nulls": "never"}, "'nulls' is strict or absent, not 'never'"),
        ({"PARTITIONBYDATE": "yes"}, "'partitionByDate' is true or false"),
    ],
)
def test_options_that_nobody_acts_on_are_refused(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadFlag) as error:
        check_options(options)
    assert sentence in str(error.value)


def test_known_options_may_be_written_in_any_case() -> None:
    check_options({"Catalog": "x", "LAKE": "y", "partitionbydate": "TRUE", "Nulls": "Absent", "path": "y"})


def test_the_path_of_save_is_the_lake(tmp_path: Path) -> None:
    assert lake_of({"path": "a"}) == lake_of({"lake": "a"}) == lake_of({"lake": "a", "path": "./a"}) == "a"
    with pytest.raises(BadFlag, match="two lakes"):
        lake_of({"lake": "a", "path": "b"})
