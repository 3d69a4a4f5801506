"""What several versions of a schema wrote lands in one table as it was written, by every route into a lake."""

from __future__ import annotations

import base64
import io
import json
import random
from pathlib import Path
from typing import Any

import fastavro
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import Phase, given, settings

from postroom.catalog.catalog import Catalog
from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.format_table import parse_schema, readable
from postroom.pipeline import sort
from postroom.pipeline.dead_letters.replay import replay
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake, open_lake
from postroom.pipeline.worker.sort_task import write_batch
from tests.formats.avro.evolutions import evolutions, framed
from tests.messages.matching.test_schema_versions import NAMES, PAIRS, avro, plain

CASES = 60


class Case(msgspec.Struct):
    """Two versions of a schema, a payload of each, and what has to be in the table."""

    name: str
    documents: tuple[Any, Any]
    payloads: tuple[bytes, bytes]
    expected: tuple[Any, Any]


def case_of(name: str, first: Any, second: Any, value: Any, seed: int = 1) -> Case | None:
    reader = parse_schema("Avro", second)
    try:
        value = parse_schema("Avro", first).sample(random.Random(seed)) if value is None else value
        payloads = avro(first, value), avro(second, reader.sample(random.Random(seed)))
        old = fastavro.schemaless_reader(io.BytesIO(payloads[0]), first, second)
        new = fastavro.schemaless_reader(io.BytesIO(payloads[1]), second, second)
        fill = filler(reader.columns())
        return Case(name, (first, second), payloads, (plain(fill(old)), plain(fill(new))))
    except (SchemaRefused, UnicodeDecodeError, ColumnMismatch):
        return None


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """The three ways to go wrong that are known, a new field, and many invented evolutions."""
    found = [case_of(f"known{n}", *pair[:3]) for n, pair in enumerate(PAIRS)]

    @settings(max_examples=CASES, phases=[Phase.generate], database=None)
    @given(evolutions(records=True))
    def collect(pair: tuple[Any, Any]) -> None:
        if readable("Avro", *pair).answer == "compatible":
            found.append(case_of(f"case{len(found)}", *pair, None, len(found)))

    collect()
    return [case for case in found if case is not None]


def catalog_of(cases: list[Case], *, with_ids: bool = True) -> Catalog:
    schemas, messages = {}, {}
    for number, case in enumerate(cases):
        versions = {
            str(version): {"format": "Avro", "schema": document}
            | ({"schemaids": [2 * number + version]} if with_ids else {})
            for version, document in enumerate(case.documents, 1)
        }
        schemas[case.name] = {"versions": versions, "meta": {"defaultversionid": "2"}}
        messages[case.name] = {
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {"type": {"value": case.name}},
            "dataschemauri": f"/schemagroups/g/schemas/{case.name}",
        }
    return Catalog({"schemagroups": {"g": {"schemas": schemas}}, "messagegroups": {"g": {"messages": messages}}})


def records_of(cases: list[Case]) -> list[tuple[dict[str, str], bytes]]:
    """Headers and payloads: of each case those of both versions, framed, in turn, three of each."""
    return [
        (
            {"ce_specversion": "1.0", "ce_id": f"{version}", "ce_source": "/a", "ce_type": case.name},
            framed(2 * number + version, case.payloads[version - 1]),
        )
        for _ in range(3)
        for number, case in enumerate(cases)
        for version in (1, 2)
    ]


def as_lines(cases: list[Case]) -> pa.RecordBatch:
    lines = [
        json.dumps(
            {
                "protocol": "KAFKA",
                "metadata": {"headers": headers},
                "payload_base64": base64.b64encode(body).decode(),
            }
        ).encode()
        for headers, body in records_of(cases)
    ]
    places = {"source": ["file"] * len(lines), "position": list(range(len(lines)))}
    return pa.RecordBatch.from_pydict({**places, "value": pa.array(lines, pa.binary())})


