"""Times as text, read where a column of microseconds holds them exactly.

Points in time are those of RFC 3339, dates those of its `full-date`. Durations are those of ISO 8601 without years and
months, whose length nobody knows, and seconds as Protobuf writes them (`1.5s`).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

from postroom.formats.column_types import ColumnType, ListOf, MapOf, StructOf, TimeText

_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,6})0*)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII | re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DURATION = re.compile(
    r"(?P<sign>[+-]?)P(?:(?P<weeks>\d+)W|(?=[\dT])(?:0+Y)?(?:0+M)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)(?:\.(?P<fraction>\d{1,6})0*)?S)?)?)",
    re.ASCII,
)
_SECONDS = re.compile(r"(?P<sign>-?)(?P<seconds>\d+)(?:\.(?P<fraction>\d{1,6})0*)?s", re.ASCII)
_UNITS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_MICROS = 1_000_000
# More digits than any 64-bit count of microseconds has: nobody has to turn them into a number.
_LONGEST = 64


def read_timestamp(text: str) -> datetime.datetime | None:
    """The point in time, in UTC, that a text means exactly; None where it means none, or one that needs more."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    try:
        moment = datetime.datetime.fromisoformat(f"{day}T{clock}.{(fraction or '').ljust(6, '0')}{zone.upper()}")
        return moment.astimezone(datetime.UTC) if clock < "24" else None
    except (ValueError, OverflowError):
        return None


def read_date(text: str) -> datetime.date | None:
    """The date that a text means; None where it means none, or more than a date."""
    try:
        return datetime.date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def read_duration(text: str) -> int | None:
    """The microseconds of a duration; None where it has no certain length, or needs more."""
    if len(text) > _LONGEST:
        return None
    found = _DURATION.fullmatch(text) or _SECONDS.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    seconds = sum(int(parts.get(name) or 0) * length for name, length in _UNITS.items())
    micros = seconds * _MICROS + int((parts["fraction"] or "").ljust(6, "0"))
    micros = -micros if parts["sign"] == "-" else micros
    return micros if -(2**63) <= micros < 2**63 else None


READERS: dict[str, Callable[[str], Any]] = {
    "timestamp": read_timestamp,
    "date": read_date,
    "duration": read_duration,
}


def has_times(column: ColumnType) -> bool:
    """Whether a column has times in it that payloads have as text."""
    match column:
        case StructOf():
            return any(has_times(field.type) for field in column.fields)
        case ListOf():
            return has_times(column.item)
        case MapOf():
            return has_times(column.value)
    return isinstance(column, TimeText)


def time_values(column: ColumnType, filled: Any) -> Any:
    """A filled column with its times as values; null for those that are not exact."""
    if filled is None or not has_times(column):
        return filled
    match column:
        case TimeText():
            return READERS[column.name](filled)
        case StructOf():
            types = {field.name: field.type for field in column.fields}
            return {name: time_values(types[name], value) for name, value in filled.items()}
        case MapOf():
            return {name: time_values(column.value, value) for name, value in filled.items()}
        case ListOf():
            return [time_values(column.item, item) for item in filled]
    return filled


def inexact_times(column: ColumnType, filled: Any) -> Any:
    """The texts of a filled column that are no exact times, by their members in the payload; None for none.

    They have the form of undeclared members (`undeclared_members.py`): objects, and lists with null where there is
    nothing.
    """
    if filled is None:
        return None
    match column:
        case TimeText():
            return filled if READERS[column.name](filled) is None else None
        case StructOf():
            members = ((field.source, inexact_times(field.type, filled.get(field.name))) for field in column.fields)
            return {name: found for name, found in members if found is not None} or None
        case MapOf():
            items = filled.items() if isinstance(filled, dict) else filled
            values = ((name, inexact_times(column.value, value)) for name, value in items)
            return {name: found for name, found in values if found is not None} or None
        case ListOf():
            found = [inexact_times(column.item, item) for item in filled]
            return found if any(item is not None for item in found) else None
    return None
