"""A Kafka estate as it is: one topic, records of twenty kinds, three versions of writers, ids of a schema registry, no
CloudEvents. KAFKA_MESSAGES says how many messages (20,000)."""

from __future__ import annotations

import collections
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable

from postroom.formats.format_table import parse_schema
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake, open_lake
from postroom.pipeline.lake.reconciliation import differences
from tests.brokers import Broker
from tests.http.running_service import serving

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

TOPIC = "estate.everything"
KINDS = 20
MESSAGES = int(os.environ.get("KAFKA_MESSAGES", "20000"))
COUNT = {"name": "count", "type": "long"}
MORE = ([], [{"name": "heat", "type": "int", "default": 180}], [{"name": "note", "type": "string", "default": "none"}])


class Written(NamedTuple):
    """One message: its kind, the number of the version that wrote it, and its value."""

    kind: int
    version: int
    value: dict[str, Any]


def name(kind: int) -> str:
    return f"com.acme.Kind{kind:02}"


def document(kind: int, version: int) -> dict[str, Any]:
    """A version puts what it adds in front, so that bytes of one mean something else when read as another."""
    added = [field for fields in MORE[version - 1 :: -1] for field in fields]
    return {"type": "record", "name": name(kind), "fields": [*added, {"name": "id", "type": "string"}, COUNT]}


def register(registry: str, version: int) -> list[int]:
    """Register a version of all kinds, under the names of their records; their ids."""
    found = []
    with httpx.Client(base_url=registry, timeout=30) as client:
        for kind in range(KINDS):
            body = {"schema": json.dumps(document(kind, version))}
            answer = client.post(f"/subjects/{name(kind)}/versions", json=body).raise_for_status()
            found.append(answer.json()["id"])
    return found


def write(numbers: range) -> Iterator[Written]:
    """Kinds and versions in no order."""
    rng = random.Random(7)
    for number in numbers:
        kind, version = rng.randrange(KINDS), rng.choice((1, 2, 3))
        value: dict[str, Any] = {"id": f"m{number}", "count": number * 1_000_003}
        if version >= 2:
            value["heat"] = number % 400
        if version >= 3:
            value["note"] = f"note {number}"
        yield Written(kind, version, value)


def produce(broker: Broker, messages: list[Written], ids: list[list[int]]) -> None:
    schemas = {(k, v): parse_schema("Avro", document(k, v)) for k in range(KINDS) for v in (1, 2, 3)}
    producer = Producer({"bootstrap.servers": broker.address, "queue.buffering.max.messages": len(messages) + 1})
    for message in messages:
        encoded = schemas[message.kind, message.version].encode(message.value)
        schema_id = ids[message.version - 1][message.kind]
        producer.produce(TOPIC, key=message.value["id"], value=b"\0" + schema_id.to_bytes(4) + encoded)
        producer.poll(0)
    assert producer.flush(120) == 0


def run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "postroom", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_of(lake: Lake) -> dict[str, tuple[int, Any, dict[str, Any]]]:
    """All rows by the id in their data: kind, version of the writer, data."""
    found: dict[str, tuple[int, Any, dict[str, Any]]] = {}
    total = 0
    for kind in range(KINDS):
        table = DeltaTable(lake.path(f"estate/kind{kind:02}")).to_pyarrow_table(columns=["data", "_schema_version"])
        for row in table.to_pylist():
            total += 1
            found[row["data"]["id"]] = (kind, row["_schema_version"], row["data"])
    assert total == len(found)
    return found


def expected(message: Written) -> tuple[int, str, dict[str, Any]]:
    """What is in the table: version 3 came when rows of the others were there, so its member is null in them."""
    note = None if message.version < 3 else message.value["note"]
    return message.kind, str(message.version), {"heat": 180, **message.value, "note": note}


def test_every_record_of_a_mixed_topic_lands_as_it_was_written(kafka: Broker, tmp_path: Path) -> None:
    where = {"protocol": "KAFKA", "protocoloptions": {"topic": TOPIC}}
    messages = {
        f"kind{kind:02}": {**where, "dataschemauri": f"/schemagroups/default/schemas/{name(kind)}"}
        for kind in range(KINDS)
    }
    (tmp_path / "estate.json").write_text(json.dumps({"messagegroups": {"estate": {"messages": messages}}}))
    written = list(write(range(MESSAGES)))
    known = [message for message in written if message.version < 3]
    store, source = "sqlite:///own.db", f"kafka://{kafka.address}/{TOPIC}"
    with serving(f"sqlite:///{tmp_path}/elsewhere.db") as (_, url):
        registry = f"{url}/confluent"
        ids = [register(registry, version) for version in (1, 2)]
        # What is there is imported; then the producers go on, and register a version that nobody here knows.
        run(tmp_path, "import", "confluent", registry, "--to", store)
        run(tmp_path, "load", "estate.json", "--to", store)
        ids.append(register(registry, 3))
        produce(kafka, written, ids)
        out = run(tmp_path, "sort", "--catalog", store, "--source", source, "--lake", "lake", "--master", "local[2]")
        last = f"read {MESSAGES:,} = landed {len(known):,} + dead {MESSAGES - len(known):,}"
        assert out.splitlines()[-1] == last
        lake = open_lake(tmp_path / "lake")
        landed = rows_of(lake)
        assert landed.keys() == {message.value["id"] for message in known}
        dead = DeltaTable(lake.path(DEAD_LETTERS)).to_pyarrow_table(columns=["reasons"])["reasons"].to_pylist()
        assert collections.Counter(reasons[0]["code"] for reasons in dead) == {"schema_id_unknown": len(dead)}
        assert {len(reasons) for reasons in dead} == {1}
        # The new ids are imported, and the letters land.
        run(tmp_path, "import", "confluent", registry, "--to", store)
        run(tmp_path, "replay", "--catalog", store, "--lake", "lake")
        landed = rows_of(lake)
        wrong = [message for message in written if landed.get(message.value["id"]) != expected(message)]
        assert wrong == []
        assert len(landed) == MESSAGES
        assert list(differences(lake)) == []
        # Another lake knows them at once, because it asks the registry itself.
        run(
            tmp_path, "sort", "--catalog", "estate.json", "--source", source, "--lake", "other",
            "--schema-registry", registry, "--master", "local[2]",
        )  # fmt: skip
        other = rows_of(open_lake(tmp_path / "other"))
    for message in written:
        values = {"heat": 180, "note": "none", **message.value}
        assert other[message.value["id"]] == (message.kind, str(message.version), values)
