"""The `filter` flag over HTTP: which entities come back, and what the URLs of their collections say."""

from __future__ import annotations

from typing import Any

import pytest

ALL = {"north", "south", "west"}


@pytest.mark.feature("FLAG-018", "FLAG-019", "FLAG-027", "FLAG-028", "FLAG-029", "FLAG-030", "FLAG-031", "FLAG-032")
@pytest.mark.feature("FLAG-033", "FLAG-034", "FLAG-035", "FLAG-036", "FLAG-037", "FLAG-038", "FLAG-039", "FLAG-040")
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("name", {"north", "south"}),
        ("name=null", {"west"}),
        ("name!=null", {"north", "south"}),
        ("name<>null", {"north", "south"}),
        ("description=", {"south"}),
        ("description", {"south"}),
        ("name=NORTH", {"north"}),
        ("name!=north", {"south", "west"}),
        ("name<>North", {"south", "west"}),
        ("unknown=5", set()),
        ("unknown!=5", ALL),
        ("info=joe", set()),
        ("info=*", {"north"}),
        ("info", {"north"}),
        ("size=12", {"north"}),
        ("size=12.0", {"north"}),
        ("size=twelve", set()),
        ("size>3", {"north"}),
        ("size>=3", {"north", "south"}),
        ("size<12", {"south"}),
        ("size<=12", {"north", "south"}),
        ("size<100", {"north", "south"}),
        ("size!=3", {"north", "west"}),
        ("active=true", {"north"}),
        ("active=TRUE", set()),
        ("active<true", {"south"}),
        ("active>=false", {"north", "south"}),
        ("name<south", {"north"}),
        ("name>n", {"north", "south"}),
        ("inspected=2026-03-01T10:00:00Z", {"north"}),
        ("inspected=2026-03-01t11:00:00%2B01:00", {"north"}),
        ("inspected<2026-03-01T10:00:00.5Z", {"north"}),
        ("inspected>2026-03-01T10:00:00Z", set()),
        ("name=*OUT*", {"south"}),
        ("name=*th", {"north", "south"}),
        ("name=n*h", {"north"}),
        ("name!=n*", {"south", "west"}),
        ("name=n*n*h", set()),
        ("description=*", {"south"}),
        ("description=x*", set()),
        ("labels.stage=dev", {"north"}),
        ("labels['my.key']=yes", {"north"}),
        ('labels["my.key"]=yes', {"north"}),
        ("labels.*=yes", {"north"}),
        ("labels.*!=yes", {"south", "west"}),
        ("labels.nothing=null", ALL),
        ("tags[0]=red", {"north"}),
        ("tags[1]=red", set()),
        ("tags[*]=blue", {"north"}),
        ("tags['0']=red", set()),
        ("tags[9]", set()),
        ("info.addresses.*.state=nv", {"north"}),
        ("info['*']=joe", set()),
        ("info.*=joe", {"north"}),
        ("name,size<5", {"south"}),
        ("name=north,name=south", set()),
        ("name=north&filter=size=3", {"north", "south"}),
        ("name&filter=size=3&filter=epoch", ALL),
        ("vehiclescount=0", {"west"}),
        ("xid=/fleets/west", {"west"}),
        ("vehicles.name=van", {"north", "south"}),
        ("vehicles.wheels=6,name=south", set()),
        ("vehicles.wheels=3,name=south", {"south"}),
        ("vehicles.wheels=3,manuals.name=second", set()),
        ("vehicles.meta.readonly=false", {"north", "south"}),
        ("manuals.versions.versionid=a", {"north"}),
    ],
)
def test_a_filter_lets_fitting_groups_through(parked: Any, expression: str, expected: set[str]) -> None:
    assert set(parked.get(f"/fleets?filter={expression}")) == expected


