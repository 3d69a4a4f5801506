"""One request, one now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from postroom.model.scalar_types import normal_timestamp
from postroom.registry.write import unit_of_work


@pytest.mark.feature("REG-053")
@pytest.mark.parametrize("microsecond", [0, 1, 230160, 500000, 999999])
def test_now_is_written_as_the_same_time_from_a_client_would_be(
    monkeypatch: pytest.MonkeyPatch, microsecond: int
) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime(2026, 11, 15, 20, 0, 0, microsecond, UTC)

    monkeypatch.setattr(unit_of_work, "datetime", Clock)
    # Otherwise a client that sends modifiedat back unchanged would seem to have chosen another time.
    assert unit_of_work.timestamp() == normal_timestamp(unit_of_work.timestamp())
