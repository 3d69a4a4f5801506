"""Pagination: links, counts, and that nothing is lost or seen twice while others write."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LINK = re.compile(r"<([^>]*)>;rel=([\w-]+)(?:;count=(\d+))?")


def links(answer: Any) -> dict[str, tuple[str, str]]:
    return {rel: (url, count) for url, rel, count in LINK.findall(answer.headers["link"])}


@pytest.fixture
def paged(garage: Any) -> Any:
    garage.switch(pagination=True)
    assert garage.send("DELETE", "/depots").status_code == 204
    assert garage.send("POST", "/depots", {f"d{n:02}": {"name": f"n{n % 3}"} for n in range(10)}).status_code == 200
    return garage


@pytest.mark.feature("PAGE-001", "PAGE-002", "PAGE-003", "PAGE-004", "PAGE-005", "PAGE-009", "PAGE-010", "FLAG-064")
@pytest.mark.parametrize("query", ["", "sort=name", "sort=depotid=desc", "sort=name=desc", "filter=name!=n1", "inline"])
@pytest.mark.parametrize("limit", [1, 3, 7, 10, 50])
def test_links_lead_through_all_pages_and_back(paged: Any, query: str, limit: int) -> None:
    expected = list(paged.get(f"/depots?{query}"))
    target, seen, pages = f"/depots?limit={limit}&{query}", [], 0
    while True:
        answer = paged.send("GET", target)
        assert answer.status_code == 200
        assert len(answer.json()) <= limit
        seen += list(answer.json())
        pages += 1
        found = links(answer)
        assert ("prev" in found) == (pages > 1)
        assert all(count == str(len(expected)) for rel, (_, count) in found.items() if rel != "xregistry-root")
        if "next" not in found:
            break
        target = found["next"][0]
        assert "limit" not in parse_qs(urlsplit(target).query)
    assert seen == expected
    back = list(answer.json())
    while "prev" in found:
        answer = paged.send("GET", found["prev"][0])
        back = list(answer.json()) + back
        found = links(answer)
        assert "next" in found
    assert back == expected


@pytest.mark.feature("PAGE-001")
@pytest.mark.parametrize("limit", ["0", "-1", "x", "", "1.5", "18446744073709551616", "9" * 50, "１"])
def test_bad_limits_are_refused(paged: Any, limit: str) -> None:
    assert paged.problem("GET", f"/depots?limit={limit}") == "bad_request"


@pytest.mark.feature("PAGE-001")
def test_the_largest_limit_is_taken(paged: Any) -> None:
    assert len(paged.get("/depots?limit=18446744073709551615")) == 10
    assert len(paged.get("/depots?limit=18446744073709551615&sort=name")) == 10


@pytest.mark.feature("PAGE-002")
@pytest.mark.parametrize("cursor", ["x", "%00", "W10", "bnVsbA", "a" * 5000, "WzEsMiwzLDRd", "é"])
def test_cursors_of_others_are_refused(paged: Any, cursor: str) -> None:
    assert paged.problem("GET", f"/depots?cursor={cursor}") == "bad_request"


@pytest.mark.feature("PAGE-007")
@pytest.mark.parametrize(
    "place", ["/", "/fleets/north", "/fleets/north/vehicles/van", "/fleets/north/vehicles/van/meta"]
)
def test_entities_have_no_pages(paged: Any, place: str) -> None:
    assert paged.problem("GET", f"{place}?limit=1") == "bad_request"


@pytest.mark.feature("PAGE-007", "PAGE-003")
def test_every_kind_of_collection_has_pages(paged: Any) -> None:
    for place in ("/fleets", "/fleets/north/vehicles", "/fleets/north/manuals/driving/versions"):
        assert "next" in links(paged.send("GET", f"{place}?limit=1"))
    assert "next" in links(paged.send("GET", "/fleets/north/manuals/likewise/versions?limit=1"))
    assert paged.problem("GET", "/fleets/east/vehicles?limit=1") == "not_found"


@pytest.mark.feature("CAP-012", "PAGE-008")
def test_without_the_capability_nothing_is_paged(garage: Any) -> None:
    answer = garage.send("GET", "/fleets?limit=1&cursor=x")
    assert len(answer.json()) == 3
    assert set(links(answer)) == {"xregistry-root"}


@pytest.mark.feature("PAGE-003", "PAGE-009")
def test_an_empty_collection_is_one_empty_page(paged: Any) -> None:
    answer = paged.send("GET", "/fleets/west/vehicles?limit=5")
    assert answer.json() == {}
    assert set(links(answer)) == {"xregistry-root"}


IDS = st.sampled_from([f"{letter}{n}" for letter in "aBc" for n in range(8)])


@pytest.mark.feature("PAGE-010", "PAGE-005")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stable=st.sets(IDS, min_size=1),
    writes=st.lists(st.tuples(st.booleans(), IDS), max_size=30),
    limit=st.integers(1, 5),
    query=st.sampled_from(["", "sort=name", "sort=name=desc", "filter=epoch>0", "sort=depotid=desc"]),
)
def test_what_stays_is_seen_exactly_once(
    garage: Any, stable: set[str], writes: list[tuple[bool, str]], limit: int, query: str
) -> None:
    garage.switch(pagination=True)
    garage.send("DELETE", "/depots")
    garage.send("POST", "/depots", {one: {"name": one[0]} for one in stable})
    pending = [(is_new, one) for is_new, one in writes if one not in stable]
    seen: list[str] = []
    counts = set()
    target = f"/depots?limit={limit}&{query}"
    while target:
        answer = garage.send("GET", target)
        seen += answer.json()
        counts |= {count for rel, (_, count) in links(answer).items() if rel != "xregistry-root"}
        for is_new, one in pending[:3]:
            garage.send(*(("PUT", f"/depots/{one}", {"name": one[0]}) if is_new else ("DELETE", f"/depots/{one}")))
        pending = pending[3:]
        target = links(answer).get("next", ("", ""))[0]
    assert sorted(one for one in seen if one in stable) == sorted(stable)
    assert len(seen) == len(set(seen))
    assert len(counts) <= 1
