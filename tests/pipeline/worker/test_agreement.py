"""The tables of messages that were judged by column equal those of the same messages judged one by one."""

from __future__ import annotations

import itertools
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from postroom.catalog.catalog import Catalog
from postroom.errors import MakeRefused
from postroom.messages.engine import Engine
from postroom.messages.making.make import AUTO
from postroom.messages.matching.columnar import LandedEvents
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.storage.folder import FolderStorage
from postroom.pipeline.worker.batch_reader import read_batches
from postroom.pipeline.worker.record_origins import RecordOrigins
from postroom.pipeline.worker.sort_task import Tables
from postroom.protocols.records import Record, render_record
from tests.messages.payloads import GROUPS, SCHEMAS, declared
from tests.messages.random_catalogs import catalogs, lengthy

XID = "/messagegroups/g/messages/m"
WIRES = ("", "HTTP", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "KAFKA", "NATS")
TIMES = ("2026-05-04T10:00:00Z", "2026-05-04T10:00:00.5+02:00", "2016-12-31T23:59:60Z", "2026-05-04t10:00:00z")
# Members of the payloads in tests/messages/payloads.py that are times, and texts for them, exact or not.
TIME_MEMBERS = {
    "placed": (*TIMES, "2026-05-04T10:00:00.123456789Z", "soon", None),
    "days": (["2026-05-04", None, "2026-02-30"], []),
    "waits": ({"a": "PT1S", "b": "P1M"},),
    "began": (*TIMES, "2026-05-04T10:00:00.123456789Z"),
    "halts": (["2026-05-04T10:00:00Z", "2026-05-04T10:00:00.123456789Z"],),
    "opened": (*TIMES, "2026-05-04T10:00:00.123456789Z"),
    "bakes": ([{"took": "PT1.5S"}, {"took": "P1M"}],),
}
STARTED = datetime(2026, 5, 4, 10, tzinfo=UTC)


class TablesInMemory(Tables):
    """Keeps tables that a task would write, and counts what the columnar judge accepted; nothing `exactly`."""

    def __init__(self, job: Job, engine: Engine, *, exactly: bool) -> None:
        super().__init__(job, engine, {}, FolderStorage(Path()))
        self.written: dict[str, pa.Table] = {}
        self.accepted = 0
        self._exactly = exactly

    def _write(self, folder: str, xid: str, version: str, table: pa.Table) -> None:
        self.written[folder] = table.sort_by("_record_id").combine_chunks()

    def _land(
        self, origins: RecordOrigins, landed: dict[str, list[pa.Table]], start: int, events: LandedEvents
    ) -> None:
        if self._exactly:
            raise ValueError("for the exact judge")
        super()._land(origins, landed, start, events)
        self.accepted += len(events.rows)


def assert_agreement(catalog: Catalog, records: pa.RecordBatch, *, nulls: str, keep_undeclared: bool = True) -> int:
    """How many records the columnar judge accepted, in tables that are as the exact judge makes them."""
    job = Job("", "digest", nulls, "run", 0, STARTED, keep_undeclared=keep_undeclared)

    def tables(*, exactly: bool) -> TablesInMemory:
        engine = Engine(catalog.compiled, nulls=nulls, keep_transport=True, keep_undeclared=keep_undeclared)
        found = TablesInMemory(job, engine, exactly=exactly)
        for batch in read_batches([records], rows=1_000, size=1_000_000):
            found.add(batch)
        return found

    by_column, by_record = tables(exactly=False), tables(exactly=True)
    assert (by_column.read, by_column.dead) == (by_record.read, by_record.dead)
    assert by_column.written.keys() == by_record.written.keys()
    for folder, table in by_column.written.items():
        expected = by_record.written[folder]
        assert table.schema.equals(expected.schema, check_metadata=True)
        for name in table.schema.names:  # repr tells 0.0 from -0.0, and one NaN is as good as another
            assert repr(table.column(name).to_pylist()) == repr(expected.column(name).to_pylist()), (folder, name)
    assert by_record.accepted == 0
    return by_column.accepted


def as_lines(records: list[Record]) -> pa.RecordBatch:
    lines = [json.dumps(render_record(record)).encode() for record in records]
    places = {"source": ["lines.jsonl"] * len(lines), "position": list(range(len(lines)))}
    return pa.RecordBatch.from_pydict({**places, "value": pa.array(lines, pa.binary())})


def as_kafka_columns(records: list[Record]) -> pa.RecordBatch | None:
    """Records as the columns of Kafka's connector; None where those cannot say the same."""
    rows = [kafka_row(record) for record in records]
    if None in rows:
        return None
    types = {
        "topic": pa.string(),
        "partition": pa.int32(),
        "key": pa.binary(),
        "timestamp": pa.timestamp("us", "UTC"),
        "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
        "value": pa.binary(),
    }
    columns = {name: pa.array([row[name] for row in rows if row], kind) for name, kind in types.items()}
    numbers = pa.array(range(len(rows)), pa.int64())
    return pa.RecordBatch.from_pydict(
        {"source": ["k/t/0"] * len(rows), "position": numbers, "offset": numbers, **columns}
    )


