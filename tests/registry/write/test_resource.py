from __future__ import annotations

from typing import Any

import pytest

from postroom.registry.problems import RegistryProblem

OVEN = "/schemagroups/ovens/schemas/oven"
UNCHECKED = {"format": "Ovens/1"}  # a format that nobody checks: here it is about everything else
CIRCLE = "ancestor_circular_reference"
HEATED = "/messagegroups/ovens/messages/heated"


def versions(registry: Any, xid: str = OVEN) -> dict[str, str]:
    return {one: version["ancestorid"] for one, version in registry.show(f"{xid}/versions").items()}


@pytest.mark.feature("RES-001", "RES-003", "RES-047", "REG-085", "VER-004", "VER-005", "META-002", "META-016")
def test_a_resource_is_made_with_its_parents_and_one_version(registry: Any) -> None:
    shown = registry.put(OVEN, {**UNCHECKED, "schema": {"type": "object"}})
    assert shown["self"] == f"http://registry{OVEN}$details"
    assert (shown["schemaid"], shown["versionid"], shown["epoch"], shown["isdefault"]) == ("oven", "1", 1, True)
    assert (shown["ancestorid"], shown["versionscount"], shown["contenttype"]) == ("1", 1, "application/json")
    meta = registry.show(f"{OVEN}/meta")
    assert (meta["defaultversionid"], meta["defaultversionsticky"], meta["readonly"]) == ("1", False, False)
    assert meta["defaultversionurl"] == f"http://registry{OVEN}/versions/1$details"


@pytest.mark.feature("VER-005", "VER-011", "VER-013", "RES-048", "META-003")
def test_the_newest_version_is_the_default(registry: Any) -> None:
    registry.put(OVEN, UNCHECKED)
    assert registry.post_version(OVEN, UNCHECKED) == "2"
    registry.put(f"{OVEN}/versions/v7", UNCHECKED)
    assert registry.post_version(OVEN, UNCHECKED) == "3"
    assert versions(registry) == {"1": "1", "2": "1", "v7": "2", "3": "v7"}
    shown = registry.put(OVEN, {**UNCHECKED, "description": "the newest"})
    assert (shown["versionid"], shown["epoch"], shown["versionscount"]) == ("3", 2, 4)
    assert registry.show(f"{OVEN}/meta")["epoch"] == 4


@pytest.mark.feature("META-011", "META-012", "META-013", "META-014", "META-018", "FLAG-056", "FLAG-058")
def test_a_sticky_default_stays(registry: Any) -> None:
    registry.put(f"{OVEN}/versions", {"1": UNCHECKED, "2": UNCHECKED})
    registry.patch(f"{OVEN}/meta", {"defaultversionid": "1"})
    registry.put(f"{OVEN}/versions/3", UNCHECKED)
    shown = registry.show(OVEN)
    assert (shown["versionid"], shown["epoch"]) == ("1", 1)
    with pytest.raises(RegistryProblem) as unknown:
        registry.patch(f"{OVEN}/meta", {"defaultversionid": "9"})
    assert unknown.value.name == "unknown_id"
    registry.delete(f"{OVEN}/versions/1")
    meta = registry.show(f"{OVEN}/meta")
    assert (meta["defaultversionid"], meta["defaultversionsticky"]) == ("3", False)
    registry.put(OVEN, UNCHECKED, default="2")
    assert registry.show(f"{OVEN}/meta")["defaultversionsticky"] is True
    registry.put(f"{OVEN}/meta", {})
    assert registry.show(OVEN)["versionid"] == "3"


