"""Filters of subscriptions, in every dialect (CloudEvents Subscriptions API 3.2.4)."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.replication.subscriptions.cesql.parser import LONGEST
from postroom.replication.subscriptions.filters import DEEPEST, MOST, MOST_EXPRESSIONS, FilterRefused, parse_filters

EVENT = {
    "specversion": "1.0",
    "id": "2f-1",
    "source": "https://ovens.example",
    "type": "io.xregistry.resource.updated",
    "subject": "/messagegroups/ovens/messages/heated",
    "attempt": 3,
    "urgent": True,
    "data": {"changed": ["name"]},
}
GOOD: dict[str, Any] = {"exact": {"id": "2f-1"}}
BAD: dict[str, Any] = {"exact": {"id": "2f-2"}}


@pytest.mark.feature("SUB-007")
@pytest.mark.parametrize(
    ("given", "passes"),
    [
        ({"exact": {"type": "io.xregistry.resource.updated"}}, True),
        ({"exact": {"type": "io.xregistry.resource.Updated"}}, False),
        ({"exact": {"type": "io.xregistry.resource.updated", "id": "2f-1"}}, True),
        ({"exact": {"type": "io.xregistry.resource.updated", "id": "2f-2"}}, False),
        ({"exact": {"attempt": "3", "urgent": "true"}}, True),
        ({"exact": {"time": "2026-01-01T00:00:00Z"}}, False),
        ({"prefix": {"subject": "/messagegroups/ovens/"}}, True),
        ({"prefix": {"subject": "/messagegroups/Ovens/"}}, False),
        ({"prefix": {"subject": "/messagegroups/", "source": "https://boats"}}, False),
        ({"suffix": {"type": ".updated"}}, True),
        ({"suffix": {"type": ".UPDATED"}}, False),
        ({"suffix": {"type": ".updated", "subject": "/heated"}}, True),
        ({"all": [GOOD, GOOD]}, True),
        ({"all": [GOOD, BAD]}, False),
        ({"any": [BAD, GOOD]}, True),
        ({"any": [BAD, BAD]}, False),
        ({"not": BAD}, True),
        ({"not": GOOD}, False),
        ({"not": {"any": [BAD, {"all": [GOOD, {"not": GOOD}]}]}}, True),
    ],
)
def test_dialects(given: dict[str, Any], passes: bool) -> None:
    assert parse_filters([given])(EVENT) is passes


@pytest.mark.feature("SUB-005")
@pytest.mark.parametrize(
    ("filters", "passes"), [([], True), ([GOOD], True), ([GOOD, GOOD], True), ([GOOD, BAD], False), ([BAD], False)]
)
def test_all_filters_must_be_true(filters: list[Any], passes: bool) -> None:
    assert parse_filters(filters)(EVENT) is passes


@pytest.mark.feature("SUB-008")
@pytest.mark.parametrize(
    ("expression", "passes"),
    [
        ("subject LIKE '/messagegroups/%/heated'", True),
        ("attempt > 2 AND urgent", True),
        ("attempt > 3", False),
        ("attempt + 1", False),  # true is wanted, not something like it
        ("'true'", False),
        ("missing = 'x'", False),
        ("NOT (missing = 'x')", False),
        ("urgent OR 1 / 0 = 1", True),  # never evaluated, so it is no error
        ("1 / 0 = 0", False),
        ("EXISTS data", False),  # the body is no attribute
    ],
)
def test_expressions_as_filters(expression: str, passes: bool) -> None:
    assert parse_filters([{"sql": expression}])(EVENT) is passes


@pytest.mark.feature("SUB-006", "SUB-007", "SUB-008")
@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"like": {"id": "x"}}, "/filters/0"),
        ({"Exact": {"id": "x"}}, "/filters/0"),
        ({}, "/filters/0"),
        ({"exact": {"id": "x"}, "prefix": {"id": "x"}}, "/filters/0"),
        ("exact", "/filters/0"),
        ({"exact": {}}, "/filters/0/exact"),
        ({"exact": {"": "x"}}, "/filters/0/exact"),
        ({"exact": {"Subject": "x"}}, "/filters/0/exact"),
        ({"exact": {"data": "x"}}, "/filters/0/exact"),
        ({"exact": {"id": ""}}, "/filters/0/exact/id"),
        ({"suffix": {"id": 5}}, "/filters/0/suffix/id"),
        ({"prefix": ["id", "x"]}, "/filters/0/prefix"),
        ({"all": []}, "/filters/0/all"),
        ({"any": []}, "/filters/0/any"),
        ({"any": GOOD}, "/filters/0/any"),
        ({"any": [GOOD, {"every": []}]}, "/filters/0/any/1"),
        ({"not": [GOOD]}, "/filters/0/not"),
        ({"sql": "id ="}, "/filters/0/sql"),
        ({"sql": 5}, "/filters/0/sql"),
    ],
)
def test_what_is_refused_is_named(given: Any, pointer: str) -> None:
    with pytest.raises(FilterRefused) as refused:
        parse_filters([given])
    assert refused.value.pointer == pointer


def test_nesting_is_bounded() -> None:
    nested = GOOD
    for _ in range(DEEPEST):
        nested = {"not": nested}
    assert parse_filters([nested])(EVENT) is True
    with pytest.raises(FilterRefused, match="nested deeper"):
        parse_filters([{"not": nested}])


def test_their_number_is_bounded() -> None:
    parse_filters([{"all": [GOOD] * (MOST - 1)}])
    with pytest.raises(FilterRefused, match="more than"):
        parse_filters([{"all": [GOOD] * MOST}])


def test_the_length_of_all_expressions_is_bounded() -> None:
    half = {"sql": "TRUE".ljust(LONGEST // 2)}
    parse_filters([half, {"any": [half]}])
    with pytest.raises(FilterRefused, match=f"more than {LONGEST} characters together"):
        parse_filters([half, {"any": [half]}, {"sql": "TRUE"}])


def test_the_number_of_expressions_is_bounded() -> None:
    parse_filters([{"sql": "TRUE"}] * MOST_EXPRESSIONS)
    with pytest.raises(FilterRefused, match="more than"):
        parse_filters([{"sql": "TRUE"}] * (MOST_EXPRESSIONS + 1))


def test_filters_are_an_array() -> None:
    with pytest.raises(FilterRefused, match="array"):
        parse_filters(GOOD)
