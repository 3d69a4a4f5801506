"""Anything may stand behind the question mark: an answer or a problem, never a failure."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.registry.configuration.offered_capabilities import FLAGS

PLACES = st.sampled_from(
    [
        *(
            "/",
            "/fleets",
            "/fleets/north",
            "/fleets/north/vehicles",
            "/fleets/north/manuals/driving$details",
            "/export",
        ),
        *("/fleets/north/manuals/driving/meta", "/fleets/north/manuals/likewise/versions", "/capabilities", "/model"),
    ]
)
PIECES = st.sampled_from(
    [
        *("fleets", "vehicles", "versions", "name", "*", ".", ",", "=", "!=", "<", ">=", "null", "[0]", "[*]", "['a']"),
        *(
            "excludeall",
            "desc",
            "model",
            "meta",
            "\\*",
            "1",
            "-1",
            "1.0-rc4",
            "request",
            "%",
            "'",
            '"',
            "[",
            "]",
            "\x00",
        ),
    ]
)
VALUES = st.one_of(st.lists(PIECES, max_size=6).map("".join), st.text(max_size=20))
QUERIES = st.lists(st.tuples(st.sampled_from([*FLAGS, "limit", "cursor", "x"]), VALUES), max_size=4)


@pytest.mark.feature("FLAG-001", "FLAG-002", "FLAG-026")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=PLACES, query=QUERIES, method=st.sampled_from(["GET", "GET", "PATCH", "OPTIONS"]))
def test_any_flags_get_an_answer(garage: Any, place: str, query: list[tuple[str, str]], method: str) -> None:
    text = "&".join(f"{name}={quote(value.encode('utf-8', 'replace'))}" for name, value in query)
    answer = garage.send(method, f"{place}?{text}", {} if method == "PATCH" and place != "/capabilities" else None)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json()["type"].startswith("https://github.com/xregistry/spec/")


@pytest.mark.parametrize(
    "query", ["filter=" + "a=*" * 5000, "inline=" + "a," * 20_000, "sort=" + "['a']" * 500, "ignore=" + "," * 50_000]
)
def test_long_flags_cost_little(garage: Any, query: str) -> None:
    assert garage.send("GET", f"/fleets?{query}").status_code in (200, 400)


def test_work_is_bounded_for_wildcards(garage: Any) -> None:
    garage.send("PATCH", "/fleets/north", {"description": "a" * 4000})
    assert garage.get("/fleets?filter=description=" + "*a" * 2000 + "b") == {}
