from typing import Any

import pytest

from postroom.messages.definitions.schema_documents import SchemaDocuments
from postroom.messages.definitions.schema_sources import schema_source, stored_schemas

TREE: dict[str, Any] = {
    "self": "http://localhost:8080/",
    "schemagroups": {
        "fleet": {
            "schemas": {
                "position": {
                    "format": "JsonSchema/draft-07",
                    "versions": {
                        "1": {"schema": {"title": "one"}},
                        "2": {"schema": {"title": "two"}, "format": "JsonSchema/draft/2020-12"},
                        "10": {"schema": {"title": "ten"}},
                    },
                },
                "pinned": {
                    "meta": {"defaultversionid": "1"},
                    "versions": {"1": {"schema": {"title": "one"}}, "2": {"schema": {"title": "two"}}},
                },
                "single": {"versionid": "3", "format": "Avro/1.11", "schema": {"title": "single"}},
                "encoded": {"schemabase64": "eyJ0aXRsZSI6ICJlbmNvZGVkIn0="},
                "remote": {"schemaurl": "https://elsewhere.example/s.json"},
            }
        }
    },
}
GROUP = "/schemagroups/fleet/schemas/"
DOCUMENTS = SchemaDocuments(stored_schemas(TREE, ["fleet"]))


@pytest.mark.feature("MSG-028", "MSG-029", "MSG-030")
@pytest.mark.parametrize(
    ("reference", "title", "version", "fragment"),
    [
        (GROUP + "position", "ten", "10", ""),
        ("#" + GROUP + "position", "ten", "10", ""),
        ("http://localhost:8080" + GROUP + "position/versions/1", "one", "1", ""),
        (GROUP + "position/versions/2", "two", "2", ""),
        (GROUP + "position/versions/2/schema/definitions/X", "two", "2", "/definitions/X"),
        (GROUP + "position:Record", "ten", "10", "Record"),
        (GROUP + "position#/definitions/X", "ten", "10", "/definitions/X"),
        (GROUP + "position/versions/1:Record", "one", "1", "Record"),
        (GROUP + "position/versions/1:definitions/X", "one", "1", "definitions/X"),
        (GROUP + "pinned", "one", "1", ""),
        (GROUP + "single", "single", "3", ""),
        (GROUP + "single/versions/3", "single", "3", ""),
    ],
)
def test_references_into_the_catalog(reference: str, title: str, version: str, fragment: str) -> None:
    source = schema_source(TREE, {"dataschemauri": reference, "dataschemaformat": "JsonSchema/draft-07"})
    assert source is not None
    document, _ = DOCUMENTS.of(source)
    assert (document["title"], source.version, source.fragment) == (title, version, fragment)


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        (GROUP + "nothing", "no such schema"),
        ("/schemagroups/none/schemas/x", "no such schema"),
        ("/messagegroups/x/messages/y", "no such schema"),
        (GROUP + "position/versions/99", "no such version"),
        (GROUP + "remote", "not in the catalog"),
        ("https://elsewhere.example/s.json", "nothing is fetched"),
    ],
)
def test_a_missing_schema_has_a_reason(reference: str, why: str) -> None:
    source = schema_source(TREE, {"dataschemaxid": reference})
    assert source is not None
    assert why in source.missing


@pytest.mark.feature("MSG-027")
def test_inline_and_encoded_schemas() -> None:
    inline = schema_source({}, {"dataschema": {"type": "object"}, "dataschemaformat": "JsonSchema/draft-07"})
    assert inline is not None
    assert inline.document == {"type": "object"}
    encoded = schema_source(TREE, {"dataschemauri": GROUP + "encoded"})
    assert encoded is not None
    assert DOCUMENTS.of(encoded)[0] == '{"title": "encoded"}'
    assert schema_source({}, {}) is None


@pytest.mark.parametrize(
    ("reference", "title"),
    [
        ("pinned", "one"),
        ("pinned.json", "one"),
        ("pinned/versions/2", "two"),
        ("pinned/versions/1", "one"),
        ("../schemas/pinned", "one"),
        (GROUP + "pinned#/definitions/X", "one"),
        ("#" + GROUP + "pinned", "one"),
        ("nothing", None),
        ("pinned/versions/3", None),
        ("https://elsewhere.example/pinned", None),
    ],
)
def test_a_document_refers_to_others_of_its_catalog(reference: str, title: str | None) -> None:
    source = schema_source(TREE, {"dataschemauri": GROUP + "position"})
    assert source is not None
    _, library = DOCUMENTS.of(source)
    found = library.find(reference)
    assert (found and found.document["title"]) == title


def test_the_neighbours_of_a_document_are_the_other_schemas_of_its_group() -> None:
    source = schema_source(TREE, {"dataschemauri": GROUP + "position/versions/1"})
    assert source is not None
    _, library = DOCUMENTS.of(source)
    assert [found.location.rpartition("/")[2] for found in library.neighbours()] == ["pinned", "single", "encoded"]


def test_versions_that_say_the_same_share_their_id_through_the_first_of_them() -> None:
    versions = {
        "1": {"schema": {"title": "one"}, "schemaids": [7]},
        "2": {"schema": {"title": "two"}, "schemaids": [8]},
        "3": {"schema": {"title": "one"}, "schemaids": [7, 9]},
        "4": {"schema": {"title": "four"}, "schemaids": [8]},
    }
    tree = {"schemagroups": {"fleet": {"schemas": {"position": {"versions": versions}}}}}
    found = {one.version: one.ids for one in stored_schemas(tree, ["fleet"]).values()}
    assert found == {"4": (8,), "1": (7,), "2": (8,), "3": (9,)}
