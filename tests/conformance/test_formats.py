"""VER, META, SCH: documents are checked against their formats and their ancestors on every way of writing them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from tests.registry.http_client import Wire

GROUP = "/schemagroups/fleet"
RIDE = f"{GROUP}/schemas/ride"
AVRO, JSON_SCHEMA = "Avro/1.11", "JsonSchema/draft-07"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Wire]:
    """A registry for messages: its schemas are checked and compared, not strictly."""
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        opened = Wire(store)
        yield opened
        opened.close()


def record(**fields: Any) -> dict[str, Any]:
    """An Avro record; a field's value is its type, or a type and a default."""
    described = [
        {"name": name, "type": kind[0], "default": kind[1]} if isinstance(kind, tuple) else {"name": name, "type": kind}
        for name, kind in fields.items()
    ]
    return {"type": "record", "name": "Ride", "fields": described}


ONE = record(bicycle="string")
TWO = record(bicycle="string", metres=("int", 0))
BROKEN = record(bicycle="string", metres="int")
OTHER = record(bicycle="string", metres=("int", 0), fare=("double", 0.0))


def strict(registry: Wire) -> None:
    source = registry.get("/modelsource")
    source["groups"]["schemagroups"]["resources"]["schemas"]["strictvalidation"] = True
    registry.ok("PUT", "/modelsource", source)


def written(*documents: Any, form: str = AVRO, **meta: Any) -> dict[str, Any]:
    versions = {
        str(number): {"format": form, "schema": document, "ancestorid": str(max(1, number - 1))}
        for number, document in enumerate(documents, 1)
    }
    return {"versions": versions, "meta": meta} if meta else {"versions": versions}


@pytest.mark.feature("VER-022", "SCH-024", "SCH-004", "ERR-035")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", f"{RIDE}$details", {"format": AVRO, "schema": {"type": "record"}}),
        ("PATCH", f"{RIDE}$details", {"format": AVRO, "schema": {"type": "record"}}),
        ("POST", f"{RIDE}$details", {"format": AVRO, "schema": {"type": "record"}}),
        ("PUT", f"{RIDE}/versions/7$details", {"format": AVRO, "schema": {"type": "record"}}),
        ("POST", f"{RIDE}/versions", {"7": {"format": AVRO, "schema": {"type": "record"}}}),
        ("POST", f"{GROUP}/schemas", {"ride": {"format": AVRO, "schema": {"type": "record"}}}),
        ("PUT", GROUP, {"schemas": {"ride": {"format": AVRO, "schema": {"type": "record"}}}}),
        ("POST", "/schemagroups", {"fleet": {"schemas": {"ride": {"format": AVRO, "schema": {"type": "record"}}}}}),
        ("POST", "/", {"schemagroups": {"fleet": {"schemas": {"ride": {"format": AVRO, "schema": {"type": 5}}}}}}),
        ("PUT", "/", {"schemagroups": {"fleet": {"schemas": {"ride": {"format": AVRO, "schema": {"type": 5}}}}}}),
    ],
)
def test_what_a_format_does_not_allow_is_refused_however_it_comes(
    registry: Wire, method: str, path: str, body: Any
) -> None:
    assert registry.refusal(method, path, body) == "format_violation"
    assert registry.send("GET", RIDE).status == 404
    assert registry.get("/schemagroups") == {}


@pytest.mark.feature("VER-022")
def test_a_document_that_comes_as_itself_is_checked_too(registry: Wire) -> None:
    headers = {"content-type": "application/json", "xRegistry-format": AVRO}
    refused = registry.send("PUT", RIDE, headers=headers, raw=b'{"type": "record", "name": "9"}')
    assert refused.problem == "format_violation"
    assert "9" in refused.json["detail"]
    assert registry.send("PUT", RIDE, headers=headers, raw=json.dumps(ONE).encode()).status == 201
    # A change of the format alone has to suit the document as well.
    assert registry.refusal("PATCH", f"{RIDE}$details", {"format": "XSD/1.0"}) == "format_violation"


XSD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"/></xs:schema>'
PROTO = 'syntax = "proto3"; message Ride { string bicycle = 1; }'


@pytest.mark.feature("VER-021", "VER-024", "SCH-017", "SCH-018")
@pytest.mark.parametrize(
    ("form", "document", "validated"),
    [
        ("Avro/1.11", ONE, True),
        ("AVRO", ONE, True),
        ("JSONSchema/Draft-07", {"type": "object"}, True),
        ("JsonSchema/draft/2020-12", True, True),
        ("Protobuf/3", PROTO, True),
        ("Proto/3", PROTO, True),
        ("XMLSchema/1.1", XSD, True),
        (
            "JsonStructure/draft-02",
            {"$schema": "https://json-structure.org/meta/core/v0/#", "$id": "https://h.example/r", "name": "R",
             "type": "object", "properties": {"bicycle": {"type": "string"}}},
            True,
        ),
        ("Thrift/1", {"anything": 1}, False),
    ],
)  # fmt: skip
def test_versions_say_whether_they_were_checked(registry: Wire, form: str, document: Any, validated: bool) -> None:
    shown = registry.ok("PUT", f"{RIDE}$details", {"format": form, "schema": document})
    assert shown["formatvalidated"] is validated
    assert ("formatvalidatedreason" in shown) is not validated
    assert shown["format"] == form
    assert "compatibilityvalidated" not in shown


