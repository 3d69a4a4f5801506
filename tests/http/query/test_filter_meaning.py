"""Filters against a naive reading of the specification, on random registries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NAMES = st.sampled_from([None, "red", "Blue", "green"])
VEHICLES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.tuples(NAMES, st.none() | st.integers(0, 3)), max_size=3
)
FLEETS = st.dictionaries(
    st.sampled_from(["x", "y", "z"]), st.tuples(NAMES, st.none() | st.integers(0, 3), VEHICLES), max_size=3
)
COMPARISON = st.sampled_from(["", "=null", "!=null", "=red", "!=red", "=*e*", "<>blue", "<green", ">=blue"])
NUMBERS = st.sampled_from(["", "=null", "=1", "!=1", "<2", "<=2", ">1", ">=1", "!=null"])
EXPRESSION = st.one_of(
    st.tuples(st.just(("fleets",)), st.just("name"), COMPARISON),
    st.tuples(st.just(("fleets",)), st.just("size"), NUMBERS),
    st.tuples(st.just(("fleets", "vehicles")), st.just("name"), COMPARISON),
    st.tuples(st.just(("fleets", "vehicles")), st.just("wheels"), NUMBERS),
)
FILTERS = st.lists(st.lists(EXPRESSION, min_size=1, max_size=3), min_size=1, max_size=3)

SIGNS = ("!=", "<>", "<=", ">=", "=", "<", ">")


def holds(value: Any, comparison: str) -> bool:
    if not comparison:
        return value is not None
    sign = next(sign for sign in SIGNS if comparison.startswith(sign))
    text = comparison.removeprefix(sign)
    if sign in ("!=", "<>"):
        return not holds(value, f"={text}")
    if text == "null":
        return value is None
    if value is None:
        return False
    left, right = (value, int(text)) if isinstance(value, int) else (value.casefold(), text)
    if text == "*e*":
        return "e" in left
    return {"=": left == right, "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]


def naive(fleets: Any, filters: Any) -> set[str]:
    """Every leaf whose way from the root satisfies all expressions of one alternative, with that way."""
    shown = set()
    for fleet, (name, size, vehicles) in fleets.items():
        own = {"name": name, "size": size}
        ways = [(own, None, f"{fleet}")] + [
            (own, {"name": n, "wheels": w}, f"{fleet}/{one}") for one, (n, w) in vehicles.items()
        ]
        for alternative in filters:
            for own, vehicle, way in ways:
                if vehicle is None and any(len(path) == 2 for path, _, _ in alternative):
                    continue
                entities = (own, vehicle)
                if all(holds(entities[len(path) - 1][attribute], sign) for path, attribute, sign in alternative):
                    shown |= {way, fleet}
    return shown


@pytest.mark.feature("FLAG-018", "FLAG-020", "FLAG-025", "FLAG-028", "FLAG-029", "FLAG-031", "FLAG-032", "FLAG-033")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fleets=FLEETS, filters=FILTERS)
def test_filters_mean_what_the_specification_says(garage: Any, fleets: Any, filters: Any) -> None:
    garage.send("DELETE", "/fleets")
    body = {
        fleet: {"name": n, "size": s, "vehicles": {v: {"name": vn, "wheels": w} for v, (vn, w) in vehicles.items()}}
        for fleet, (n, s, vehicles) in fleets.items()
    }
    assert garage.send("POST", "/fleets", body).status_code == 200
    query = "&".join(
        "filter=" + ",".join(".".join((*path, attribute)) + sign for path, attribute, sign in alternative)
        for alternative in filters
    )
    answer = garage.send("GET", f"/?inline=fleets.vehicles&{query}")
    expected = naive(fleets, filters)
    if not expected:
        assert answer.status_code == 404
        return
    shown = answer.json()["fleets"]
    found = set(shown) | {f"{fleet}/{one}" for fleet in shown for one in shown[fleet]["vehicles"]}
    assert found == expected
    for fleet in shown.values():
        assert set(garage.get(fleet["vehiclesurl"])) == set(fleet["vehicles"])
    assert set(garage.get(answer.json()["fleetsurl"])) == set(shown)
