from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from postroom.pipeline.sources.dataframe import record_columns, record_lines

ALARM = {"topic_name": "vehicles/VIN1/alarm"}


def lines(rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> list[Any]:
    return [json.loads(line) for line in record_lines(pa.RecordBatch.from_pylist(rows, schema=schema))]


METADATA = [
    pytest.param(pa.struct([("topic_name", pa.string()), ("qos", pa.int64())]), ALARM, id="struct"),
    pytest.param(pa.map_(pa.string(), pa.string()), ALARM, id="map"),
    pytest.param(pa.string(), json.dumps(ALARM), id="JSON text"),
]


@pytest.mark.parametrize(("kind", "metadata"), METADATA)
@pytest.mark.parametrize("payload", [pa.string(), pa.binary()])
def test_metadata_and_payload_come_in_several_types(kind: pa.DataType, metadata: Any, payload: pa.DataType) -> None:
    schema = pa.schema([("protocol", pa.string()), ("metadata", kind), ("payload", payload)])
    row = {"protocol": "MQTT/5.0", "metadata": metadata, "payload": b"{}" if payload == pa.binary() else "{}"}
    assert lines([row], schema) == [{"protocol": "MQTT/5.0", "metadata": ALARM, "payload": "{}"}]


def test_bytes_that_are_no_text_become_base64() -> None:
    assert lines([{"protocol": "NATS", "payload": b"\xff\x00"}]) == [{"protocol": "NATS", "payload_base64": "/wA="}]
    row = {"protocol": "NATS", "payload_base64": "/wA="}
    assert lines([row]) == [row]


def test_a_row_without_a_protocol_is_its_payload() -> None:
    schema = pa.schema([("protocol", pa.string()), ("payload", pa.string())])
    event = {"specversion": "1.0", "id": "1"}
    assert lines([{"protocol": None, "payload": json.dumps(event)}], schema) == [event]


def test_rows_of_the_kafka_connector_are_kafka_records() -> None:
    header = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    schema = pa.schema(
        [
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("us")),
            ("headers", header),
        ]
    )
    row = {"key": b"VIN1", "value": b"{}", "topic": "fleet", "partition": 2, "offset": 7}
    rows = [
        row | {"headers": [{"key": "ce_id", "value": b"1"}]},
        row | {"key": b"\xff", "value": None, "headers": None},
    ]
    assert lines(rows, schema) == [
        {
            "protocol": "KAFKA",
            "metadata": {
                "topic": "fleet",
                "partition": 2,
                "key": "VIN1",
                "headers": [{"name": "ce_id", "value": "1"}],
            },
            "payload": "{}",
        },
        {"protocol": "KAFKA", "metadata": {"topic": "fleet", "partition": 2, "key_base64": "/w=="}},
    ]
    assert "timestamp" in record_columns(set(schema.names))


FINE = 1_700_000_000_123_456
TIMES = [
    (pa.array([FINE // 1000]), FINE // 1000),
    (pa.array([5], pa.int32()), 5),
    (pa.array([FINE // 10**6], pa.timestamp("s")), FINE // 10**6 * 1000),
    (pa.array([FINE], pa.timestamp("us", "UTC")), "2023-11-14T22:13:20.123456Z"),
    (pa.array([FINE * 1000 + 789], pa.timestamp("ns")), "2023-11-14T22:13:20.123456Z"),
    (pa.array([10**18 + 1], pa.timestamp("us")), 10**15),  # after the year 9999
    (pa.array([-(10**18) - 1], pa.timestamp("us")), -(10**15) - 1),
    (pa.array([FINE * 1000]), None),  # nanoseconds where milliseconds should be
    (pa.array([-(2**63)]), None),
    (pa.array([2**64 - 1], pa.uint64()), None),
    (pa.array([10**17], pa.timestamp("s")), None),
    (pa.array([1.7e12]), None),
    (pa.array(["2023-11-14T22:13:20Z"]), None),
    (pa.nulls(1), None),
]


@pytest.mark.parametrize(("timestamps", "shown"), TIMES)
def test_no_time_of_a_record_stops_the_others(timestamps: pa.Array, shown: Any) -> None:
    batch = pa.RecordBatch.from_pydict(
        {"topic": ["fleet"], "partition": [2], "offset": [7], "value": [b"{}"], "timestamp": timestamps}
    )
    (line,) = map(json.loads, record_lines(batch))
    assert line["metadata"] == {"topic": "fleet", "partition": 2} | ({} if shown is None else {"timestamp": shown})


@pytest.mark.parametrize("value", ["{}", b"{}"])
def test_a_column_value_holds_lines(value: Any) -> None:
    assert lines([{"value": value}]) == [{}]
