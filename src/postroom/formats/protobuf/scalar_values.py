"""Single values as users and Protobuf's JSON write them, turned into what a field takes."""

from __future__ import annotations

import base64
import binascii
import decimal
import math
import re
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

_F = FieldDescriptor
_SMALLEST_TEXT = re.compile(r"-?\d{1,20}(?:\.0+)?\Z", re.ASCII)
_NUMBER_TEXT = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z", re.ASCII)
_NO_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LARGEST_FLOAT = 3.4028235677973366e38
INTEGERS = {
    **dict.fromkeys((_F.TYPE_INT32, _F.TYPE_SINT32, _F.TYPE_SFIXED32), (-(2**31), 2**31 - 1)),
    **dict.fromkeys((_F.TYPE_INT64, _F.TYPE_SINT64, _F.TYPE_SFIXED64), (-(2**63), 2**63 - 1)),
    **dict.fromkeys((_F.TYPE_UINT32, _F.TYPE_FIXED32), (0, 2**32 - 1)),
    **dict.fromkeys((_F.TYPE_UINT64, _F.TYPE_FIXED64), (0, 2**64 - 1)),
}


class Unfit(ValueError):
    """A value that a field does not take; says what it takes."""

    def __init__(self, code: str, expected: str) -> None:
        super().__init__(expected)
        self.code = code
        self.expected = expected


def scalar(field: FieldDescriptor, value: Any) -> Any:
    """The value in the type that a field takes; Unfit otherwise."""
    if field.enum_type is not None:
        return _enum(field.enum_type, value)
    if field.type in INTEGERS:
        return _integer(value, *INTEGERS[field.type])
    return _OTHERS[field.type](value)


def map_key(field: FieldDescriptor, key: Any) -> Any:
    """The key of a map from its text."""
    if field.type == _F.TYPE_BOOL and isinstance(key, str):
        if key not in ("true", "false"):
            raise Unfit("payload_type", "a key of true or false")
        return key == "true"
    return scalar(field, key)


def _integer(value: Any, low: int, high: int) -> int:
    number = _whole(value)
    if number is None:
        raise Unfit("payload_type", "an integer")
    if not low <= number <= high:
        raise Unfit("payload_range", f"an integer from {low} to {high}")
    return number


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, decimal.Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    if isinstance(value, str) and _SMALLEST_TEXT.match(value):
        return int(value.partition(".")[0])
    return None


def _enum(enum: EnumDescriptor, value: Any) -> int:
    if isinstance(value, str) and value in enum.values_by_name:
        number: int = enum.values_by_name[value].number
        return number
    whole = _whole(value)
    if whole is not None and -(2**31) <= whole < 2**31 and (whole in enum.values_by_number or not enum.is_closed):
        return whole
    raise Unfit("payload_enum", "one of " + ", ".join(list(enum.values_by_name)[:10]))


def _double(value: Any) -> float:
    if isinstance(value, str) and value in _NO_NUMBERS:
        return _NO_NUMBERS[value]
    try:
        if isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str) and len(value) < 400 and _NUMBER_TEXT.match(value):
            return float(value)
    except OverflowError:
        raise Unfit("payload_range", "a double") from None
    raise Unfit("payload_type", "a number")


def _float(value: Any) -> float:
    number = _double(value)
    if math.isfinite(number) and abs(number) >= _LARGEST_FLOAT:
        raise Unfit("payload_range", "a float")
    return number


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit("payload_type", "true or false")
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit("payload_type", "text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Unfit("payload_not_text", "text without lone surrogates") from None
    return value


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        plain = value.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        except (binascii.Error, ValueError):
            pass
    raise Unfit("payload_type", "bytes as base64 text")


_OTHERS: dict[int, Callable[[Any], Any]] = {
    _F.TYPE_DOUBLE: _double,
    _F.TYPE_FLOAT: _float,
    _F.TYPE_BOOL: _boolean,
    _F.TYPE_STRING: _string,
    _F.TYPE_BYTES: _bytes,
}
