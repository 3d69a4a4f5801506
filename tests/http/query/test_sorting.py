"""The `sort` flag: orders by type, ties by id, what cannot be sorted."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.feature("FLAG-061", "FLAG-062", "FLAG-063")
@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("name", ["west", "north", "south"]),
        ("name=asc", ["west", "north", "south"]),
        ("name=desc", ["south", "north", "west"]),
        ("size", ["west", "south", "north"]),
        ("size=desc", ["north", "south", "west"]),
        ("active", ["west", "south", "north"]),
        ("extra", ["west", "north", "south"]),
        ("fleetid", ["north", "south", "west"]),
        ("fleetid=desc", ["west", "south", "north"]),
        ("labels.stage", ["south", "west", "north"]),
        ("labels['my.key']=desc", ["north", "west", "south"]),
        ("tags[1]", ["south", "west", "north"]),
        ("nothing", ["north", "south", "west"]),
        ("nothing=desc", ["west", "south", "north"]),
        ("info.addresses", ["north", "south", "west"]),
        ("vehiclescount=desc", ["north", "south", "west"]),
    ],
)
def test_collections_come_in_order(parked: Any, sort: str, expected: list[str]) -> None:
    assert list(parked.get(f"/fleets?sort={sort}")) == expected


@pytest.mark.feature("FLAG-063")
def test_equal_values_go_by_id_in_the_same_direction(garage: Any) -> None:
    for one, name in (("a", "Same"), ("B", "same"), ("c", "SAME")):
        garage.send("PUT", f"/depots/{one}", {"name": name})
    assert list(garage.get("/depots?sort=name")) == ["main", "a", "B", "c"]
    assert list(garage.get("/depots?sort=name=desc")) == ["c", "B", "a", "main"]


@pytest.mark.feature("FLAG-036", "FLAG-063")
def test_texts_sort_as_in_english(garage: Any) -> None:
    for one, name in (("1", "éclair"), ("2", "Eclipse"), ("3", "zebra"), ("4", "10"), ("5", "_x"), ("6", "ebb")):
        garage.send("PUT", f"/depots/{one}", {"name": name})
    assert list(garage.get("/depots?sort=name")) == ["main", "5", "4", "6", "1", "2", "3"]


@pytest.mark.feature("FLAG-061")
@pytest.mark.parametrize(
    "place", ["/", "/fleets/north", "/fleets/north/vehicles/van", "/fleets/north/manuals/driving/versions/a"]
)
def test_entities_cannot_be_sorted(parked: Any, place: str) -> None:
    assert parked.problem("GET", f"{place}?sort=epoch") == "sort_noncollection"


@pytest.mark.feature("FLAG-061", "FLAG-062")
@pytest.mark.parametrize(
    "sort", ["", "=", "name=up", "name=", "=desc", "a..b", "name[", "labels", "tags", "vehicles.name", "*", "tags[*]"]
)
def test_bad_orders_are_refused(parked: Any, sort: str) -> None:
    assert parked.problem("GET", f"/fleets?sort={sort}") == "bad_sort"


@pytest.mark.feature("FLAG-062")
def test_resources_are_not_sorted_by_their_versions(parked: Any) -> None:
    assert parked.problem("GET", "/fleets/north/vehicles?sort=versions.name") == "bad_sort"
    assert parked.problem("GET", "/fleets/north/vehicles?sort=meta") == "bad_sort"
    assert parked.send("GET", "/fleets/north/vehicles?sort=meta.epoch").status_code == 200
    assert list(parked.get("/fleets/north/vehicles?sort=wheels=desc")) == ["truck", "van"]
    assert list(parked.get("/fleets/north/manuals?sort=meta.xref=desc")) == ["likewise", "driving"]
    assert list(parked.get("/fleets/north/manuals/driving/versions?sort=name=desc")) == ["b", "a"]


def test_filter_and_sort_go_together(parked: Any) -> None:
    assert list(parked.get("/fleets?sort=size=desc&filter=size")) == ["north", "south"]