@pytest.mark.feature("FLAG-037")
def test_an_escaped_star_is_a_star(parked: Any) -> None:
    assert set(parked.get("/fleets/north/vehicles?filter=name=tr\\*ck")) == {"truck"}
    assert set(parked.get("/fleets/north/vehicles?filter=name=*\\**")) == {"truck"}
    assert parked.get("/fleets/north/vehicles?filter=name=v\\*n") == {}


@pytest.mark.feature("FLAG-026")
@pytest.mark.parametrize(
    "expression",
    [
        *(",", "name,", ",name", "=x", "!name", "name!", "na!me=5", "a..b", "a.", "name[", "name[]", "name[-1]"),
        *("name[^]=1", "name['x", "name[x]", "size<null", "size>=null", "size<3*", "size>*", "vehicles", "vehicles=x"),
        *("manuals.versions", "a]b", "a'b=1", ".", "[0]['']"),
    ],
)
def test_malformed_expressions_are_refused(parked: Any, expression: str) -> None:
    assert parked.problem("GET", f"/fleets?filter={expression}") == "bad_filter"
    assert parked.problem("PUT", f"/fleets/north?filter=fleetid..x&filter={expression}") == "bad_filter"


@pytest.mark.feature("FLAG-026")
@pytest.mark.parametrize(
    "expression",
    ["name=" + "x" * 20_000, ",".join(["name"] * 300), ".".join(["a"] * 100), "[0]" * 70, "*" * 300 + "=" + "*a" * 400],
)
def test_huge_filters_are_refused_or_answered(parked: Any, expression: str) -> None:
    answer = parked.send("GET", f"/fleets?filter={expression}")
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:
        assert answer.json()["type"].endswith("#bad_filter")


@pytest.mark.feature("FLAG-020", "FLAG-021", "FLAG-022", "FLAG-025")
def test_counts_maps_and_urls_follow_the_filter(parked: Any) -> None:
    found = parked.get("/?inline=fleets.vehicles&filter=fleets.vehicles.wheels>3")
    assert found["depotscount"] == 0
    assert found["depotsurl"] == "http://garage.localhost/depots?filter=excludeall"
    assert found["fleetscount"] == 1
    assert found["fleetsurl"] == "http://garage.localhost/fleets?filter=vehicles.wheels%3E3"
    north = found["fleets"]["north"]
    assert set(north["vehicles"]) == {"van", "truck"}
    assert north["vehiclesurl"] == "http://garage.localhost/fleets/north/vehicles?filter=wheels%3E3"
    assert north["manualscount"] == 0
    assert north["vehicles"]["van"]["versionsurl"].endswith("/van/versions")
    assert set(parked.get(north["vehiclesurl"])) == {"van", "truck"}
    assert set(parked.get(found["fleetsurl"])) == {"north"}
    assert parked.get(found["depotsurl"]) == {}


@pytest.mark.feature("FLAG-021")
@pytest.mark.parametrize(
    "expression",
    ["name=100%25", "name=%2541", "name=a%26b", "name=%C3%A9 %2B", "name<>%23", "name>a,name<c", "name=%2522"],
)
def test_urls_lead_to_the_same_entities(garage: Any, expression: str) -> None:
    for number, name in enumerate(("100%", "%41", "a&b", "é +", "#", "A", "%22")):
        assert garage.send("PUT", f"/fleets/west/vehicles/w{number}", {"name": name}).status_code == 201
    below = ",".join(f"vehicles.{one}" for one in expression.split(","))
    shown = garage.get(f"/fleets?inline=vehicles&filter={below}")
    assert shown
    for fleet in shown.values():
        assert set(garage.get(fleet["vehiclesurl"])) == set(fleet["vehicles"])
        assert fleet["vehiclescount"] == len(fleet["vehicles"])


