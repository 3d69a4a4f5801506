"""Logical types: conversions between the plain values of Avro and what columns hold.

`logical_decoder` converts a plain value, `logical_encoder` converts back, also what people write in JSON. Strings are
used where no column type keeps every digit: times of day, times without a zone, nanoseconds, durations.
"""

from __future__ import annotations

import decimal
import math
import re
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeGuard

from postroom.formats.avro import calendar
from postroom.formats.avro.codec.varints import read_long, write_long
from postroom.formats.avro.types import LogicalType
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.show_value import show_value

# Wider decimals have no column of their own and are text.
WIDEST_DECIMAL = 38

_DECIMAL_LIMIT = 10_000
_UNITS = {"millis": 1_000, "micros": 1_000_000, "nanos": 1_000_000_000}
_ON_LONG = {f"{name}-{unit}" for name in ("timestamp", "local-timestamp") for unit in _UNITS} | {"time-micros"}
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\Z")
_DURATION = re.compile(r"P(?:(\d+)M)?(?:(\d+)D)?(?:T(\d+)(?:\.(\d{3}))?S)?\Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()

Conversion = Callable[[Any], Any]


def parse_logical_type(schema: dict[str, Any], type_name: str, size: int) -> LogicalType | None:
    """The logical type on a definition; None where there is none, or one that is to be ignored."""
    name = schema.get("logicalType")
    if name == "decimal" and type_name in ("bytes", "fixed"):
        return _decimal(schema, type_name, size)
    if (
        (type_name == "int" and name in ("date", "time-millis"))
        or (type_name == "long" and isinstance(name, str) and name in _ON_LONG)
        or (type_name == "string" and name == "uuid")
        or (type_name == "bytes" and name == "big-decimal")
        or (type_name == "fixed" and (name, size) in (("duration", 12), ("uuid", 16)))
    ):
        return LogicalType(str(name))
    return None


def _decimal(schema: dict[str, Any], type_name: str, size: int) -> LogicalType | None:
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if not _is_count(precision) or not _is_count(scale) or not 0 < precision <= _DECIMAL_LIMIT or scale > precision:
        return None
    if type_name == "fixed" and precision > math.floor(math.log10(2) * (8 * size - 1)):
        return None
    return LogicalType("decimal", precision, scale)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def logical_decoder(logical: LogicalType, type_name: str) -> Conversion:
    """The function that decodes a plain value; it raises Misfit for values that the logical type does not have."""
    if logical.name == "decimal":
        return _decimal_meaning(logical)
    if logical.name == "uuid":
        return _uuid_of_bytes if type_name == "fixed" else _uuid_text
    if logical.name == "date":
        return _date
    if logical.name == "duration":
        return _duration_text
    if logical.name == "big-decimal":
        return _big_decimal_text
    name, _, unit = logical.name.rpartition("-")
    if name == "time":
        return _time_meaning(_UNITS[unit])
    if name == "timestamp" and unit != "nanos":
        return _timestamp_meaning(_UNITS[unit])
    zone = "Z" if name == "timestamp" else ""
    per_second = _UNITS[unit]
    return lambda ticks: calendar.instant_text(ticks, per_second, zone)


def is_same_logical_type(writer: LogicalType, reader: LogicalType) -> bool:
    """Whether values of one logical type can be had as values of another: the same, or times in other units."""
    return writer == reader or (_unit_of(writer) is not None and _family(writer) == _family(reader))


def resolved_decoder(writer: LogicalType, type_name: str, reader: LogicalType, reader_type_name: str) -> Conversion:
    """The function that decodes a writer's plain value by the reader's logical type, for logical types that mean the
    same."""
    before, after = _unit_of(writer), _unit_of(reader)
    convert = logical_decoder(reader, reader_type_name)
    if before is None or after is None or before == after:
        return convert
    if after > before:
        return lambda ticks: convert(ticks * (after // before))
    step, exactly = before // after, logical_decoder(writer, type_name)
    # A column of points in time has no place for nanoseconds; texts and points in time keep what the writer wrote.
    is_held = before < _UNITS["nanos"] or _family(writer) != "timestamp"

    def coarser(ticks: int) -> Any:
        if ticks % step == 0:
            return convert(ticks // step)
        if is_held:
            return exactly(ticks)
        raise Misfit("payload_precision", f"a time in whole {reader.name.rpartition('-')[2]}", exactly(ticks))

    return coarser


def _unit_of(logical: LogicalType) -> int | None:
    return _UNITS.get(logical.name.rpartition("-")[2])


def _family(logical: LogicalType) -> str:
    return logical.name.rpartition("-")[0]


def logical_encoder(logical: LogicalType, type_name: str, size: int) -> Conversion:
    """The function that encodes a value; Misfit when it has no plain form. Plain values pass through."""
    if logical.name == "decimal":
        return _decimal_plain(logical, size if type_name == "fixed" else None)
    if logical.name == "uuid":
        return _uuid_bytes if type_name == "fixed" else _uuid_plain
    if logical.name == "date":
        return _days
    if logical.name == "duration":
        return _duration_bytes
    if logical.name == "big-decimal":
        return _big_decimal_bytes
    name, _, unit = logical.name.rpartition("-")
    per_second = _UNITS[unit]
    if name == "time":
        return lambda value: calendar.ticks_of_day(value, per_second) if isinstance(value, str) else value
    return lambda value: _ticks(value, per_second)


def _timestamp_meaning(per_second: int) -> Conversion:
    step = 1_000_000 // per_second

    def timestamp(ticks: int) -> datetime | str:
        try:
            return _EPOCH + timedelta(0, 0, ticks * step)
        except OverflowError:
            # A text that no column of timestamps takes: the message becomes a dead letter, and says so readably.
            return calendar.instant_text(ticks, per_second, "Z")

    return timestamp


def _date(days: int) -> date | str:
    try:
        return date.fromordinal(_EPOCH_DAY + days)
    except (ValueError, OverflowError):
        return calendar.date_text(days)


def _days(value: Any) -> Any:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.toordinal() - _EPOCH_DAY
    return calendar.days_of(value) if isinstance(value, str) else value


def _ticks(value: Any, per_second: int) -> Any:
    if isinstance(value, str):
        return calendar.ticks_of(value, per_second)
    if not isinstance(value, datetime):
        return value
    since = (value if value.tzinfo is not None else value.replace(tzinfo=UTC)) - _EPOCH
    micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return micros * per_second // 1_000_000


def _time_meaning(per_second: int) -> Conversion:
    day = 86_400 * per_second

    def time_of_day(ticks: int) -> str:
        if not 0 <= ticks < day:
            raise Misfit("payload_range", "a time of day", f"{ticks} ticks since midnight")
        return calendar.time_text(ticks, per_second)

    return time_of_day


def _uuid_text(text: str) -> str:
    if _UUID.match(text) is None:
        raise Misfit("payload_uuid", "a UUID", show_value(text))
    return text


def _uuid_plain(value: Any) -> Any:
    return _uuid_text(str(value)) if isinstance(value, str | uuid.UUID) else value


def _uuid_of_bytes(raw: bytes) -> str:
    return str(uuid.UUID(bytes=raw))


def _uuid_bytes(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return value.bytes
    return uuid.UUID(value).bytes if isinstance(value, str) and _UUID.match(value) else value


def _decimal_meaning(logical: LogicalType) -> Conversion:
    limit = 10**logical.precision
    # With room for whatever the check lets pass: nothing may be rounded.
    context = decimal.Context(prec=max(logical.precision, 1))
    is_wide = logical.precision > WIDEST_DECIMAL

    def number(raw: bytes) -> decimal.Decimal | str:
        # However long: a small number may have many bytes, and a fixed one has all of its size.
        unscaled = int.from_bytes(raw, "big", signed=True)
        if not -limit < unscaled < limit:
            raise Misfit("payload_precision", f"a number of at most {logical.precision} digits", "longer")
        value = decimal.Decimal(unscaled).scaleb(-logical.scale, context)
        return format(value, "f") if is_wide else value

    return number


def _decimal_plain(logical: LogicalType, size: int | None) -> Conversion:
    limit = 10**logical.precision
    context = decimal.Context(prec=logical.precision + logical.scale + 1, traps=[decimal.InvalidOperation])

    def raw(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float | str | decimal.Decimal):
            return value
        try:
            number = decimal.Decimal(str(value) if isinstance(value, float) else value)
            scaled = number.scaleb(logical.scale, context)
            unscaled = int(scaled)
        except (decimal.DecimalException, ValueError, OverflowError):
            raise Misfit("payload_type", "a decimal number", show_value(value)) from None
        if unscaled != scaled or not -limit < unscaled < limit:
            expected = f"a number of at most {logical.precision} digits, {logical.scale} of them behind the point"
            raise Misfit("payload_precision", expected, show_value(value))
        length = unscaled.bit_length() // 8 + 1 if size is None else size
        return unscaled.to_bytes(length, "big", signed=True)

    return raw


def _big_decimal_text(raw: bytes) -> str:
    try:
        length, start = read_long(raw, 0)
        scale, end = read_long(raw, start + max(length, 0))
    except IndexError:
        raise Misfit("payload_big_decimal", "a big decimal", "cut off") from None
    if length < 0 or end != len(raw) or abs(scale) >= 2**31 or length > _DECIMAL_LIMIT:
        raise Misfit("payload_big_decimal", "a big decimal", f"{len(raw)} other bytes")
    unscaled = int.from_bytes(raw[start : start + length], "big", signed=True)
    digits = decimal.Decimal(unscaled).as_tuple().digits
    return str(decimal.Decimal((int(unscaled < 0), digits, -scale)))


def _big_decimal_bytes(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str | decimal.Decimal):
        return value
    try:
        number = decimal.Decimal(str(value) if isinstance(value, float) else value)
    except decimal.DecimalException:
        raise Misfit("payload_type", "a decimal number", show_value(value)) from None
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or len(digits) > _DECIMAL_LIMIT:
        raise Misfit("payload_type", "a decimal number", show_value(value))
    unscaled = int(decimal.Decimal((sign, digits, 0)))
    raw = unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
    return write_long(len(raw)) + raw + write_long(-exponent)


def _duration_text(raw: bytes) -> str:
    months, days, millis = (int.from_bytes(raw[start : start + 4], "little") for start in (0, 4, 8))
    return f"P{months}M{days}DT{millis // 1000}.{millis % 1000:03}S"


def _duration_bytes(value: Any) -> Any:
    found = _DURATION.match(value) if isinstance(value, str) else None
    if found is None:
        return value
    months, days, seconds, millis = (int(part or 0) for part in found.groups())
    parts = (months, days, seconds * 1000 + millis)
    if max(parts) >= 2**32:
        raise Misfit("payload_range", "a duration of 32 bits each of months, days and milliseconds", value)
    return b"".join(part.to_bytes(4, "little") for part in parts)
