"""What programs hand in as a record: a line, a dict, a row of a DataFrame, what a client library received."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import msgspec

from postroom.errors import RecordRefused
from postroom.protocols.records import Record, parse_record

_PLAIN = (str, int, float, bool, type(None))


def taken_in(value: Any) -> bytes | Record:
    """A record as a line, or taken apart where no line could hold it; RecordRefused says what is wrong with it.

    Dicts may hold bytes where a line has text (payload, key, header values), metadata may be JSON text, and a column
    called `value` may hold the whole record.
    """
    if type(value) is bytes:
        return value
    if isinstance(value, Record):
        return _sound(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, str):
        return _encoded(value)
    if isinstance(value, list):
        return _line(value)  # a batch
    record = _mapping(value)
    if "value" in record and "protocol" not in record and "specversion" not in record:
        return taken_in(record["value"])
    if _is_plain(record):
        return _line(record)
    return _from_parts(record)


def as_record(value: Any) -> Record:
    """What a caller hands in, as a record."""
    taken = taken_in(value)
    return taken if isinstance(taken, Record) else parse_record(taken)


def _sound(record: Record) -> Record:
    if isinstance(record.protocol, str) and isinstance(record.metadata, dict) and isinstance(record.payload, bytes):
        return record
    raise RecordRefused("a Record has a protocol (text), metadata (a dict) and a payload (bytes).")


def _mapping(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if hasattr(value, "asDict"):  # a row of Spark
        value = value.asDict(recursive=True)
    elif hasattr(value, "_asdict"):  # a row of pandas' itertuples, or any named tuple
        value = value._asdict()
    if not isinstance(value, Mapping):
        raise RecordRefused(f"a record is a dict, text or bytes, not {type(value).__name__}.")
    return dict(value)


def _is_plain(record: dict[str, Any]) -> bool:
    """Whether a line says all of it: no bytes, no metadata in JSON text."""
    if "protocol" not in record:
        return True
    metadata = record.get("metadata")
    return (
        isinstance(record.get("payload"), _PLAIN)
        and isinstance(metadata, dict | None)
        and all(_is_plain_member(member) for member in (metadata or {}).values())
    )


def _is_plain_member(member: Any) -> bool:
    if isinstance(member, _PLAIN):
        return True
    if type(member) is dict:
        return all(isinstance(value, _PLAIN) for value in member.values())
    return type(member) is list and all(type(item) is dict and _is_plain_member(item) for item in member)


def _from_parts(record: dict[str, Any]) -> Record:
    """A record with bytes in it."""
    metadata = record.get("metadata") or {}
    if isinstance(metadata, str | bytes):
        metadata = _json(metadata, "metadata")
    if not isinstance(metadata, Mapping):
        raise RecordRefused(f"its metadata is not an object but {type(metadata).__name__}.")
    body = record.get("payload")
    if isinstance(body, bytes | bytearray | memoryview):
        line = _line({"protocol": record["protocol"]})
        return Record(parse_record(line).protocol, _metadata(metadata), bytes(body))
    return parse_record(_line({**record, "metadata": _metadata(metadata)}))


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, member in metadata.items():
        if name == "key" and isinstance(member, bytes) and _text_or_none(member) is None:
            made["key_base64"] = base64.b64encode(member).decode()  # C-12
        else:
            made[name] = _readable(member, name)
    return made


def _readable(member: Any, name: str) -> Any:
    """Values with text in place of bytes; pairs, as client libraries give headers, become objects."""
    if isinstance(member, bytes | bytearray | memoryview):
        text = _text_or_none(bytes(member))
        if text is None:
            raise RecordRefused(f"the bytes of {name!r} are not UTF-8 text.")
        return text
    if isinstance(member, Mapping):
        return {key: _readable(value, f"{name}/{key}") for key, value in member.items()}
    if isinstance(member, list | tuple):
        return [_pair(item, name) for item in member]
    return member


def _pair(item: Any, name: str) -> Any:
    if isinstance(item, tuple) and len(item) == 2:
        key = _readable(item[0], name)
        return {"name": key, "value": _readable(item[1], f"{name}/{key}")}
    return _readable(item, name)


def _text_or_none(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _json(text: str | bytes, name: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RecordRefused(f"its {name} is not JSON: {error}") from None


def _line(record: Any) -> bytes:
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        raise RecordRefused("it holds half of a surrogate pair, which is no text.") from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise RecordRefused(f"it cannot be written as JSON: {error}") from None


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise RecordRefused("it holds half of a surrogate pair, which is no text.") from None
