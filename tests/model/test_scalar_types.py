from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.model.scalar_types import normal_timestamp, scalar_error


@pytest.mark.feature("REG-003", "REG-004", "REG-005", "REG-006", "REG-010", "REG-012", "REG-013", "REG-014", "REG-015")
@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("boolean", True, True),
        ("boolean", 1, False),
        ("boolean", "true", False),
        ("decimal", 1.5, True),
        ("decimal", 7, True),
        ("decimal", True, False),
        ("integer", 7, True),
        ("integer", -7, True),
        ("integer", 7.5, False),
        ("integer", True, False),
        ("uinteger", 0, True),
        ("uinteger", -1, False),
        ("uinteger", 2**70, True),
        ("string", "", True),
        ("string", 5, False),
        ("timestamp", "2030-12-19T06:00:00Z", True),
        ("timestamp", "2030-12-19T06:00:00+02:00", True),
        ("timestamp", "2030-02-30T06:00:00Z", False),
        ("timestamp", "2030-12-19", False),
        ("timestamp", 5, False),
        ("uri", "orders/42", True),
        ("uri", "https://ovens.example/1", True),
        ("uri", "two words", False),
        ("uriabsolute", "https://ovens.example/1", True),
        ("uriabsolute", "/ovens/1", False),
        ("urirelative", "/ovens/1", True),
        ("urirelative", "https://ovens.example/1", False),
        ("uritemplate", "/ovens/{oven}/state", True),
        ("uritemplate", "/ovens/{oven", False),
        ("uritemplate", "/ovens/{}", False),
        ("xid", "/messagegroups/ovens", True),
        ("xid", "messagegroups/ovens", False),
    ],
)
def test_scalars_take_their_json_values_only(kind: str, value: Any, fits: bool) -> None:
    assert (scalar_error(kind, value) == "") is fits


@pytest.mark.feature("REG-010", "REG-011")
@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001
def test_timestamps_are_shown_as_the_same_instant_in_utc(moment: datetime, minutes: int) -> None:
    local = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    shown = normal_timestamp(local.isoformat())
    assert shown is not None
    assert shown.endswith("Z")
    assert datetime.fromisoformat(shown) == local.astimezone(UTC)
    assert normal_timestamp(shown) == shown
