from typing import Any

import pytest

from postroom.messages.schema_sources import schema_source

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
        (GROUP + "pinned", "one", "1", ""),
        (GROUP + "single", "single", "3", ""),
        (GROUP + "single/versions/3", "single", "3", ""),
    ],
)
def test_references_into_the_catalog(reference: str, title: str, version: str, fragment: str) -> None:
    source = schema_source(TREE, {"dataschemauri": reference, "dataschemaformat": "JsonSchema/draft-07"})
    assert source is not None
    assert (source.document["title"], source.version, source.fragment) == (title, version, fragment)


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
def test_a_schema_that_cannot_be_had_says_why(reference: str, why: str) -> None:
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
    assert encoded.document == '{"title": "encoded"}'
    assert schema_source({}, {}) is None