@pytest.mark.feature("FLAG-022", "FLAG-023")
def test_excludeall_excludes_all(parked: Any) -> None:
    assert parked.get("/fleets?filter=name=south")["south"]["manualsurl"].endswith("/manuals?filter=excludeall")
    assert parked.get("/fleets?filter=excludeall") == {}
    assert parked.get("/fleets/north/vehicles?filter=excludeall") == {}
    for entity in ("/", "/fleets/north", "/fleets/north/vehicles/van", "/fleets/north/vehicles/van/meta"):
        assert parked.problem("GET", f"{entity}?filter=excludeall") == "not_found"
    for more in ("epoch,excludeall", "excludeall,epoch", "excludeall&filter=epoch", "epoch&filter=excludeall"):
        assert parked.problem("GET", f"/fleets?filter={more}") == "bad_filter"


@pytest.mark.feature("FLAG-024")
def test_an_entity_that_does_not_fit_is_not_found(parked: Any) -> None:
    assert parked.get("/?filter=region=alps")["region"] == "Alps"
    assert parked.problem("GET", "/?filter=region=andes") == "not_found"
    assert parked.problem("GET", "/?filter=fleets.name=east") == "not_found"
    assert parked.get("/fleets/north?filter=vehicles.name=van")["vehiclescount"] == 1
    assert parked.problem("GET", "/fleets/north/vehicles/van?filter=wheels=7") == "not_found"
    assert parked.get("/fleets/north/vehicles/van/meta?filter=readonly=false")["readonly"] is False
    assert parked.problem("GET", "/fleets/north/vehicles/van/versions/1?filter=wheels=5") == "not_found"


@pytest.mark.feature("FLAG-018", "FLAG-025")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("fleets.vehicles.vehicleid=van", {"north/van", "south/van"}),
        ("fleets.fleetid=south&filter=fleets.vehicles.vehicleid=truck", {"south/van", "north/truck"}),
        ("fleets.fleetid=north&filter=fleets.vehicles.vehicleid=truck", {"north/van", "north/truck"}),
        ("fleets.fleetid=north,fleets.vehicles.vehicleid=van", {"north/van"}),
        ("fleets.vehicles.versions.versionid=1,fleets.fleetid=south", {"south/van"}),
    ],
)
def test_alternatives_are_merged_and_inlining_adds_only_below_matches(
    parked: Any, query: str, expected: set[str]
) -> None:
    fleets = parked.get(f"/?inline=*&filter={query}")["fleets"]
    assert {f"{fleet}/{one}" for fleet in fleets for one in fleets[fleet]["vehicles"]} == expected
    assert all(one["versions"] for fleet in fleets.values() for one in fleet["vehicles"].values())


@pytest.mark.feature("FLAG-019")
def test_references_are_filtered_as_they_are_seen(parked: Any) -> None:
    assert set(parked.get("/fleets/north/manuals?filter=name=second")) == {"driving", "likewise"}
    assert set(parked.get("/fleets/north/manuals?filter=meta.xref")) == {"likewise"}
    assert set(parked.get("/fleets/north/manuals/likewise/versions?filter=name=first")) == {"a"}


@pytest.mark.audit("registry-17")
def test_an_empty_filter_is_no_filter(parked: Any) -> None:
    for query in ("filter=", "filter", "filter=%20"):
        assert parked.get(f"/fleets?{query}") == parked.get("/fleets")
        assert parked.get(f"/fleets/north?{query}") == parked.get("/fleets/north")
    assert list(parked.get("/fleets?filter=&filter=fleetid=west")) == ["west"]


@pytest.mark.audit("registry-17")
@pytest.mark.parametrize("path", ["na*", "*me", "labels.st*ge", "info.*a.state", "vehicles.w*", "n**"])
def test_a_wildcard_stands_for_a_whole_name(parked: Any, path: str) -> None:
    assert parked.problem("GET", f"/fleets?filter={path}=x") == "bad_filter"


@pytest.mark.audit("registry-24")
def test_brackets_in_our_urls_are_encoded(parked: Any) -> None:
    shown = parked.get("/?filter=fleets.labels['my.key']=yes")
    assert shown["fleetsurl"].endswith("/fleets?filter=labels%5B'my.key'%5D=yes")
    assert list(parked.get(shown["fleetsurl"].removeprefix("http://garage.localhost"))) == ["north"]