@pytest.mark.feature("RES-043", "RES-044", "RES-045", "RES-046")
@pytest.mark.parametrize(
    ("body", "default", "names"),
    [
        ({"versionid": "a", "name": "own"}, "a", {"a": "own"}),
        ({"versionid": "a", "name": "own", "versions": {"a": {"name": "listed"}}}, "a", {"a": "listed"}),
        ({"versionid": "b", "name": "own", "versions": {"a": {"name": "listed"}}}, "b", {"a": "listed", "b": "own"}),
        ({"name": "own", "meta": {"defaultversionid": "a", "defaultversionsticky": True}}, "a", {"a": "own"}),
        ({"name": "own", "versions": {"a": {"name": "1"}, "b": {"name": "2"}}}, "b", {"a": "1", "b": "2"}),
        ({"name": "own"}, "1", {"1": "own"}),
    ],
)
def test_which_version_a_new_resource_gets(registry: Any, body: Any, default: str, names: dict[str, str]) -> None:
    xid = "/schemagroups/ovens/schemas/new"
    registry.put("/schemagroups/ovens", UNCHECKED)  # C-26: the format comes from the group
    assert registry.put(xid, body)["versionid"] == default
    assert {one: version["name"] for one, version in registry.show(f"{xid}/versions").items()} == names


@pytest.mark.feature("VER-002", "VER-003", "VER-006", "VER-007", "REG-035", "REG-037", "RES-031", "MOD-031", "HTTP-036")
@pytest.mark.parametrize(
    ("xid", "body", "problem"),
    [
        (OVEN, {**UNCHECKED, "versionid": "7"}, "mismatched_id"),
        (OVEN, {**UNCHECKED, "schemaid": "grill"}, "mismatched_id"),
        ("/schemagroups/ovens/schemas/OVEN", UNCHECKED, "bad_request"),
        (f"{OVEN}/versions/2", {**UNCHECKED, "ancestorid": "9"}, "unknown_id"),
        (f"{OVEN}/versions/request", UNCHECKED, "malformed_id"),
        (f"{OVEN}/versions", {"2": {**UNCHECKED, "ancestorid": "3"}, "3": UNCHECKED}, CIRCLE),
        (f"{OVEN}/versions/2", {"format": "Doors/1"}, "mismatched_version_attribute"),
        (OVEN, {**UNCHECKED, "schema": {}, "schemaurl": "https://x.example"}, "one_resource"),
        (OVEN, {**UNCHECKED, "schemabase64": "%%%"}, "invalid_attribute"),
        (OVEN, {**UNCHECKED, "epoch": 9}, "mismatched_epoch"),
        (OVEN, {}, "required_attribute_missing"),
        ("/schemagroups/ovens/schemas/none/versions", {}, "missing_versions"),
        (HEATED, {"meta": {"defaultversionsticky": True}}, "setdefaultversionsticky_false"),
        (HEATED, {"envelope": "CloudEvents/1.0", "envelopemetadata": {"id": {"required": 1}}}, "invalid_attribute"),
        (HEATED, {"basemessage": "/messagegroups/ovens"}, "invalid_attribute"),
        (HEATED, {"basemessage": "urn:a", "basemessageuri": "urn:b"}, "invalid_attribute"),
        (HEATED, {"meta": {"xref": "messages/x"}}, "malformed_xref"),
        (HEATED, {"name": "n", "meta": {"xref": "/messagegroups/g/messages/a"}}, "extra_xref_attribute"),
    ],
)  # fmt: skip
def test_bad_resources_are_refused_and_nothing_is_written(registry: Any, xid: str, body: Any, problem: str) -> None:
    registry.put(OVEN, UNCHECKED)
    before = registry.show("/", "*")
    with pytest.raises(RegistryProblem) as refused:
        registry.put(xid, body)
    assert refused.value.name == problem
    assert registry.show("/", "*") == before


@pytest.mark.feature("MOD-070", "MOD-071", "VER-030")
def test_messages_keep_one_version(registry: Any) -> None:
    registry.put(HEATED, {"description": "first"})
    registry.post_version(HEATED, {"description": "second"})
    assert versions(registry, HEATED) == {"2": "2"}
    with registry.store.read() as tx:
        assert [old.attributes["description"] for old in tx.history(f"{HEATED}/versions/1")] == ["first"]


