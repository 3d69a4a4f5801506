"""The well-known types of Protobuf, as the plain values their JSON form has."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

_PREFIX = "google.protobuf."
WRAPPERS = frozenset(
    _PREFIX + f"{wrapped}Value"
    for wrapped in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
TIMESTAMP, DURATION, FIELD_MASK = _PREFIX + "Timestamp", _PREFIX + "Duration", _PREFIX + "FieldMask"
STRUCT, VALUE, LIST_VALUE, ANY = _PREFIX + "Struct", _PREFIX + "Value", _PREFIX + "ListValue", _PREFIX + "Any"
FREE_FORM = frozenset((STRUCT, VALUE, LIST_VALUE, ANY))
NAMES = WRAPPERS | FREE_FORM | {TIMESTAMP, DURATION, FIELD_MASK}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS = _FIRST, _LAST = -62_135_596_800, 253_402_300_799
LONGEST = 315_576_000_000
NANOS = 1_000_000_000
_DURATION = re.compile(r"(?P<sign>-?)(?P<seconds>\d{1,12})(?:\.(?P<fraction>\d{1,9}))?s\Z", re.ASCII)
_MOMENT = re.compile(
    r"(?P<whole>\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))?(?P<zone>[Zz]|[+-]\d\d:\d\d)\Z", re.ASCII
)


class OutOfRange(ValueError):
    """A point in time or a span that its type does not allow."""


def timestamp_text(message: Any) -> str:
    """A Timestamp in RFC 3339, with as many digits as it needs: none, 3, 6 or 9."""
    seconds, nanos = message.seconds, message.nanos
    if not (_FIRST <= seconds <= _LAST and 0 <= nanos < NANOS):
        raise OutOfRange(f"{seconds} s and {nanos} ns since 1970")
    moment = _EPOCH + timedelta(seconds=seconds)
    return f"{moment.isoformat()[:19]}{_fraction(nanos)}Z"


def timestamp_parts(value: Any) -> tuple[int, int]:
    """The seconds and nanoseconds of RFC 3339 text or of a datetime."""
    if isinstance(value, datetime):
        value = (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    found = _MOMENT.match(value) if isinstance(value, str) else None
    if found is None:
        raise OutOfRange(str(value))
    zone = "+00:00" if found["zone"] in "Zz" else found["zone"]
    try:
        span = datetime.fromisoformat(found["whole"].upper() + zone) - _EPOCH
    except (ValueError, OverflowError):
        raise OutOfRange(value) from None
    seconds = span.days * 86_400 + span.seconds
    if not _FIRST <= seconds <= _LAST:
        raise OutOfRange(value)
    return seconds, int((found["fraction"] or "").ljust(9, "0"))


def duration_text(message: Any) -> str:
    """A Duration as its JSON text, such as 1.5s."""
    seconds, nanos = message.seconds, message.nanos
    if abs(seconds) > LONGEST or abs(nanos) >= NANOS or (seconds < 0 < nanos) or (nanos < 0 < seconds):
        raise OutOfRange(f"{seconds} s and {nanos} ns")
    sign = "-" if seconds < 0 or nanos < 0 else ""
    return f"{sign}{abs(seconds)}{_fraction(abs(nanos))}s"


def duration_parts(value: Any) -> tuple[int, int]:
    """The seconds and nanoseconds of a Duration's JSON text."""
    found = _DURATION.match(value) if isinstance(value, str) else None
    if found is None or int(found["seconds"]) > LONGEST:
        raise OutOfRange(str(value))
    sign = -1 if found["sign"] else 1
    return sign * int(found["seconds"]), sign * int((found["fraction"] or "").ljust(9, "0"))


def snake(path: str) -> str:
    """A path of a FieldMask from its JSON spelling."""
    return re.sub("[A-Z]", lambda found: "_" + found[0].lower(), path)


def struct_value(message: Any) -> dict[str, Any]:
    """A Struct as a JSON object."""
    return {key: free_value(member) for key, member in message.fields.items()}


def list_value(message: Any) -> list[Any]:
    """A ListValue as a JSON array."""
    return [free_value(item) for item in message.values]


def free_value(message: Any) -> Any:
    """A Value as a JSON value; numbers that JSON does not have become texts."""
    member = message.WhichOneof("kind")
    if member == "number_value":
        return _plain_number(message.number_value)
    if member == "struct_value":
        return struct_value(message.struct_value)
    if member == "list_value":
        return list_value(message.list_value)
    return getattr(message, member) if member in ("string_value", "bool_value") else None


def _plain_number(number: float) -> Any:
    if number != number or number in (float("inf"), float("-inf")):
        return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _fraction(nanos: int) -> str:
    if not nanos:
        return ""
    digits = f"{nanos:09}"
    for length in (3, 6):
        if not digits[length:].strip("0"):
            return "." + digits[:length]
    return "." + digits
