"""The primitive types: which JSON values they allow, and the Python values they are decoded to."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from typing import Any

from postroom.formats.column_types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION_TEXT,
    INT64,
    JSON_TEXT,
    STRING,
    TIMESTAMP_TEXT,
    ColumnType,
    Decimal,
)
from postroom.formats.jsonstructure.validation.string_types import ENCODINGS, STRING_TYPES

REFUSED: Any = object()

# Decodes a JSON value, or returns REFUSED.
Reader = Callable[[Any], Any]

# Integers that JSON numbers carry, and those that travel as text because JSON numbers lose them.
INTEGERS = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
}
LONG_INTEGERS = {
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
    "int128": (-(2**127), 2**127 - 1),
    "uint128": (0, 2**128 - 1),
}
FLOATS = {"float": 3.4028235677973366e38, "float8": math.inf, "double": math.inf, "number": math.inf}
NUMERIC = frozenset((*INTEGERS, *LONG_INTEGERS, *FLOATS, "decimal"))
PRIMITIVES = frozenset((*NUMERIC, *STRING_TYPES, "string", "boolean", "null", "binary"))
COMPOUNDS = frozenset(("object", "array", "set", "map", "tuple", "any", "choice"))

DEFAULT_PRECISION, DEFAULT_SCALE = 34, 7
_WIDEST = 38
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(?:\.([0-9]+))?")


def digits(rules: dict[str, Any]) -> tuple[int, int, int]:
    """What a decimal may have: digits in all, before the point, and behind it."""
    precision, scale = rules.get("precision"), rules.get("scale")
    if precision is not None and scale is None:
        return precision, precision, DEFAULT_SCALE
    scale = DEFAULT_SCALE if scale is None else scale
    precision = max(DEFAULT_PRECISION, scale) if precision is None else precision
    return precision, precision - scale, scale


def column(name: str, rules: dict[str, Any]) -> ColumnType:
    """The column of a primitive type."""
    if name == "decimal":
        _, before, behind = digits(rules)
        return Decimal(max(before + behind, 1), behind) if before + behind <= _WIDEST else STRING
    return _COLUMNS.get(name, STRING)


_COLUMNS: dict[str, ColumnType] = {
    **dict.fromkeys(INTEGERS, INT64),
    **dict.fromkeys(FLOATS, DOUBLE),
    "int64": INT64,
    "uint64": Decimal(20, 0),
    "boolean": BOOLEAN,
    "date": DATE,
    "datetime": TIMESTAMP_TEXT,
    "duration": DURATION_TEXT,
    "binary": BINARY,
    "null": JSON_TEXT,
}


def reader(name: str, rules: dict[str, Any]) -> tuple[Reader, str]:
    """The function that reads JSON values of a primitive type, and what it expects, in words."""
    if name in INTEGERS:
        return _integer(*INTEGERS[name]), f"an integer of type {name}"
    if name in LONG_INTEGERS:
        return _long_integer(name), f"an {name} as text"
    if name in FLOATS:
        return _float(FLOATS[name], exact=name == "number"), "a number" if name == "number" else f"a {name} number"
    if name in STRING_TYPES:
        return _text(STRING_TYPES[name][0]), STRING_TYPES[name][1]
    if name == "decimal":
        return _decimal(rules), _decimal_words(rules)
    if name == "binary":
        encoding = rules.get("contentEncoding", "base64")
        return _binary(encoding), f"bytes as {encoding} text"
    return _PLAIN[name]


def _integer(low: int, high: int) -> Reader:
    def read(value: Any) -> Any:
        return value if type(value) is int and low <= value <= high else REFUSED

    return read


def _long_integer(name: str) -> Reader:
    low, high = LONG_INTEGERS[name]
    # 128 bits need 39 digits and columns hold 38: these stay text.
    keep = high.bit_length() > 64

    def read(value: Any) -> Any:
        if type(value) is not str or len(value) > 40:
            return REFUSED
        try:
            number = int(value)
        except ValueError:
            return REFUSED
        # Python reads more spellings than JSON has.
        if str(number) != value and (value != "-0" or low == 0):
            return REFUSED
        return (value if keep else number) if low <= number <= high else REFUSED

    return read


def _float(most: float, *, exact: bool) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not int and type(value) is not float:
            return REFUSED
        try:
            number = float(value)
        except OverflowError:
            return REFUSED
        if not -most <= number <= most or number - number != 0:
            return REFUSED
        return value if exact else number

    return read


def _decimal_words(rules: dict[str, Any]) -> str:
    total, before, behind = digits(rules)
    return f"a decimal as text with at most {min(total, before + behind)} digits, {behind} of them behind the point"


def _decimal(rules: dict[str, Any]) -> Reader:
    total, before, behind = digits(rules)
    keep = before + behind > _WIDEST

    def read(value: Any) -> Any:
        found = _DECIMAL.fullmatch(value) if type(value) is str else None
        if found is None:
            return REFUSED
        whole, fraction = found[1].lstrip("0"), (found[2] or "").rstrip("0")
        if len(whole) > before or len(fraction) > behind or len(whole) + len(fraction) > total:
            return REFUSED
        return value if keep else decimal.Decimal(value)

    return read


def _text(is_one: Callable[[str], bool]) -> Reader:
    def read(value: Any) -> Any:
        return value if type(value) is str and is_one(value) else REFUSED

    return read


def _binary(encoding: str) -> Reader:
    decode = ENCODINGS[encoding][0]

    def read(value: Any) -> Any:
        if type(value) is not str:
            return REFUSED
        try:
            return decode(value)
        except ValueError:
            return REFUSED

    return read


_PLAIN: dict[str, tuple[Reader, str]] = {
    "string": (lambda value: value if type(value) is str else REFUSED, "text"),
    "boolean": (lambda value: value if type(value) is bool else REFUSED, "a boolean"),
    "null": (lambda value: None if value is None else REFUSED, "null"),
}
