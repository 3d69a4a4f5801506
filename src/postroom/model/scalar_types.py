"""Scalar types: which JSON values each accepts, and the normal form of timestamps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

Check = Callable[[Any], str]

_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,12}))?([Zz]|[+-]\d{2}:\d{2})?\Z",
    re.ASCII,
)
_URI = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%{}|^\u0080-\U0010ffff]*\Z")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_TEMPLATE = re.compile(r"(?:[^{}]|\{[+#./;?&=,!@|]?[A-Za-z0-9_.%,:*~\-]+\})*\Z")


def normal_timestamp(string: str) -> str | None:
    """Convert an RFC 3339 timestamp to UTC with `Z`; None when the string is none."""
    found = _TIMESTAMP.match(string)
    if found is None:
        return None
    date, time, fraction, offset = found.groups()
    zone = "+00:00" if offset is None or offset in "Zz" else offset
    try:
        instant = datetime.fromisoformat(f"{date}T{time}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    digits = (fraction or "").rstrip("0")
    return instant.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + (f".{digits}" if digits else "") + "Z"


def same_value(left: Any, right: Any) -> bool:
    """Whether two values are equal for enum, equals and matchversions: strings are compared ignoring case.

    rc3 had an aspect for it, off by default; rc4 removed the aspect and says so of `ifvalues` and filters only.
    """
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    return bool(left == right)


def is_among(value: Any, allowed: Iterable[Any]) -> bool:
    """Whether a value equals one of the allowed ones, ignoring case."""
    return any(value == one or same_value(value, one) for one in allowed)


def _is(python_type: type, word: str) -> Check:
    def check(value: Any) -> str:
        fits = isinstance(value, python_type) and not (python_type is int and isinstance(value, bool))
        return "" if fits else f"must be {word}"

    return check


def _decimal(value: Any) -> str:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if fits else "must be a number"


def _integer(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return ""
    return _is(int, "a whole number")(value)


def _uinteger(value: Any) -> str:
    return _integer(value) or ("" if value >= 0 else "must not be negative")


def _timestamp(value: Any) -> str:
    fits = isinstance(value, str) and normal_timestamp(value) is not None
    return "" if fits else "must be an RFC 3339 timestamp"


def _uri(value: Any) -> str:
    fits = isinstance(value, str) and _URI.match(value) is not None
    return "" if fits else "must be a URI reference"


def _absolute(value: Any) -> str:
    return _uri(value) or ("" if _SCHEME.match(value) else "must be an absolute URI")


def _relative(value: Any) -> str:
    return _uri(value) or ("must be a relative reference" if _SCHEME.match(value) else "")


def _template(value: Any) -> str:
    fits = isinstance(value, str) and _TEMPLATE.match(value) is not None
    return "" if fits else "must be an RFC 6570 template"


def _path(value: Any) -> str:
    fits = isinstance(value, str) and value.startswith("/")
    return "" if fits else "must be a path that starts with '/'"


CHECKS: dict[str, Check] = {
    "boolean": _is(bool, "true or false"),
    "decimal": _decimal,
    "integer": _integer,
    "string": _is(str, "a string"),
    "timestamp": _timestamp,
    "uinteger": _uinteger,
    "uri": _uri,
    "uriabsolute": _absolute,
    "urirelative": _relative,
    "uritemplate": _template,
    "url": _uri,
    "urlabsolute": _absolute,
    "urlrelative": _relative,
    "xid": _path,
    "xidtype": _path,
}


def scalar_error(type_name: str, value: Any) -> str:
    """Why a value is not of a scalar type; empty when it is."""
    return CHECKS[type_name](value)