@pytest.mark.feature("VER-014", "VER-010", "HTTP-037", "HTTP-040")
def test_deleting_versions_makes_roots_and_the_last_takes_the_resource(registry: Any) -> None:
    registry.put(f"{OVEN}/versions", {"1": UNCHECKED, "2": UNCHECKED, "3": UNCHECKED})
    registry.delete(f"{OVEN}/versions/2")
    assert versions(registry) == {"1": "1", "3": "3"}
    assert registry.show(f"{OVEN}/versions/3")["epoch"] == 2
    registry.delete(f"{OVEN}/versions")
    with pytest.raises(RegistryProblem) as gone:
        registry.show(OVEN)
    assert gone.value.name == "not_found"


@pytest.mark.feature("MSG-008", "MSG-009", "MOD-064", "MOD-065", "GRP-005")
def test_messages_take_the_envelope_of_their_group_or_are_refused(registry: Any) -> None:
    registry.put("/messagegroups/ovens", {"envelope": "CloudEvents/1.0"})
    assert registry.put(HEATED, {})["envelope"] == "CloudEvents/1.0"
    assert registry.put(HEATED, {"envelope": "cloudevents/1.0"})["envelope"] == "cloudevents/1.0"
    with pytest.raises(RegistryProblem) as refused:
        registry.put(HEATED, {"envelope": "Other/1.0"})
    assert refused.value.name == "constraint_failure"
    with pytest.raises(RegistryProblem) as group_refused:
        registry.put("/messagegroups/ovens", {"envelope": "Other/1.0"})
    assert group_refused.value.name == "constraint_failure"


@pytest.mark.feature("MSG-012", "REG-031")
def test_what_an_author_wrote_is_what_is_stored(registry: Any) -> None:
    written = {
        "basemessage": "/messagegroups/ovens/messages/base",
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "heated"}, "partitionkey": {"value": "{oven}", "type": "uritemplate"}},
        "protocol": "Kafka",
        "protocoloptions": {"topic": "ovens-{site}", "headers": {"EventType": {"value": "x"}}},
        "dataschema": {"Type": "object", "Deep": [None, 1.5]},
        "mine": {"Any": "thing"},
    }
    shown = registry.put(HEATED, written)
    assert {name: shown[name] for name in written} == written


@pytest.mark.feature("RES-051", "RES-052", "RES-054", "RES-055", "RES-058")
def test_a_reference_shows_its_target(registry: Any) -> None:
    other = "/messagegroups/shared/messages/warm"
    registry.put(HEATED, {"meta": {"xref": other}})
    dangling = registry.show(HEATED, "*")
    assert "versionid" not in dangling
    assert dangling["meta"]["xref"] == other
    registry.put(other, {"description": "from there"})
    alive = registry.show(HEATED, "*")
    assert (alive["description"], alive["messageid"]) == ("from there", "heated")
    assert alive["versions"]["1"]["xid"] == f"{HEATED}/versions/1"
    registry.put(f"{HEATED}/meta", {})
    assert "description" not in registry.show(HEATED)
    assert "xref" not in registry.show(f"{HEATED}/meta")


@pytest.mark.feature("VER-021", "VER-023", "VER-024", "REG-026")
def test_unchecked_formats_say_so_and_patches_keep_them(registry: Any) -> None:
    registry.put(OVEN, {**UNCHECKED, "formatvalidated": True})
    patched = registry.patch(OVEN, {"name": "Oven"})
    assert patched["formatvalidated"] is False
    assert patched["formatvalidatedreason"]
    assert patched["name"] == "Oven"