@pytest.mark.feature("VER-023", "VER-026", "ERR-033", "ERR-034")
def test_strictness_decides_about_what_cannot_be_checked(registry: Wire) -> None:
    outside = {"format": AVRO, "schemaurl": "https://elsewhere.example/ride.avsc"}
    assert registry.ok("PUT", f"{RIDE}$details", outside)["formatvalidated"] is False
    dangling = {"format": JSON_SCHEMA, "schema": {"$ref": "/schemagroups/fleet/schemas/nowhere"}}
    shown = registry.ok("PUT", f"{GROUP}/schemas/dangling$details", dangling)
    assert shown["formatvalidated"] is False
    assert "nowhere" in shown["formatvalidatedreason"]
    registry.ok("DELETE", "/schemagroups")
    strict(registry)
    assert registry.refusal("PUT", f"{RIDE}$details", outside) == "format_external"
    assert registry.refusal("PUT", f"{RIDE}$details", dangling) == "format_external"
    assert registry.refusal("PUT", f"{RIDE}$details", {"format": "Thrift/1", "schema": 1}) == "format_unknown"


@pytest.mark.feature("VER-029")
@pytest.mark.parametrize("document", [{}, {"schema": ""}, {"schemabase64": ""}])
def test_no_document_and_an_empty_one_are_the_same(registry: Wire, document: dict[str, Any]) -> None:
    assert registry.refusal("PUT", f"{RIDE}$details", {"format": AVRO, **document}) == "format_violation"


@pytest.mark.feature("VER-029")
def test_a_resource_type_without_documents_has_empty_ones(registry: Wire) -> None:
    page = {"singular": "page", "hasdocument": False, "validateformat": True}
    source = registry.get("/modelsource")
    source["groups"]["books"] = {"singular": "book", "resources": {"pages": page}}
    registry.ok("PUT", "/modelsource", source)
    assert registry.refusal("PUT", "/books/b/pages/p", {"format": AVRO}) == "format_violation"
    assert "formatvalidated" not in registry.ok("PUT", "/books/b/pages/p", {})


@pytest.mark.parametrize("order", [("place", "ride"), ("ride", "place")])
def test_a_reference_may_come_with_the_same_request(registry: Wire, order: tuple[str, str]) -> None:
    documents = {
        "place": {"type": "enum", "name": "Place", "symbols": ["STATION"]},
        "ride": record(ended="Place"),
    }
    body = {name: {"format": AVRO, "schema": documents[name]} for name in order}
    made = registry.ok("POST", f"{GROUP}/schemas", body)
    assert made["ride"]["formatvalidated"] is True
    assert registry.get(f"{RIDE}$details")["formatvalidated"] is True
    strict(registry)
    assert registry.refusal("PUT", f"{GROUP}/schemas/lost$details", {"format": AVRO, "schema": record(x="Nowhere")})


@pytest.mark.feature("VER-027", "SCH-009", "SCH-025", "SCH-027", "SCH-028", "ERR-026")
@pytest.mark.parametrize(
    ("rule", "documents", "fits"),
    [
        ("backward", [ONE], True),
        ("backward", [ONE, TWO], True),
        ("backward", [ONE, BROKEN], False),
        ("forward", [ONE, BROKEN], True),
        ("forward", [BROKEN, ONE], False),
        ("full", [ONE, TWO], True),
        ("full", [ONE, BROKEN], False),
        ("backward", [ONE, TWO, BROKEN], True),
        ("backward_transitive", [ONE, TWO, BROKEN], False),
        ("backward_transitive", [ONE, TWO, OTHER], True),
        ("forward_transitive", [BROKEN, TWO, ONE], False),
        ("forward", [BROKEN, TWO, ONE], True),
        ("full_transitive", [ONE, TWO, OTHER], True),
        ("full_transitive", [ONE, TWO, BROKEN], False),
        ("BackWard", [ONE, BROKEN], False),
        ("none", [ONE, BROKEN], True),
    ],
)
def test_versions_go_with_their_ancestors(registry: Wire, rule: str, documents: list[Any], fits: bool) -> None:
    body = written(*documents, compatibility=rule)
    if not fits:
        assert registry.refusal("PUT", f"{RIDE}$details", body) == "compatibility_violation"
        assert registry.send("GET", RIDE).status == 404
        return
    shown = registry.ok("PUT", f"{RIDE}$details", body)
    assert shown.get("compatibilityvalidated") is (None if rule == "none" else True)


