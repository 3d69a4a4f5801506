"""The other flags over HTTP: how they are written, where they may stand, what they do."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from postroom.http.xregistry import read
from postroom.registry.configuration.offered_capabilities import FLAGS

VAN = "/fleets/north/vehicles/van"
DRIVING = "/fleets/north/manuals/driving"


@pytest.mark.feature("FLAG-001")
@pytest.mark.parametrize("flag", ["epoch", "setdefaultversionid", "sort", "specversion"])
def test_flags_with_one_value_come_once(parked: Any, flag: str) -> None:
    value = {"epoch": "1", "setdefaultversionid": "1", "sort": "name", "specversion": "1.0-rc4"}[flag]
    assert parked.problem("GET", f"/fleets?{flag}={value}&{flag}={value}") == "bad_flag"


@pytest.mark.feature("FLAG-001", "FLAG-002")
@pytest.mark.parametrize(
    "query", ["Inline=*", "INLINE", "unknown", "colour=red&colour=blue", "&&&", "=", "%ff=%ff", "limit=x"]
)
def test_unknown_parameters_are_ignored(parked: Any, query: str) -> None:
    assert parked.get(f"/fleets?{query}") == parked.get("/fleets")


@pytest.mark.feature("FLAG-001", "FLAG-051")
def test_flags_with_several_values_are_repeated(parked: Any) -> None:
    shown = parked.get("/?inline=fleets.vehicles&inline=depots")
    assert shown.keys() >= {"fleets", "depots"}
    assert shown == parked.get("/?inline=depots,fleets.vehicles")


OFF = {
    "binary": ("/fleets/north/manuals/driving$details?inline=manual&binary", "?inline=manual"),
    "collections": ("/fleets?collections", ""),
    "doc": ("/fleets/north?doc", ""),
    "filter": ("/fleets?filter=a..b", ""),
    "ignore": ("/fleets?ignore=nonsense", ""),
    "inline": ("/?inline=nonsense", ""),
    "setdefaultversionid": ("/fleets?setdefaultversionid=", ""),
    "sort": ("/fleets?sort=size=sideways", ""),
    "specversion": ("/fleets?specversion=0.1", ""),
    "epoch": ("/fleets?epoch=x", ""),
}


@pytest.mark.feature("FLAG-002", "CAP-009")
@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_that_is_off_is_not_seen(garage: Any, flag: str) -> None:
    target, kept = OFF[flag]
    before = garage.send("GET", target)
    garage.switch(flags=[one for one in FLAGS if one != flag])
    assert garage.get(target) == garage.get(target.partition("?")[0] + kept)
    assert before.status_code == 400 or before.json() != garage.get(target)


@pytest.mark.feature("FLAG-004")
def test_binary_changes_the_form_only(parked: Any) -> None:
    assert parked.get(f"{DRIVING}$details?binary") == parked.get(f"{DRIVING}$details")
    shown = parked.get(f"{DRIVING}$details?inline=*&binary")
    documents = [shown, *shown["versions"].values()]
    assert all("manual" not in one for one in documents)
    assert [msgspec.json.decode(base64.b64decode(one["manualbase64"])) for one in documents] == [
        {"pages": 2},
        {"pages": 1},
        {"pages": 2},
    ]


@pytest.mark.feature("FLAG-017")
def test_epoch_guards_deletes(garage: Any) -> None:
    garage.send("PATCH", VAN, {"wheels": 5})
    assert garage.problem("DELETE", f"{VAN}?epoch=2") == "mismatched_epoch"  # the Version has 2, the meta 1
    assert garage.problem("DELETE", "/fleets/west?epoch=99") == "mismatched_epoch"
    assert garage.problem("DELETE", f"{DRIVING}/versions/a?epoch=7") == "mismatched_epoch"
    assert garage.send("DELETE", f"{DRIVING}/versions/a?epoch=1").status_code == 204
    assert garage.send("DELETE", f"{VAN}?epoch=1").status_code == 204
    assert garage.send("DELETE", "/fleets/west?epoch=1").status_code == 204
    assert garage.problem("DELETE", "/fleets?epoch=1") == "bad_flag"
    assert garage.problem("DELETE", "/fleets/south/vehicles?epoch=1") == "bad_flag"
    for wrong in ("x", "-1", "", "1.0", "9" * 40):
        assert garage.problem("DELETE", f"/fleets/south?epoch={wrong}") == "invalid_attribute"


IMPORT = {
    "registryid": "elsewhere",
    "epoch": 99,
    "capabilities": {"flags": []},
    "modelsource": 5,
    "fleets": {"north": {"epoch": 77, "vehicles": {"van": {"meta": {"defaultversionid": "none", "epoch": 55}}}}},
}


@pytest.mark.feature("FLAG-041", "FLAG-042", "FLAG-043", "FLAG-044", "FLAG-045", "EXP-008")
@pytest.mark.parametrize("query", ["ignore", "ignore=", "ignore=*", "ignore=*,epoch", "ignore=epoch&ignore=*"])
def test_all_can_be_ignored_at_once(garage: Any, query: str) -> None:
    before = (garage.get("/capabilities"), garage.get("/modelsource"))
    answer = garage.send("PATCH", f"/?{query}", IMPORT)
    assert answer.status_code == 200, answer.text
    assert (garage.get("/capabilities"), garage.get("/modelsource")) == before
    assert garage.get(f"{VAN}/meta")["defaultversionid"] == "1"


@pytest.mark.feature("FLAG-042", "FLAG-043", "FLAG-044", "FLAG-045")
@pytest.mark.parametrize(
    ("target", "body", "ignored", "problem"),
    [
        ("/", {"capabilities": 123}, "capabilities", "capability_error"),
        ("/", {"modelsource": 123}, "modelsource", "model_error"),
        ("/", {"registryid": "other"}, "id", "mismatched_id"),
        ("/", {"epoch": 99}, "epoch", "mismatched_epoch"),
        ("/", {"fleets": {"north": {"epoch": 99}}}, "epoch", "mismatched_epoch"),
        ("/fleets/north", {"fleetid": "other"}, "id", "mismatched_id"),
        ("/fleets/north", {"epoch": 99}, "epoch", "mismatched_epoch"),
        (VAN, {"vehicleid": "other"}, "ID", "mismatched_id"),
        (VAN, {"meta": {"defaultversionid": "none"}}, "defaultversionid", "unknown_id"),
        (VAN, {"meta": {"epoch": 99}}, "epoch", "mismatched_epoch"),
        (f"{VAN}/meta", {"vehicleid": "other"}, "id", "mismatched_id"),
        (f"{VAN}/meta", {"defaultversionid": "none"}, "defaultversionid", "unknown_id"),
        (f"{VAN}/meta", {"defaultversionsticky": "often"}, "defaultversionsticky", "invalid_attribute"),
        (f"{VAN}/versions/1", {"vehicleid": "other"}, "id", "mismatched_id"),
        (f"{VAN}/versions/1", {"versionid": "other"}, "id", "mismatched_id"),
        (
            "/fleets",
            {"north": {"vehicles": {"van": {"meta": {"defaultversionid": "x"}}}}},
            "defaultversionid",
            "unknown_id",
        ),
    ],
)
def test_what_is_ignored_is_not_judged(garage: Any, target: str, body: Any, ignored: str, problem: str) -> None:
    assert garage.problem("PATCH", target, body) == problem
    others = "epoch" if ignored != "epoch" else "id"
    assert garage.problem("PATCH", f"{target}?ignore={others}", body) == problem
    answer = garage.send("PATCH", f"{target}?ignore={ignored}", body)
    assert answer.status_code == 200, answer.text


@pytest.mark.feature("FLAG-045")
@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("PATCH", "/fleets/north", {"vehicles": {"van": {"vehicleid": "other"}}}),
        ("PUT", VAN, {"versions": {"1": {"versionid": "other"}}}),
        ("POST", "/fleets", {"north": {"fleetid": "other"}}),
        ("POST", "/fleets/north", {"vehicles": {"van": {"vehicleid": "other"}}}),
    ],
)
def test_nested_ids_are_binding(parked: Any, method: str, target: str, body: Any) -> None:
    assert parked.problem(method, f"{target}?ignore=id", body) == "mismatched_id"


@pytest.mark.feature("FLAG-045")
def test_ids_in_headers_are_ignored_too(garage: Any) -> None:
    headers = {"xRegistry-manualid": "other", "xRegistry-versionid": "other"}
    for query, status in (("", 400), ("?ignore=id", 200)):
        answer = garage.client.put(f"{DRIVING}/versions/a{query}", content=b"text", headers=headers)
        assert answer.status_code == status, answer.text


@pytest.fixture
def sealed(garage: Any) -> Any:
    """The van can only be read."""
    with garage.store.write() as tx:
        van = tx.entity(VAN)
        tx.put(msgspec.structs.replace(van, attributes={**van.attributes, "readonly": True}))
    return garage


@pytest.mark.feature("FLAG-046")
def test_read_only_resources_are_passed_over(sealed: Any) -> None:
    before = sealed.get(VAN)
    bodies = {"van": {"wheels": 9}, "truck": {"wheels": 8}}
    for method, target, body in (
        ("POST", "/fleets/north/vehicles", bodies),
        ("PATCH", "/fleets/north/vehicles", bodies),
        ("POST", "/fleets/north", {"vehicles": bodies}),
        ("PATCH", "/", {"fleets": {"north": {"vehicles": bodies}}}),
    ):
        answer = sealed.send(method, f"{target}?ignore=readonly", body)
        assert answer.status_code == 200, answer.text
        assert sealed.get(VAN) == before
        assert sealed.get("/fleets/north/vehicles/truck")["wheels"] == 8
    assert sealed.send("DELETE", "/fleets/north/vehicles?ignore=readonly", {"van": {}}).status_code == 204
    assert sealed.send("DELETE", "/fleets/north/vehicles?ignore=readonly").status_code == 204
    assert set(sealed.get("/fleets/north/vehicles")) == {"van"}


@pytest.mark.feature("FLAG-046")
@pytest.mark.parametrize(
    ("method", "target"),
    [
        *(("PUT", VAN), ("PATCH", VAN), ("POST", VAN), ("DELETE", VAN), ("PATCH", f"{VAN}/meta")),
        *(("PUT", f"{VAN}/versions/1"), ("POST", f"{VAN}/versions"), ("DELETE", f"{VAN}/versions/1")),
    ],
)
def test_the_only_resource_cannot_be_passed_over(sealed: Any, method: str, target: str) -> None:
    assert sealed.problem(method, f"{target}?ignore=readonly", {}) == "bad_flag"


@pytest.mark.feature("FLAG-047")
@pytest.mark.parametrize("value", ["nonsense", "epoch,nonsense", "epoch&ignore=x", "ep och", "*,x"])
def test_what_cannot_be_ignored_is_refused(parked: Any, value: str) -> None:
    assert parked.problem("PATCH", f"/?ignore={value}", {}) == "bad_ignore"


@pytest.mark.feature("FLAG-041", "FLAG-047", "CAP-011")
def test_only_supported_values_are_ignored(garage: Any) -> None:
    assert garage.problem("PATCH", "/?ignore=id,", {"epoch": 99}) == "mismatched_epoch"
    garage.switch(ignores=["id"])
    assert garage.problem("PATCH", "/?ignore=epoch", {}) == "bad_ignore"
    assert garage.problem("PATCH", "/?ignore", {"epoch": 99}) == "mismatched_epoch"
    assert garage.send("PATCH", "/?ignore", {"registryid": "other"}).status_code == 200


@pytest.mark.feature("FLAG-065")
@pytest.mark.parametrize(
    ("flag", "body"),
    [
        ("noepoch", {"epoch": 99}),
        ("nodefaultversionid", {"meta": {"defaultversionid": "x"}}),
        ("nodefaultversionsticky", {"meta": {"defaultversionsticky": 3}}),
    ],
)
def test_flags_of_older_versions_still_help(garage: Any, flag: str, body: Any) -> None:
    assert garage.send("PATCH", VAN, body).status_code == 400
    assert garage.send("PATCH", f"{VAN}?{flag}", body).status_code == 200


@pytest.mark.feature("FLAG-048", "FLAG-049", "FLAG-050", "FLAG-051", "FLAG-053")
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/?inline=model", {"model"}),
        ("/?inline=modelsource,capabilities", {"modelsource", "capabilities"}),
        ("/?inline", {"fleets", "depots"}),
        ("/?inline=", {"fleets", "depots"}),
        ("/?inline=*", {"fleets", "depots"}),
        ("/?inline=model,*", {"model", "fleets", "depots"}),
        ("/?inline=fleets.vehicles.versions", {"fleets"}),
        ("/fleets/north?inline=vehicles", {"vehicles"}),
        ("/fleets/north?inline=*", {"vehicles", "manuals"}),
        (f"{DRIVING}$details?inline=meta", {"meta"}),
        (f"{DRIVING}$details?inline=manual", {"manual"}),
        (f"{DRIVING}$details?inline=versions.manual", {"versions"}),
        (f"{DRIVING}$details?inline=*", {"meta", "versions", "manual"}),
        (f"{DRIVING}/versions/a$details?inline=manual", {"manual"}),
        (f"{DRIVING}/versions/a$details?inline", {"manual"}),
    ],
)
def test_inline_shows_what_is_named(parked: Any, target: str, expected: set[str]) -> None:
    assert parked.get(target).keys() - parked.get(target.partition("?")[0]).keys() == expected


@pytest.mark.feature("FLAG-051")
def test_parents_show_only_the_way_to_a_child(parked: Any) -> None:
    north = parked.get("/?inline=fleets.vehicles.meta")["fleets"]["north"]
    assert "manuals" not in north
    assert north["vehicles"]["van"].keys() & {"meta", "versions"} == {"meta"}


@pytest.mark.feature("FLAG-052", "FLAG-053")
@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("/?inline=nonsense", "inline_noninlineable"),
        ("/?inline=Fleets", "inline_noninlineable"),
        ("/?inline=region", "inline_noninlineable"),
        ("/?inline=fleets.north", "inline_noninlineable"),
        ("/?inline=model.groups", "inline_noninlineable"),
        ("/fleets?inline=fleets", "inline_noninlineable"),
        ("/fleets/north?inline=model", "inline_noninlineable"),
        (f"{VAN}?inline=vehicle", "inline_noninlineable"),
        (f"{DRIVING}$details?inline=manualbase64", "inline_noninlineable"),
        (f"{VAN}/meta?inline=versions", "inline_noninlineable"),
        ("/?inline=fleets*", "bad_inline"),
        ("/?inline=*.vehicles", "bad_inline"),
        ("/?inline=fleets.*.meta", "bad_inline"),
        ("/?inline=fleets..vehicles", "bad_inline"),
        ("/?inline=fleets[0]", "bad_inline"),
        ("/?inline=.", "bad_inline"),
        ("/?inline=" + ".".join(["fleets"] * 5000), "inline_noninlineable"),
    ],
)
def test_what_cannot_be_inlined_is_refused(parked: Any, target: str, problem: str) -> None:
    assert parked.problem("GET", target) == problem


@pytest.mark.feature("FLAG-054")
def test_too_much_for_one_answer(garage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_ENTITIES", 3)
    answer = garage.send("GET", "/?inline=*")
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (406, "too_large")
    assert garage.problem("GET", "/?collections") == "too_large"
    assert garage.problem("GET", "/export") == "too_large"
    assert garage.get("/fleets/south/vehicles?inline")["van"]["versionscount"] == 1


@pytest.mark.feature("FLAG-055")
def test_writes_answer_as_reads_do(garage: Any) -> None:
    assert "vehicles" not in garage.send("PATCH", "/fleets/north", {}).json()
    shown = garage.send("PATCH", "/fleets/north?inline=vehicles&filter=vehicles.wheels=6", {}).json()
    assert set(shown["vehicles"]) == {"truck"}
    assert "meta" in garage.send("PATCH", f"{VAN}?inline=meta", {}).json()
    assert garage.send("PATCH", f"{VAN}?doc", {}).json()["self"] == "#/"
    members = garage.send("POST", "/fleets?inline=vehicles&sort=name=desc", {"north": {}, "south": {}}).json()
    assert list(members) == ["south", "north"]
    made = garage.send("POST", f"{DRIVING}$details?inline=manual", {"manual": {"pages": 3}}).json()
    assert made["manual"] == {"pages": 3}
    assert garage.problem("PATCH", "/fleets/north?inline=nonsense", {"size": 99}) == "inline_noninlineable"
    assert garage.get("/fleets/north").get("size") != 99


@pytest.mark.feature("FLAG-056", "FLAG-058", "FLAG-060")
def test_a_version_becomes_the_default(garage: Any) -> None:
    meta = f"{DRIVING}/meta"
    assert garage.send("PATCH", f"{DRIVING}/versions/a$details?setdefaultversionid=a", {}).status_code == 200
    assert (garage.get(meta)["defaultversionid"], garage.get(meta)["defaultversionsticky"]) == ("a", True)
    assert garage.send("PATCH", f"{DRIVING}$details?setdefaultversionid=null", {}).status_code == 200
    assert (garage.get(meta)["defaultversionid"], garage.get(meta)["defaultversionsticky"]) == ("b", False)
    answer = garage.send("PATCH", f"{meta}?setdefaultversionid=a", {"defaultversionid": "b"})
    assert answer.json()["defaultversionid"] == "a"
    for wrong in ("c", "A", "a%20"):
        assert garage.problem("PATCH", f"{meta}?setdefaultversionid={wrong}", {}) == "unknown_id"
    for empty in ("setdefaultversionid", "setdefaultversionid="):
        assert garage.problem("PATCH", f"{meta}?{empty}", {}) == "bad_defaultversionid"
    assert garage.send("DELETE", f"{DRIVING}/versions/a?setdefaultversionid=b").status_code == 204
    assert garage.get(meta)["defaultversionid"] == "b"


@pytest.mark.feature("FLAG-057")
def test_the_version_of_this_request_becomes_the_default(garage: Any) -> None:
    made = garage.send("POST", f"{DRIVING}$details?setdefaultversionid=request", {"versionid": "c"})
    assert made.json()["isdefault"] is True
    assert garage.get(f"{DRIVING}/meta")["defaultversionsticky"] is True
    again = garage.send("POST", f"{DRIVING}$details?setdefaultversionid=request", {"versionid": "a"})
    assert (again.status_code, again.json()["isdefault"]) == (200, True), "an update of a Version counts as well"
    assert garage.problem("PUT", f"{DRIVING}$details?setdefaultversionid=request", {}) == "defaultversionid_request"
    versions = f"{DRIVING}/versions"
    assert garage.problem("POST", f"{versions}?setdefaultversionid=request", {"x": {}, "y": {}}) == "too_many_versions"
    assert garage.problem("POST", f"{versions}?setdefaultversionid=request", {}) == "defaultversionid_request"
    assert garage.problem("PATCH", f"{DRIVING}/meta?setdefaultversionid=request", {}) == "bad_flag"
    assert garage.problem("DELETE", f"{versions}/a?setdefaultversionid=request") == "bad_flag"


@pytest.mark.feature("FLAG-059")
@pytest.mark.parametrize(
    ("method", "target"),
    [
        *(("PUT", "/"), ("POST", "/"), ("POST", "/fleets"), ("PATCH", "/fleets/north"), ("POST", "/fleets/north")),
        *(("POST", "/fleets/north/manuals"), ("DELETE", "/fleets/north/manuals"), ("DELETE", "/fleets")),
    ],
)
def test_a_default_needs_one_resource(parked: Any, method: str, target: str) -> None:
    assert parked.problem(method, f"{target}?setdefaultversionid=a", {}) == "bad_flag"


@pytest.mark.feature("FLAG-068")
@pytest.mark.parametrize(
    ("version", "is_spoken"),
    [
        *(("1.0-rc4", True), ("1.0-RC4", True), ("1.0.7-rc4", True), ("1.0.0-Rc4", True)),
        *(("1.0", False), ("1.0-rc44", False), ("1.1-rc4", False), ("2.0-rc4", False), ("", False), ("x", False)),
    ],
)
def test_versions_of_the_specification(parked: Any, version: str, is_spoken: bool) -> None:
    for target in ("/", "/fleets", "/export", "/model", "/capabilities"):
        answer = parked.send("GET", f"{target}?specversion={version}")
        assert answer.status_code == (200 if is_spoken else 400)
        assert is_spoken or answer.json()["type"].endswith("#unsupported_specversion")


@pytest.mark.audit("registry-7")
@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("/?inline=model.*", "inline_noninlineable"),
        ("/?inline=modelsource.*", "inline_noninlineable"),
        ("/?inline=capabilities.*", "inline_noninlineable"),
        ("/?inline=fleets.vehicles.meta.*", "inline_noninlineable"),
        ("/?inline=fleets.manuals.manual.*", "inline_noninlineable"),
        ("/?inline=fleets.manuals.versions.manual.*", "inline_noninlineable"),
        ("/?inline=trains.*", "inline_noninlineable"),
        ("/?inline=fleets.north.vehicles", "inline_noninlineable"),
        (f"{VAN}?inline=meta.*", "inline_noninlineable"),
        ("/?inline=*.vehicles", "bad_inline"),
        ("/?inline=fleets*", "bad_inline"),
        ("/?inline=fleets..vehicles", "bad_inline"),
    ],
)
def test_only_collections_have_something_below_them(parked: Any, target: str, problem: str) -> None:
    assert parked.problem("GET", target) == problem


@pytest.mark.audit("registry-7")
@pytest.mark.parametrize("path", ["fleets.*", "depots.*", "fleets.manuals.versions.*", "fleets.vehicles.versions.*"])
def test_everything_below_a_collection_can_be_inlined(parked: Any, path: str) -> None:
    assert path.partition(".")[0] in parked.get(f"/?inline={path}")
    assert parked.get(f"/?inline={path},") == parked.get(f"/?inline={path}")
