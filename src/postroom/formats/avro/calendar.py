"""Dates and times as texts, for any year: Avro counts on where Python's years end.

Years beyond 9999 or before 1 are written with a sign, as ISO 8601 expands them.
"""

from __future__ import annotations

import re
from typing import Any

from postroom.formats.avro.value_errors import Misfit
from postroom.formats.show_value import show_value

_DATE = r"([+-]\d{4,12}|\d{4})-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
_DAY = re.compile(rf"{_DATE}\Z")
_TIME_OF_DAY = re.compile(rf"{_TIME}\Z")
_INSTANT = re.compile(rf"{_DATE}[Tt ]{_TIME}([Zz]|[+-]\d\d:?\d\d)?\Z")
_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def date_text(days: int) -> str:
    """The date so many days after 1970-01-01."""
    # Years that begin in March have their leap day last; 400 of them always have 146,097 days.
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day = day - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year += era * 400 + (month <= 2)
    shown = f"{year:04}" if 0 < year < 10_000 else f"{year:+05}"
    return f"{shown}-{month:02}-{day:02}"


def time_text(ticks: int, per_second: int) -> str:
    """The time of day so many ticks after midnight, with as many digits as ticks have."""
    seconds, fraction = divmod(ticks, per_second)
    digits = len(str(per_second)) - 1
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:0{digits}}"


def instant_text(ticks: int, per_second: int, zone: str) -> str:
    """The point in time so many ticks after the beginning of 1970."""
    days, rest = divmod(ticks, 86_400 * per_second)
    return f"{date_text(days)}T{time_text(rest, per_second)}{zone}"


def days_of(text: str) -> int:
    """The days after 1970-01-01 that a date's text means."""
    found = _DAY.match(text)
    if found is None:
        raise Misfit("payload_date", "a date such as 2026-01-31", show_value(text))
    return _days(found, text)


def ticks_of_day(text: str, per_second: int) -> int:
    """The ticks after midnight that a time's text means."""
    found = _TIME_OF_DAY.match(text)
    if found is None:
        raise Misfit("payload_time", "a time such as 12:30:00", show_value(text))
    return _ticks(found.groups(), per_second, text)


def ticks_of(text: str, per_second: int) -> int:
    """The ticks after the beginning of 1970 that a point in time's text means; without a zone, UTC is meant."""
    found = _INSTANT.match(text)
    if found is None:
        raise Misfit("payload_time", "a time such as 2026-01-31T12:30:00Z", show_value(text))
    seconds = _days(found, text) * 86_400 - _offset(found[8] or "Z")
    return seconds * per_second + _ticks(found.groups()[3:7], per_second, text)


def _days(found: re.Match[str], text: str) -> int:
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= _MONTHS[month - 1] or (month == 2 and day == 29 and not is_leap):
        raise Misfit("payload_date", "a date of the calendar", show_value(text))
    era, within = divmod(year - (month <= 2), 400)
    past = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + within * 365 + within // 4 - within // 100 + past - 719_468


def _ticks(parts: Any, per_second: int, text: str) -> int:
    hours, minutes, seconds = (int(part or 0) for part in parts[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise Misfit("payload_time", "a time of day", show_value(text))
    nanos = int((parts[3] or "").ljust(9, "0"))
    ticks, rest = divmod(nanos * per_second, 1_000_000_000)
    if rest:
        raise Misfit("payload_time", f"a time in steps of 1/{per_second} second", show_value(text))
    return (hours * 3600 + minutes * 60 + seconds) * per_second + ticks


def _offset(zone: str) -> int:
    if zone in "Zz":
        return 0
    digits = zone[1:].replace(":", "")
    return (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (-1 if zone[0] == "-" else 1)
