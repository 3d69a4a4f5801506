"""`postroom sort` from a real Kafka: what an ordinary client produced lands once, also when the broker restarts."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from deltalake import DeltaTable

from postroom.pipeline.lake.lake import open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.sources.record_ids import digest_of
from tests.brokers import Broker, free_port

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

TOPIC = "fleet.positions"
PROVIDER = "org.apache.kafka.common.config.provider.FileConfigProvider"
POSITION = "/messagegroups/fleet/messages/position"
CATALOG = {
    "messagegroups": {
        "fleet": {
            "messages": {
                "position": {
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {
                        "type": {"value": "fleet.position"},
                        "source": {"type": "uritemplate", "value": "/vehicles/{vin}"},
                    },
                    "protocol": "KAFKA",
                    "protocoloptions": {"topic": TOPIC, "key": {"type": "uritemplate", "value": "{vin}"}},
                    "dataschemaformat": "JsonSchema/draft-07",
                    "dataschema": {"type": "object", "properties": {"speed": {"type": "integer"}}},
                }
            }
        }
    }
}


def produce(broker: Broker, numbers: range, topic: str = TOPIC) -> None:
    """Events in binary mode, attributes as headers; one in ten has a speed that is no number."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.address})
    for number in numbers:
        vin = f"VIN{number % 7}"
        attributes = {"specversion": "1.0", "id": f"e{number}", "type": "fleet.position", "source": f"/vehicles/{vin}"}
        headers = [(f"ce_{name}", value.encode()) for name, value in attributes.items()]
        speed: Any = "fast" if number % 10 == 0 else number
        producer.produce(
            topic,
            key=vin.encode(),
            value=json.dumps({"speed": speed}).encode(),
            headers=[*headers, ("content-type", b"application/json")],
        )
    assert producer.flush(60) == 0


