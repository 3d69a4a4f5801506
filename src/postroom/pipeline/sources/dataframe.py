"""Records that came as columns: the columns of the contract, or those of Spark's Kafka connector, as lines of JSON.

This runs in Spark's Python workers and therefore loads nothing of the server.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.errors import BadFlag

FIRST_MOMENT, LAST_MOMENT = -62_135_596_800_000_000, 253_402_300_799_999_999
KAFKA = frozenset({"topic", "partition", "offset", "value"})
RECORD = ("protocol", "metadata", "payload", "payload_base64")
KAFKA_RECORD = ("topic", "partition", "offset", "key", "value", "timestamp", "headers")

# The column in which a frame of ours has the keys that a caller named, and the types such a column may have.
KEY = "record_key"
KEY_TYPES = ("string", "tinyint", "smallint", "int", "bigint")

_encode = msgspec.json.Encoder().encode
_UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_MOST = 2**63 - 1


def holds_records(names: set[str]) -> bool:
    """Whether columns with these names hold records."""
    return names >= KAFKA or "protocol" in names or "value" in names


def check_key(name: str, types: Mapping[str, str]) -> None:
    """Refuse a column that cannot be the key of records, by the types of Spark."""
    if name not in types:
        near = get_close_matches(name, types, n=1)
        raise BadFlag(
            f"there is no column {name!r} to know records by.",
            remedy=f"Did you mean {near[0]!r}?" if near else f"The columns are {', '.join(types)}.",
        )
    if types[name] not in KEY_TYPES:
        raise BadFlag(f"the column {name!r} that records are known by must hold texts or whole numbers.")


def record_columns(names: set[str]) -> tuple[str, ...]:
    """Those of the columns that make the records."""
    if names >= KAFKA:
        return tuple(name for name in KAFKA_RECORD if name in names)
    if "protocol" in names:
        return tuple(name for name in RECORD if name in names)
    return ("value",)


def record_lines(batch: pa.RecordBatch) -> list[bytes]:
    """The records of a batch, each as a line of JSON; a column `value` alone holds such lines already."""
    columns = record_columns(set(batch.schema.names))
    batch = batch.select(list(columns))
    if "timestamp" in columns and "offset" in columns:
        sent = microseconds(batch.column("timestamp"))
        batch = batch.set_column(columns.index("timestamp"), "timestamp", sent)
    rows = batch.to_pylist(maps_as_pydicts="lossy")
    return [_reader(columns)(row) for row in rows]


def _reader(columns: tuple[str, ...]) -> Callable[[dict[str, Any]], bytes]:
    if "offset" in columns:
        return _kafka_line
    return _record_line if "protocol" in columns else lambda row: _bytes(row["value"])


def kafka_metadata(
    topic: str,
    partition: int,
    key: bytes | str | None,
    headers: Iterable[tuple[str, bytes | str | None]],
    sent: int | None = None,
) -> dict[str, Any]:
    """The metadata of a record of Kafka's columns; `sent` is its timestamp in microseconds since 1970."""
    metadata: dict[str, Any] = {"topic": topic, "partition": partition}
    if key is not None:
        metadata |= _text_or_base64("key", key)
    if sent is not None:
        # Kafka counts milliseconds; whoever made finer times keeps them.
        is_fine = sent % 1000 and FIRST_MOMENT <= sent <= LAST_MOMENT
        metadata["timestamp"] = _finely(sent) if is_fine else sent // 1000
    pairs = [header_pair(name, value) for name, value in headers]
    if pairs:
        metadata["headers"] = pairs
    return metadata


def header_pair(name: str, value: bytes | str | None) -> dict[str, str | None]:
    """A header of a record; one whose bytes are no text is shown, and kept as base64."""
    if not isinstance(value, bytes):
        return {"name": name, "value": value}
    try:
        return {"name": name, "value": value.decode()}
    except UnicodeDecodeError:
        return {"name": name, "value": header_value(value), "value_base64": base64.b64encode(value).decode()}