def kafka_row(record: Record) -> dict[str, Any] | None:
    metadata = record.metadata
    headers = metadata.get("headers", {})
    pairs = headers.items() if isinstance(headers, dict) else [(pair["name"], pair["value"]) for pair in headers]
    if not all(isinstance(value, str) for _, value in pairs) or not isinstance(metadata.get("key", ""), str):
        return None
    return {
        "topic": metadata.get("topic", "t"),
        "partition": metadata.get("partition", 0),
        "key": metadata["key"].encode() if "key" in metadata else None,
        "timestamp": metadata.get("timestamp", 1) * 1000,
        "headers": [{"key": name, "value": value.encode()} for name, value in pairs],
        "value": record.payload,
    }


def altered(record: Record, rng: random.Random) -> Record:
    """A record with something in it that the definition does not say, or that is told in an unusual way."""
    metadata, payload = dict(record.metadata), record.payload
    try:
        value = json.loads(payload)
    except ValueError:
        value = None
    if isinstance(value, dict):
        inner = value["data"] if isinstance(value.get("data"), dict) and "specversion" in value else value
        change = rng.choice(["nothing", "null", "unknown", "absent", "time", "payload times"])
        if change == "null":
            inner[rng.choice([*inner, "note"])] = None
        elif change == "unknown":
            inner["unheard"] = rng.choice([1.10, "x", {"deep": [None]}])
        elif change == "absent" and inner:
            inner.pop(rng.choice(list(inner)))
        elif change == "payload times":
            inner |= {name: rng.choice(texts) for name, texts in TIME_MEMBERS.items() if name in inner}
        elif change == "time" and "specversion" in value:
            value["time"] = rng.choice(TIMES)
        payload = payload if change == "nothing" else json.dumps(value).encode()
    if record.protocol == "KAFKA":
        metadata |= rng.choice([{}, {"timestamp": 1_790_000_000_123}, {"timestamp": -1}, {"partition": 3}])
        headers = metadata.get("headers")
        more = rng.choice([{}, {"trace": "1"}, {"ce_other": "x"}, {"ce_time": rng.choice(TIMES)}])
        if isinstance(headers, dict):
            metadata["headers"] = {**headers, **more}
        elif isinstance(headers, list):
            names = {pair["name"] for pair in headers}
            metadata["headers"] = [*headers, *({"name": n, "value": v} for n, v in more.items() if n not in names)]
    return Record(record.protocol, metadata, payload)


def made(catalog: Catalog, data: st.DataObject, rng: random.Random, count: int) -> list[Record]:
    maker = catalog.message(XID).maker
    values = {name: data.draw(lengthy, label=name) for name in maker.variables}
    wires = WIRES if maker.is_event else WIRES[1:]
    records = []
    for _ in range(count):
        protocol = maker.definition.protocol or data.draw(st.sampled_from(wires), label="protocol")
        mode = data.draw(st.sampled_from(["", "binary", "structured"]), label="mode")
        try:
            records.append(maker.make(values, AUTO, protocol=protocol, mode=mode, rng=rng))
        except MakeRefused:
            assume(False)
    return [altered(record, rng) for record in [*records, *records]] + records


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    tree=catalogs(with_rivals=True),
    nulls=st.sampled_from(["strict", "absent"]),
    keep=st.booleans(),
    data=st.data(),
    rng=st.randoms(use_true_random=False),
)
def test_tables_of_both_judges_are_equal(
    tree: dict[str, Any], nulls: str, keep: bool, data: st.DataObject, rng: random.Random
) -> None:
    catalog = Catalog(tree)
    assume(not catalog.refused)
    records = made(catalog, data, rng, count=2)
    accepted = assert_agreement(catalog, as_lines(records), nulls=nulls, keep_undeclared=keep)
    event("lines: some accepted by column" if accepted else "lines: none accepted by column")
    kafka = [record for record in records if record.protocol.startswith("KAFKA")]
    columns = as_kafka_columns(kafka) if kafka else None
    if columns is not None:
        accepted = assert_agreement(catalog, columns, nulls=nulls, keep_undeclared=keep)
        event("Kafka: some accepted by column" if accepted else "Kafka: none accepted by column")


@pytest.mark.parametrize("nulls", ["strict", "absent"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: f"{schema[0]}-{schema[1]}")
def test_every_format_is_accepted_by_column(schema: tuple[str, str, Any], nulls: str) -> None:
    message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "t"}}, **declared(schema)}
    catalog = Catalog({"messagegroups": {"g": {"messages": {"m": message}}}, "schemagroups": GROUPS})
    maker, rng = catalog.message(XID).maker, random.Random(7)
    accepted: set[str] = set()
    accepted_columns = 0
    for protocol, mode in itertools.product(WIRES, ("binary", "structured")):
        records = [maker.make({}, AUTO, protocol=protocol, mode=mode if protocol else "", rng=rng) for _ in range(4)]
        accepted |= {protocol} if assert_agreement(catalog, as_lines(records), nulls=nulls) else set()
        more = [*records, *(altered(record, rng) for record in records)]
        assert_agreement(catalog, as_lines(more), nulls=nulls)
        columns = as_kafka_columns(more) if protocol == "KAFKA" else None
        accepted_columns += 0 if columns is None else assert_agreement(catalog, columns, nulls=nulls)
    # Nothing on MQTT/3.1.1 says that a payload is an event, so all of that is for the exact judge.
    assert accepted >= {"HTTP", "AMQP/1.0", "MQTT/5.0", "KAFKA", "NATS"}
    assert accepted_columns > 0