@pytest.mark.feature("META-009")
def test_a_new_rule_is_tried_on_all_versions(registry: Wire) -> None:
    registry.ok("PUT", f"{RIDE}$details", written(ONE, BROKEN, TWO))
    assert registry.refusal("PATCH", f"{RIDE}/meta", {"compatibility": "backward"}) == "compatibility_violation"
    assert "compatibility" not in registry.get(f"{RIDE}/meta")
    registry.ok("PATCH", f"{RIDE}/meta", {"compatibility": "forward"})
    assert all(one["compatibilityvalidated"] for one in registry.get(f"{RIDE}/versions").values())
    registry.ok("PATCH", f"{RIDE}/meta", {"compatibility": None})
    assert not any("compatibilityvalidated" in one for one in registry.get(f"{RIDE}/versions").values())


@pytest.mark.feature("VER-028")
def test_the_lineage_is_that_of_the_ancestors_not_of_time(registry: Wire) -> None:
    registry.ok("PUT", f"{RIDE}$details", written(ONE, TWO, compatibility="backward"))
    # A branch off version 2, which has `metres` already, and one off version 1, which has not.
    branch = {"format": AVRO, "schema": BROKEN}
    assert registry.ok("PUT", f"{RIDE}/versions/3$details", {**branch, "ancestorid": "2"})["compatibilityvalidated"]
    refused = registry.refusal("PUT", f"{RIDE}/versions/4$details", {**branch, "ancestorid": "1"})
    assert refused == "compatibility_violation"
    # Moving a version to another ancestor is a change to compare as well.
    assert registry.refusal("PATCH", f"{RIDE}/versions/3$details", {"ancestorid": "1"}) == "compatibility_violation"


@pytest.mark.feature("VER-027", "RES-042")
def test_a_version_that_is_dropped_at_once_was_compared_first(registry: Wire) -> None:
    source = registry.get("/modelsource")
    source["groups"]["schemagroups"]["resources"]["schemas"]["maxversions"] = 1
    registry.ok("PUT", "/modelsource", source)
    registry.ok("PUT", f"{RIDE}$details", {"format": AVRO, "schema": ONE, "meta": {"compatibility": "backward"}})
    new = {"format": AVRO, "schema": BROKEN}
    assert registry.refusal("PUT", f"{RIDE}/versions/2$details", new) == "compatibility_violation"


@pytest.mark.feature("VER-025", "VER-026")
def test_what_was_not_checked_is_not_compared(registry: Wire) -> None:
    body = written(ONE, compatibility="backward")
    body["versions"]["2"] = {"format": AVRO, "schemaurl": "https://elsewhere.example/2", "ancestorid": "1"}
    body["versions"]["3"] = {"format": AVRO, "schema": BROKEN, "ancestorid": "2"}
    registry.ok("PUT", f"{RIDE}$details", body)
    versions = registry.get(f"{RIDE}/versions")
    assert [versions[name]["compatibilityvalidated"] for name in "123"] == [True, False, False]
    assert all(versions[name]["compatibilityvalidatedreason"] for name in "23")


@pytest.mark.feature("VER-026", "ERR-025")
def test_a_rule_that_is_off_is_not_applied(registry: Wire) -> None:
    registry.ok("PATCH", "/capabilities", {"compatibilities": {}})
    shown = registry.ok("PUT", f"{RIDE}$details", written(ONE, BROKEN, compatibility="backward"))
    assert shown["compatibilityvalidated"] is False
    registry.ok("DELETE", "/schemagroups")
    strict(registry)
    assert registry.refusal("PUT", f"{RIDE}$details", written(ONE, BROKEN, compatibility="backward")) == (
        "compatibility_unknown"
    )


@pytest.mark.feature("CAP-008", "SCH-026")
def test_capabilities_name_formats_and_rules(registry: Wire) -> None:
    shown = registry.get("/capabilities")
    assert {"avro*", "jsonschema*", "protobuf*", "proto/*", "xsd*", "xmlschema*"} <= set(shown["formats"])
    assert shown["compatibilities"]["avro*"] == sorted(
        f"{rule}{suffix}" for rule in ("backward", "forward", "full") for suffix in ("", "_transitive")
    )
    registry.ok("PATCH", "/capabilities", {"formats": ["avro*"], "compatibilities": {"avro*": ["backward"]}})
    assert registry.ok("PUT", f"{RIDE}$details", {"format": JSON_SCHEMA, "schema": {}})["formatvalidated"] is False


@pytest.mark.feature("VER-027")
def test_a_refusal_shows_a_payload_that_breaks(registry: Wire) -> None:
    closed = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    wider = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}, "additionalProperties": False}
    body = written(closed, wider, form=JSON_SCHEMA, compatibility="backward")
    refused = registry.send("PUT", f"{RIDE}$details", body)
    assert refused.problem == "compatibility_violation"
    assert "For example" in refused.json["detail"]


def test_an_unchanged_version_is_not_written_again(registry: Wire) -> None:
    registry.ok("PUT", f"{RIDE}$details", written(ONE, TWO, compatibility="backward"))
    registry.ok("PUT", f"{RIDE}/versions/3$details", {"format": AVRO, "schema": OTHER})
    assert [one["epoch"] for one in registry.get(f"{RIDE}/versions").values()] == [1, 1, 1]
