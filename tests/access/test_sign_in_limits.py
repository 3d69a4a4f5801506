"""Limits on failed sign-ins and on requests."""

from __future__ import annotations

import pytest

from postroom.access import sign_in_limits
from postroom.access.sign_in_limits import RateLimit, SignInLimit


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(sign_in_limits, "time", made)
    return made


def test_after_so_many_events_a_name_waits_until_its_minute_is_over(clock: Clock) -> None:
    limit = RateLimit(3)
    for _ in range(3):
        assert limit.wait("anna") == 0
        limit.count("anna")
    assert limit.wait("anna") == 61
    assert limit.wait("ben") == 0
    clock.now += 59.5
    assert limit.wait("anna") == 1
    clock.now += 1
    assert limit.wait("anna") == 0


def test_zero_sets_no_limit(clock: Clock) -> None:
    limit = RateLimit(0)
    for _ in range(1000):
        limit.count("anna")
    assert limit.wait("anna") == 0


def test_names_that_were_not_seen_for_long_are_forgotten(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_limits, "MOST_COUNTED", 2)
    limit = RateLimit(1)
    for name in ("anna", "ben", "cem"):
        limit.count(name)
    assert [limit.wait(name) > 0 for name in ("anna", "ben", "cem")] == [False, True, True]


def test_a_key_is_limited_where_somebody_guesses_it_and_nowhere_else(clock: Clock) -> None:
    limit = SignInLimit(2)
    for _ in range(2):
        limit.fail("192.0.2.1", "key:ci")
    assert limit.wait("192.0.2.1", "key:ci") > 0
    assert limit.wait("192.0.2.1", "key:other") == 0
    assert limit.wait("192.0.2.2", "key:ci") == 0


def test_an_address_that_tries_one_key_after_the_other_is_limited_as_a_whole(clock: Clock) -> None:
    limit = SignInLimit(2)
    for number in range(20):
        limit.fail("192.0.2.1", f"key:{number}")
    assert limit.wait("192.0.2.1", "key:new") > 0
    assert limit.wait("192.0.2.2", "key:new") == 0
