"""Prefixes of xids: what they cover, what is shown on the way to it, and which ids of a collection are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.registry.permissions import EVERYWHERE, NOWHERE, Prefixes, PrefixRefused


@pytest.mark.parametrize(
    ("pattern", "xid", "covered", "shown"),
    [
        ("/", "/", True, True),
        ("/", "/messagegroups/fleet/messages/moved", True, True),
        ("/messagegroups", "/", False, True),
        ("/messagegroups", "/messagegroups/fleet", True, True),
        ("/messagegroups", "/schemagroups/fleet", False, False),
        ("/messagegroups/fleet", "/messagegroups/fleet", True, True),
        ("/messagegroups/fleet", "/messagegroups/fleet2", False, False),
        ("/messagegroups/fleet", "/messagegroups/flee", False, False),
        ("/messagegroups/fleet", "/messagegroups/FLEET/messages/moved/versions/1", True, True),
        ("/messagegroups/Fleet", "/messagegroups/fleet/messages/moved", True, True),
        ("/messagegroups/fleet.*", "/messagegroups/fleet.cars", True, True),
        ("/messagegroups/fleet.*", "/messagegroups/fleet.cars/messages/moved", True, True),
        ("/messagegroups/fleet.*", "/messagegroups/fleet", False, False),
        ("/messagegroups/fleet.*", "/messagegroups/fleetXcars", False, False),
        ("/messagegroups/fleet/messages/moved", "/messagegroups/fleet", False, True),
        ("/messagegroups/fleet/messages/moved", "/messagegroups/fleet/messages/moved/versions/1", True, True),
        ("/messagegroups/fleet/messages/moved", "/messagegroups/fleet/messages/moved2", False, False),
        ("/messagegroups/fleet/messages", "/messagegroups/fleet/messages/moved", True, True),
        ("/messagegroups/fleet/messages", "/messagegroups/fleet", False, True),
    ],
)
def test_a_prefix_covers_whole_ids_and_shows_the_way_to_them(
    pattern: str, xid: str, covered: bool, shown: bool
) -> None:
    prefixes = Prefixes([pattern])
    assert (prefixes.covers(xid), prefixes.shows(xid)) == (covered, shown)


@pytest.mark.parametrize(
    "pattern",
    ["", "messagegroups", "//messagegroups", "/messagegroups//x", "/messagegroups/a*b", "/messagegroups/*/messages",
     "/messagegroups/a%2Fb", "/messagegroups/fleet/messages/moved/versions/1", "/messagegroups/../x", "/*/fleet"],
)  # fmt: skip
def test_what_is_no_prefix_is_refused(pattern: str) -> None:
    with pytest.raises(PrefixRefused):
        Prefixes([pattern])


@pytest.mark.parametrize(
    ("patterns", "ranges"),
    [
        (["/"], None),
        (["/messagegroups"], None),
        (["/schemagroups"], []),
        (["/messagegroups/Fleet"], [("fleet", "fleet ")]),
        (["/messagegroups/fleet.*", "/messagegroups/fleet.cars"], [("fleet.", "fleet/")]),
        (["/messagegroups/b/messages/m", "/messagegroups/a"], [("a", "a "), ("b", "b ")]),
    ],
)
def test_the_ids_of_a_collection_that_are_shown(patterns: list[str], ranges: list[tuple[str, str]] | None) -> None:
    assert Prefixes(patterns).ids("/messagegroups") == ranges


IDS = st.sampled_from(["a", "A", "ab", "a.b", "a.", "b", "b-1", "b-2"])
PATTERNS = st.one_of(
    st.just("/"),
    st.sampled_from(["/g", "/h"]),
    st.builds("/{}/{}{}".format, st.sampled_from("gh"), IDS, st.sampled_from(["", "*"])),
    st.builds("/g/{}/r/{}{}".format, IDS, IDS, st.sampled_from(["", "*"])),
)


@given(st.lists(PATTERNS, max_size=4), IDS, IDS)
def test_an_id_is_in_the_ranges_of_its_collection_exactly_when_it_is_shown(
    patterns: list[str], group: str, resource: str
) -> None:
    prefixes = Prefixes(patterns)
    for collection, one in (("/g", group), (f"/g/{group}/r", resource)):
        ranges = prefixes.ids(collection)
        within = ranges is None or any(low <= one.lower() < high for low, high in ranges)
        assert within == prefixes.shows(f"{collection}/{one}")


def test_everything_and_nothing() -> None:
    assert EVERYWHERE.is_everything
    assert not NOWHERE.is_everything
    assert NOWHERE.shows("/")
    assert not NOWHERE.covers("/")
    assert Prefixes.union(NOWHERE, Prefixes(["/g/x"])) == Prefixes(["/g/X"])