def as_rows(cases: list[Case]) -> pa.RecordBatch:
    records = records_of(cases)
    pairs = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    headers = [[{"key": name, "value": text.encode()} for name, text in named.items()] for named, _ in records]
    count = len(records)
    return pa.RecordBatch.from_pydict(
        {
            "source": pa.array(["topic"] * count),
            "position": pa.array(range(count)),
            "topic": pa.array(["t"] * count),
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count)),
            "headers": pa.array(headers, pairs),
            "value": pa.array([body for _, body in records], pa.binary()),
        }
    )


def as_parquet(cases: list[Case], file: Path) -> pa.RecordBatch:
    batch = as_rows(cases)
    pq.write_table(pa.Table.from_batches([batch.drop_columns(["source", "position"])]), file)
    return pa.RecordBatch.from_pylist([{"path": str(file), "start": 0, "length": batch.num_rows}])


def assert_landed(lake: Lake, cases: list[Case], times: int = 3) -> None:
    for number, case in enumerate(cases):
        table = DeltaTable(lake.path(f"g/{case.name}")).to_pyarrow_table()
        rows = table.select(["ce_id", "data", "_schema_version", "_schema_id", "_checked"])
        for row in rows.to_pylist(maps_as_pydicts="strict"):
            version = int(row["ce_id"])
            assert plain(row["data"]) == case.expected[version - 1], case
            assert (row["_schema_version"], row["_schema_id"]) == (str(version), str(2 * number + version))
            assert row["_checked"]
        assert rows.num_rows == 2 * times


@pytest.mark.parametrize("route", ["lines", "Kafka's columns", "Parquet"])
def test_every_route_lands_what_was_written(
    route: str, cases: list[Case], fleet: Any, lake: Lake, tmp_path: Path
) -> None:
    assert len(cases) > CASES // 2
    batch = {"lines": as_lines, "Kafka's columns": as_rows}.get(route, lambda c: as_parquet(c, tmp_path / "r.parquet"))
    job = fleet.job(lake, catalog_of(cases).compiled)
    written = write_batch(job, [batch(cases)])
    assert written.dead == {}
    commit_batch(lake, job, "records", [written])
    assert_landed(lake, cases)


def test_letters_land_once_the_catalog_has_the_ids(cases: list[Case], fleet: Any, lake: Lake) -> None:
    job = fleet.job(lake, catalog_of(cases, with_ids=False).compiled)
    written = write_batch(job, [as_lines(cases), as_rows(cases)])
    commit_batch(lake, job, "records", [written])
    letters = DeltaTable(lake.path(DEAD_LETTERS)).to_pyarrow_table()
    codes = {reason["code"] for letter in letters.column("reasons").to_pylist() for reason in letter}
    assert (written.dead, codes) == ({"invalid": 12 * len(cases)}, {"schema_id_unknown"})
    done = replay(None, catalog_of(cases), lake.root)
    assert (sum(done.landed.values()), done.dead) == (12 * len(cases), {})
    assert_landed(lake, cases, times=6)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_lands_what_was_written(spark: Any, cases: list[Case], tmp_path: Path) -> None:
    catalog = catalog_of(cases)
    file = tmp_path / "in" / "records.jsonl"
    file.parent.mkdir()
    file.write_bytes(b"\n".join(as_lines(cases).column("value").to_pylist()))
    assert sort(spark, file, catalog, tmp_path / "lake").dead == {}
    rows = pa.Table.from_batches([as_rows(cases).drop_columns(["source", "position"])])
    pq.write_table(rows, tmp_path / "kafka.parquet")
    assert sort(spark, spark.read.parquet(str(tmp_path / "kafka.parquet")), catalog, tmp_path / "lake").dead == {}
    assert_landed(open_lake(tmp_path / "lake"), cases, times=6)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_an_unknown_id_is_a_dead_letter_and_no_row(pair: Any, fleet: Any, lake: Lake) -> None:
    first, second, value, _ = pair
    case = case_of("known", first, second, value)
    assert case is not None
    catalog = catalog_of([case])
    job = fleet.job(lake, catalog.compiled)
    batch = as_rows([case])
    bodies = [b"\0\0\0\0\x63" + body[5:] for body in batch.column("value").to_pylist()]
    at = batch.schema.get_field_index("value")
    written = write_batch(job, [batch.set_column(at, "value", pa.array(bodies, pa.binary()))])
    assert written.dead == {"invalid": 6}