@pytest.mark.feature("VER-015", "VER-017", "MOD-076")
@pytest.mark.parametrize(
    ("mode", "expected"),
    [("createdat", ["b", "c", "a"]), ("semver", ["a", "b", "c"])],
)
def test_chained_modes_order_versions(registry: Any, mode: str, expected: list[str]) -> None:
    ids = {"a": "1.0.0-rc.1", "b": "1.0.0", "c": "1.2.0"} if mode == "semver" else {"a": "a", "b": "b", "c": "c"}
    times = {"a": "2023", "b": "2021", "c": "2022"}
    source = {
        "groups": {"kitchens": {"singular": "kitchen", "resources": {"pans": {"singular": "pan", "versionmode": mode}}}}
    }
    registry.put("/", {"modelsource": source})
    xid = "/kitchens/k/pans/p"
    registry.put(f"{xid}/versions", {ids[one]: {"createdat": f"{times[one]}-01-01T00:00:00Z"} for one in ids})
    chain = [ids[one] for one in expected]
    assert versions(registry, xid) == {one: chain[max(0, position - 1)] for position, one in enumerate(chain)}
    assert registry.show(xid)["versionid"] == chain[-1]


@pytest.mark.audit("registry-11")
@pytest.mark.parametrize("name", ["meta", "metaurl", "versions", "versionsurl", "versionscount"])
def test_versions_do_not_have_what_belongs_to_their_resource(registry: Any, name: str) -> None:
    for extensions, problem in (({"*": {"type": "any"}}, "invalid_attribute"), ({}, "unknown_attribute")):
        files = {"singular": "file", "hasdocument": False, "attributes": extensions}
        registry.put("/", {"modelsource": {"groups": {"dirs": {"singular": "dir", "resources": {"files": files}}}}})
        for write in (
            lambda: registry.put("/dirs/d/files/f/versions/1", {name: 1}),
            lambda: registry.put("/dirs/d/files/f/versions", {"1": {name: 1}}),
            lambda: registry.put("/dirs/d/files/f", {"versions": {"1": {name: 1}}}),
            lambda: registry.post_version("/dirs/d/files/f", {name: 1}),
        ):
            with pytest.raises(RegistryProblem) as refused:
                write()
            assert (refused.value.name, refused.value.args_map["name"]) == (problem, name)


@pytest.mark.audit("registry-18")
def test_a_default_that_becomes_sticky_is_the_present_one(registry: Any) -> None:
    registry.put(f"{OVEN}/versions", {"1": UNCHECKED, "2": UNCHECKED})
    registry.patch(OVEN, {"meta": {"defaultversionsticky": True}, "versions": {"3": UNCHECKED}})
    registry.put(f"{OVEN}/versions/4", UNCHECKED)
    meta = registry.show(f"{OVEN}/meta")
    assert (meta["defaultversionid"], meta["defaultversionsticky"]) == ("2", True)
    registry.patch(f"{OVEN}/meta", {"defaultversionsticky": False})
    assert registry.patch(f"{OVEN}/meta", {"defaultversionsticky": True})["defaultversionid"] == "4"


@pytest.mark.audit("registry-19")
@pytest.mark.parametrize("patch", [True, False])
def test_a_reference_does_not_end_with_a_default_that_is_not_there(registry: Any, patch: bool) -> None:
    dirs = {"singular": "dir", "resources": {"files": {"singular": "file"}}}
    registry.put("/", {"modelsource": {"groups": {"dirs": dirs}}})
    target, shown = "/dirs/d/files/target", "/dirs/d/files/shown"
    registry.put(target, {})
    registry.put(f"{shown}/meta", {"xref": target})
    with pytest.raises(RegistryProblem) as refused:
        registry.put(f"{shown}/meta", {"xref": None, "defaultversionid": "9", "defaultversionsticky": True}, patch)
    assert refused.value.name == "unknown_id"
    assert registry.show(f"{shown}/meta")["xref"] == target
    registry.put(f"{shown}/meta", {"xref": None, "defaultversionid": "1", "defaultversionsticky": True}, patch)
    assert list(registry.show(f"{shown}/versions")) == ["1"]
