"""The types that are written as JSON strings, and their syntax."""

from __future__ import annotations

import base64
import binascii
import calendar
import datetime
import re
from collections.abc import Callable

_DATE = r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?"
_OFFSET = r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_FULL_DATE = re.compile(_DATE, re.ASCII)
_DATE_TIME = re.compile(f"{_DATE}[Tt]{_CLOCK}{_OFFSET}", re.ASCII)
# The offset is optional: Core asked for plain times until its revision 02, and writers still send them.
_TIME = re.compile(f"{_CLOCK}{_OFFSET}?", re.ASCII)
_DURATION = re.compile(
    r"P(?:\d+W|(?=[\dT])(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)", re.ASCII
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# One colon-free first segment or a scheme; then only characters of RFC 3986 and whole percent signs.
_URI = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*:|(?![^/?#]*:))"
    r"(?:[A-Za-z0-9._~:/?@!$&'()*+,;=\[\]-]|%[0-9A-Fa-f]{2})*"
    r"(?:#(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?"
)
_POINTER = re.compile(r"#?(?:/(?:[^~/]|~[01])*)*")
_from_iso = datetime.datetime.fromisoformat


def is_date(text: str) -> bool:
    """Whether a text is a calendar date of RFC 3339."""
    found = _FULL_DATE.fullmatch(text)
    return found is not None and _exists(found)


def is_datetime(text: str) -> bool:
    """Whether a text is a point in time of RFC 3339."""
    # The usual spelling needs no regular expression: positions 10 and 19, then 7 and 16.
    if text[10::9] == "TZ" and text[7:17:9] == "-:":
        try:
            _from_iso(text)
        except ValueError:
            pass
        else:
            return True
    found = _DATE_TIME.fullmatch(text)
    return found is not None and _exists(found)


def is_time(text: str) -> bool:
    """Whether a text is a time of day, with or without an offset."""
    return _TIME.fullmatch(text) is not None


def is_duration(text: str) -> bool:
    """Whether a text is a duration of RFC 3339, fractions of a second included."""
    return _DURATION.fullmatch(text) is not None


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID in the hyphenated form of RFC 9562."""
    return _UUID.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """Whether a text is a URI reference, absolute or relative."""
    return _URI.fullmatch(text) is not None


def is_pointer(text: str) -> bool:
    """Whether a text is a JSON pointer, plain or as a fragment."""
    return _POINTER.fullmatch(text) is not None


def _exists(found: re.Match[str]) -> bool:
    day = int(found["day"])
    if day <= 28:
        return True
    year = int(found["year"])
    # The year 0 was a leap year in the proleptic calendar; `calendar` starts with year 1.
    return day <= calendar.monthrange(year or 4, int(found["month"]))[1]


Decode = Callable[[str], bytes]
Encode = Callable[[bytes], bytes]


def _base64url(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _base64(text: str) -> bytes:
    return binascii.a2b_base64(text.encode("ascii"), strict_mode=True)


# What `contentEncoding` names: from text, to text.
ENCODINGS: dict[str, tuple[Decode, Encode]] = {
    "base64": (_base64, base64.b64encode),
    "base64url": (_base64url, base64.urlsafe_b64encode),
    "base16": (lambda text: base64.b16decode(text, casefold=True), base64.b16encode),
    "base32": (base64.b32decode, base64.b32encode),
    "base32hex": (base64.b32hexdecode, base64.b32hexencode),
}

STRING_TYPES: dict[str, tuple[Callable[[str], bool], str]] = {
    "date": (is_date, "a date like 2026-01-31"),
    "datetime": (is_datetime, "a point in time like 2026-01-31T12:00:00Z"),
    "time": (is_time, "a time of day like 12:00:00Z"),
    "duration": (is_duration, "a duration like P1DT2H"),
    "uuid": (is_uuid, "a UUID"),
    "uri": (is_uri, "a URI reference"),
    "jsonpointer": (is_pointer, "a JSON pointer"),
}