def microseconds(moments: pa.Array) -> pa.Array:
    """A column of timestamps as microseconds since 1970; whole numbers are milliseconds, as Kafka counts them.

    Null for what is no time, and for one too far away to be counted.
    """
    data_type = moments.type
    if pa.types.is_timestamp(data_type) and data_type.unit == "ns":
        return moments.cast(pa.timestamp("us", data_type.tz), safe=False).cast(pa.int64())
    if not (pa.types.is_timestamp(data_type) or pa.types.is_integer(data_type)):
        return pa.nulls(len(moments), pa.int64())
    if pa.types.is_uint64(data_type):
        moments = pc.min_element_wise(moments, pa.scalar(_MOST, data_type))
    counts, unit = moments.cast(pa.int64()), _UNITS[data_type.unit] if pa.types.is_timestamp(data_type) else 1000
    is_near = pc.and_(pc.less_equal(counts, _MOST // unit), pc.greater_equal(counts, -(_MOST // unit)))
    return pc.multiply(pc.if_else(is_near, counts, pa.scalar(None, pa.int64())), unit)


def are_moments(moments: pa.Array) -> bool:
    """Whether columns can hold all of these microseconds since 1970: times before are no times of Kafka's."""
    found = pc.min_max(moments).as_py()
    return moments.null_count == len(moments) or bool(found["min"] >= 0 and found["max"] <= LAST_MOMENT)


def _finely(sent: int) -> str:
    moment = datetime(1970, 1, 1) + timedelta(microseconds=sent)  # noqa: DTZ001 - written as UTC
    return f"{moment.isoformat(timespec='microseconds')}Z"


def kafka_line(metadata: dict[str, Any], value: bytes | str | None) -> bytes:
    """A record of Kafka's columns as a line of JSON."""
    return _encode({"protocol": "KAFKA", "metadata": metadata, **_text_or_base64("payload", value)})


def _kafka_line(row: dict[str, Any]) -> bytes:
    headers = ((header["key"], header["value"]) for header in row.get("headers") or ())
    metadata = kafka_metadata(row["topic"], row["partition"], row.get("key"), headers, row.get("timestamp"))
    return kafka_line(metadata, row["value"])


def _record_line(row: dict[str, Any]) -> bytes:
    record: dict[str, Any] = {"protocol": row["protocol"]} if row["protocol"] is not None else {}
    metadata = row.get("metadata")
    if isinstance(metadata, str):
        # JSON text goes in as it is; what is no JSON makes a line that is no record, which is the truth.
        record["metadata"] = msgspec.Raw(metadata.encode())
    elif metadata is not None:
        record["metadata"] = _present(_with_text_key(metadata))
    if row.get("payload") is not None:
        record |= _text_or_base64("payload", row["payload"])
    if row.get("payload_base64") is not None:
        record["payload_base64"] = row["payload_base64"]
    if not record.keys() - {"payload"} and "payload" in record:
        return _bytes(row["payload"])
    return _encode(record)


def _with_text_key(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata with a key of bytes as text, or in base64 where it is none (C-12)."""
    key = metadata.get("key")
    if not isinstance(key, bytes):
        return metadata
    return {name: value for name, value in metadata.items() if name != "key"} | _text_or_base64("key", key)


def _present(value: Any) -> Any:
    """A struct has all its members in every row: those that are null were not there."""
    if isinstance(value, dict):
        return {name: _present(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_present(item) for item in value]
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def _text_or_base64(name: str, value: bytes | str | None) -> dict[str, str]:
    if value is None:
        return {}
    try:
        return {name: value if isinstance(value, str) else value.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(_bytes(value)).decode()}


def header_value(value: bytes | str | None) -> str:
    """The text of a header; bytes that are none are shown."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value or ""


def _bytes(value: bytes | str | None) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value or b"")
