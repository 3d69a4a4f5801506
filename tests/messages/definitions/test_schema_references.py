"""References to schemas that name the same one, and references that do not."""

from __future__ import annotations

import pytest

from postroom.messages.definitions.schema_references import is_same_schema

URL = "https://registry.example/api/schemagroups/g/schemas/s"
PATH = "/schemagroups/g/schemas/s"


@pytest.mark.audit("messages-D11", "messages-D15")
@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ("https://example.com/schemas/a.json", "https://example.com/schemas/a.json"),
        ("HTTPS://Example.com:443/schemas/a.json", "https://example.com/schemas/a.json"),
        ("urn:schema:a", "urn:schema:a"),
        (URL, URL),
        (f"{URL}$details", URL),
        (URL, f"{URL}$details"),
        (f"{URL}/versions/3", URL),
        (f"{URL}/versions/3$details", f"{URL}/versions/3"),
        (PATH, URL),
        (URL, PATH),
        (URL, f"#{PATH}"),
        (f"{URL}#/definitions/Order", URL),
        (f"{URL}#/definitions/Order", f"#{PATH}#/definitions/Order"),
        (PATH, f"{PATH}:Order"),
    ],
)
def test_these_name_the_same_schema(found: str, wanted: str) -> None:
    assert is_same_schema(found, wanted)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ("https://example.com/schemas/a.json", "https://example.com/schemas/A.json"),
        ("https://other.example/", "https://example.com/schemas/a.json"),
        ("http://example.com/schemas/a.json", "https://example.com/schemas/a.json"),
        (URL.replace("registry", "other"), URL),
        (f"{URL}2", URL),
        (URL, f"{URL}/versions/3"),
        (f"{URL}/versions/2", f"{URL}/versions/3"),
        (f"{URL}#/definitions/Line", f"{URL}#/definitions/Order"),
        ("https://[::1", URL),
        ("", URL),
    ],
)
def test_these_name_different_schemas(found: str, wanted: str) -> None:
    assert not is_same_schema(found, wanted)


def test_the_path_of_a_schema_means_its_default_version_and_no_other() -> None:
    assert is_same_schema(URL, f"{URL}/versions/3", (PATH,))
    assert not is_same_schema(f"{URL}/versions/2", f"{URL}/versions/3", (PATH,))
