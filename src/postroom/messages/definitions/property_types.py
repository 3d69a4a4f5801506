"""The types a property of a message may have, and what counts as a value of each (MSG-039 to MSG-044)."""

from __future__ import annotations

import base64
import binascii
import functools
import re
import string
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

NOW = "0000-01-01T00:00:00Z"
_NOW_PREFIXES = ("0000-01-01", "01-01-0000", "0001-01-01")

_SYMBOL = re.compile(r"\A[A-Za-z0-9_]+\Z")
_DURATION = re.compile(r"\AP(?=.)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)\Z", re.ASCII)
_DATE = re.compile(r"\A\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_TIME = re.compile(r"[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)\Z", re.ASCII)
_SCHEME = re.compile(r"\A[A-Za-z][A-Za-z0-9+.\-]*:")
# RFC 3986: one fragment at most, percent signs before two digits only, brackets around the address of a host only.
_IN_URI = r"[A-Za-z0-9\-._~:/?@!$&'()*+,;=]*(?:%[0-9A-Fa-f]{2}[A-Za-z0-9\-._~:/?@!$&'()*+,;=]*)*"
_HOST_ADDRESS = r"(?:[A-Za-z][A-Za-z0-9+.\-]*:)?//(?:[^/?#\[\]@]*@)?\[[0-9A-Fa-fv:.]+\](?=[:/?#]|\Z)"
_URI_REFERENCE = re.compile(rf"(?:{_HOST_ADDRESS})?{_IN_URI}(?:#{_IN_URI})?\Z")
_UNDOUBTED_IN_URI = (string.ascii_letters + string.digits + "-._~:/?@!$&'()*+,;=\n").encode()
_FEW = 8
_UUID = re.compile(r"\A[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_UNSIGNED = re.compile(r"\A\d{1,20}\Z", re.ASCII)
_INTEGER = re.compile(r"\A-?\d{1,10}\Z", re.ASCII)
_NUMBER = re.compile(r"\A-?\d+(\.\d+)?([eE][+-]?\d+)?\Z", re.ASCII)


def is_now(value: Any) -> bool:
    """Whether a timestamp value is one of the spellings of "now" (C-11)."""
    return isinstance(value, str) and value.startswith(_NOW_PREFIXES)


def checker(type_name: str) -> Callable[[Any], bool]:
    """Return the function that checks whether a value of a message has the type; an unknown type accepts any.

    Headers carry strings, so the string forms of booleans and numbers count.
    """
    return _CHECKS.get(type_name.lower(), lambda _value: True)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool) or value in ("true", "false")


def _is_integer(value: Any) -> bool:
    if isinstance(value, str) and _INTEGER.match(value):
        value = int(value)
    # CloudEvents integers have 32 bits (MSG-042).
    return isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _NUMBER.match(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_symbol(value: Any) -> bool:
    return isinstance(value, str) and _SYMBOL.match(value) is not None


def _is_binary(value: Any) -> bool:
    if not isinstance(value, str):
        return isinstance(value, bytes)
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_timestamp(value: Any) -> bool:
    try:
        return _TIME.match(value, 10) is not None and _is_date(value[:10])
    except TypeError:  # no string
        return False


@functools.lru_cache(maxsize=1024)  # a stream names the same few days over and over
def _is_date(value: str) -> bool:
    try:
        return _DATE.match(value) is not None and bool(date.fromisoformat(value))  # 31 April does not exist
    except ValueError:
        return False


def _is_duration(value: Any) -> bool:
    return isinstance(value, str) and _DURATION.match(value) is not None


def _is_unsigned_long(value: Any) -> bool:
    if isinstance(value, str) and _UNSIGNED.match(value):
        value = int(value)
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


def _is_uuid(value: Any) -> bool:
    return isinstance(value, str) and _UUID.match(value) is not None


def _is_uri_reference(value: Any) -> bool:
    return isinstance(value, str) and _URI_REFERENCE.match(value) is not None


def _is_uri(value: Any) -> bool:
    # Producers write `//host/path` where a definition says uri, because CloudEvents sources are references.
    return _is_uri_reference(value) and (_SCHEME.match(value) is not None or value.startswith("//"))


def _is_filled(value: Any) -> bool:
    return bool(value != "")


def _is_source(value: Any) -> bool:
    return isinstance(value, str) and _is_filled_reference(value)


@functools.lru_cache(maxsize=1024)  # a stream names the same few sources over and over
def _is_filled_reference(value: str) -> bool:
    if "{" in value:  # documents print what is to be filled in between braces, and such events are sent as well
        value = value.replace("{", "(").replace("}", ")")
    return value != "" and _URI_REFERENCE.match(value) is not None


def _is_absolute_uri(value: Any) -> bool:
    return _is_uri_reference(value) and _SCHEME.match(value) is not None


def surely_sources(values: Sequence[Any]) -> bool:
    """Whether all values of a column are sources of events without doubt."""
    distinct = set(values)
    try:
        if len(distinct) <= _FEW:
            return all(map(_is_filled_reference, distinct))
        joined = "\n".join(distinct)
    except TypeError:  # something is absent, or no string
        return False
    return joined.isascii() and not joined.encode().translate(None, _UNDOUBTED_IN_URI) and "" not in distinct


# What CloudEvents demands of an attribute in any case, in words and as a check.
EVENT_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "id": ("a string that is not empty", _is_filled),
    "type": ("a string that is not empty", _is_filled),
    "subject": ("a string that is not empty", _is_filled),
    "source": ("a URI-reference that is not empty", _is_source),
    "dataschema": ("an absolute URI", _is_absolute_uri),
}

# The same rules for values that are known to be strings, without a call of a function of ours.
_OF_STRINGS: dict[Callable[[Any], bool] | None, Callable[[Any], Any]] = {
    _is_filled: bool,
    _is_source: _is_filled_reference,
}


def of_strings(rule: Callable[[Any], bool] | None) -> Callable[[Any], Any] | None:
    """A rule for values that are known to be strings: a quicker function that says the same of them."""
    return _OF_STRINGS.get(rule, rule)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "boolean": _is_boolean,
    "integer": _is_integer,
    "number": _is_number,
    "string": _is_string,
    # A template says what the value looks like; without a value any string fits.
    "uritemplate": _is_string,
    "symbol": _is_symbol,
    "binary": _is_binary,
    "timestamp": _is_timestamp,
    "datetime": _is_timestamp,
    "duration": _is_duration,
    "uri": _is_uri,
    "urireference": _is_uri_reference,
    "ulong": _is_unsigned_long,
    "uuid": _is_uuid,
}