def start(folder: Path, source: str, *options: str) -> subprocess.Popen[str]:
    (folder / "catalog.json").write_text(json.dumps(CATALOG))
    command = [sys.executable, "-m", "postroom", "sort", "--catalog", "catalog.json", "--source", source]
    command += ["--lake", "lake", "--master", "local[2]", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_so_far(folder: Path) -> int:
    return sum(entry.read for entry in read_ledger(open_lake(folder / "lake"))) if (folder / "lake").exists() else 0


def wait_for(process: subprocess.Popen[str], condition: Callable[[], bool]) -> None:
    for _ in range(1200):
        if condition():
            return
        if process.poll() is not None:
            raise AssertionError(process.communicate())
        time.sleep(0.2)
    raise AssertionError("nothing came of it")


@pytest.fixture
def metrics() -> str:
    return f"http://127.0.0.1:{free_port()}/metrics"


@pytest.fixture
def followed(kafka: Broker, tmp_path: Path, metrics: str) -> Iterator[subprocess.Popen[str]]:
    produce(kafka, range(100))
    port = metrics.removesuffix("/metrics").rpartition(":")[2]
    process = start(tmp_path, f"kafka://{kafka.address}/{TOPIC}", "--follow", "--every", "0.5", "--metrics-port", port)
    yield process
    process.kill()
    process.wait()


def test_a_topic_is_followed_over_a_restart_of_the_broker(
    kafka: Broker, tmp_path: Path, followed: subprocess.Popen[str], metrics: str
) -> None:
    wait_for(followed, lambda: read_so_far(tmp_path) == 100)
    name, up = f"kafka://{kafka.address}/{TOPIC}", f'source_up{{source="kafka://{kafka.address}/{TOPIC}"}}'
    kafka.stop()
    wait_for(followed, lambda: f"{up} 0" in httpx.get(metrics).text)
    kafka.start()
    wait_for(followed, lambda: f"{up} 1" in httpx.get(metrics).text)
    produce(kafka, range(100, 200))
    wait_for(followed, lambda: read_so_far(tmp_path) == 200)
    followed.send_signal(signal.SIGTERM)
    output, errors = followed.communicate(timeout=120)
    assert (followed.returncode, output.splitlines()[-1]) == (0, "read 200 = landed 180 + dead 20"), errors
    warnings = [json.loads(line)["message"] for line in errors.splitlines() if '"warning"' in line]
    assert warnings[0] == f"{name} is away, and waited for: it does not answer."
    assert re.fullmatch(rf"{re.escape(name)} is back after \d+ s", warnings[1])
    lake = open_lake(tmp_path / "lake")
    assert list(differences(lake)) == []
    rows = DeltaTable(lake.path("fleet/position")).to_pyarrow_table().to_pylist()
    assert len({row["ce_id"] for row in rows}) == len({row["_record_id"] for row in rows}) == 180
    assert {row["_source"] for row in rows} == {f"kafka://{kafka.address}/{TOPIC}/0"}
    assert {row["var_vin"] for row in rows} == {f"VIN{number}" for number in range(7)}

    # The same topic again, from where the other process stopped, and to its end.
    produce(kafka, range(200, 210))
    checkpoint = str(next((tmp_path / "lake" / "_checkpoints").iterdir()))
    dry = start(tmp_path, f"kafka://{kafka.address}/{TOPIC}", "--checkpoint", checkpoint, "--dry-run", "--json")
    output, errors = dry.communicate(timeout=300)
    told = json.loads(output)
    assert told["parts"] == [{"name": f"{TOPIC}/0", "bytes": 0, "first": 200, "end": 210}], errors
    assert (told["judged"], told["is_all"], [one["rows"] for one in told["landed"]]) == (10, True, [9])
    assert [(one["outcome"], one["reason"], one["letters"]) for one in told["dead"]] == [("invalid", "payload_type", 1)]
    dry = start(tmp_path, f"kafka://{kafka.address}/{TOPIC}", "--dry-run", "--sample", "30")
    output, errors = dry.communicate(timeout=300)
    last = "Judged 30 messages, a sample: 27 would land, 3 would be dead. Nothing was written."
    assert (dry.returncode, output.splitlines()[-1]) == (0, last), errors
    again = start(tmp_path, f"kafka://{kafka.address}/{TOPIC}", "--checkpoint", checkpoint)
    output, errors = again.communicate(timeout=300)
    assert (again.returncode, output.splitlines()[-1]) == (0, "read 10 = landed 9 + dead 1"), errors

    # By another name of the broker, with one more topic, by a pattern: only when told that it is the same.
    renamed = f"kafka://localhost:{kafka.port}/?subscribePattern=fleet%5C.(positions|more)"
    refused = start(tmp_path, renamed, "--checkpoint", checkpoint)
    _, errors = refused.communicate(timeout=300)
    assert (refused.returncode, "belongs to another source" in errors, "--rebind" in errors) == (2, True, True), errors
    produce(kafka, range(300, 305), "fleet.more")
    rebound = start(tmp_path, renamed, "--checkpoint", checkpoint, "--rebind")
    output, errors = rebound.communicate(timeout=300)
    assert (rebound.returncode, output.splitlines()[-1]) == (0, "read 5 = landed 0 + dead 5"), errors

    # And all of it once more, by another name of the broker: the records are known by their cluster.
    # What must be secret may stand in a file.
    (tmp_path / "kafka.properties").write_text("how = PLAINTEXT\n")
    secret = "config.providers=file&config.providers.file.class=" + PROVIDER
    secret += f"&security.protocol=${{file:{tmp_path}/kafka.properties:how}}"
    other = start(tmp_path, f"kafka://localhost:{kafka.port}/{TOPIC}?{secret}")
    output, errors = other.communicate(timeout=300)
    assert (other.returncode, output.splitlines()[-1]) == (0, "read 210 = landed 189 + dead 21"), errors
    rows = DeltaTable(lake.path("fleet/position")).to_pyarrow_table().to_pylist()
    assert (len(rows), len({row["_source"] for row in rows})) == (378, 2)
    assert len({(row["ce_id"], row["_record_id"]) for row in rows}) == 189
    assert not any(row["_record_id"].startswith(digest_of(f"kafka://{TOPIC}/0")) for row in rows)


def test_a_broker_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    process = start(tmp_path, "kafka://127.0.0.1:1/orders")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert errors.splitlines() == [
        "postroom: kafka://127.0.0.1:1: no broker answers there. Is it running, and is the port right?"
    ]
    assert output == ""
    assert not (tmp_path / "lake").exists()
