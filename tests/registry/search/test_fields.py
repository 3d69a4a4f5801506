"""The fields of payloads: which there are, and where."""

from __future__ import annotations

import pytest

from postroom.registry.problems import RegistryProblem
from postroom.registry.search.field_list import FieldType
from tests.registry.search.conftest import CANCELLED, ORDER_SCHEMA, PACKED, PARCEL_SCHEMA, PLACED, Searched


def test_every_field_is_listed_with_its_type_and_where_it_is(registry: Searched) -> None:
    fields = {field.path: field for field in registry.fields().fields}
    assert list(fields) == sorted(
        [
            *("barcode", "customer", "customer.email", "customer.name"),
            *("lines", "lines[].sku", "total", "weight"),
        ]
    )
    assert fields["customer.email"].schemas == (ORDER_SCHEMA,)
    assert fields["customer.email"].messages == (PLACED, CANCELLED)
    assert fields["barcode"].messages == (PACKED,)
    assert fields["barcode"].schemas == ()
    assert set(fields["total"].types) == {FieldType("double", 1), FieldType("string", 1)}
    assert fields["total"].schemascount == 2


@pytest.mark.parametrize(
    ("q", "paths"),
    [
        ("email", ["customer.email"]),
        ("cust", ["customer", "customer.email", "customer.name"]),
        ("customer.na", ["customer.name"]),
        ('"customer"', ["customer", "customer.email", "customer.name"]),
        ("SKU", ["lines[].sku"]),
        ("%", []),
        ("nowhere", []),
    ],
)
def test_fields_are_found_by_the_words_of_their_paths(registry: Searched, q: str, paths: list[str]) -> None:
    assert [field.path for field in registry.fields(q).fields] == paths


def test_shared_fields_are_those_of_several_schemas(registry: Searched) -> None:
    (shared,) = registry.fields(is_shared=True).fields
    assert (shared.path, shared.schemas) == ("total", (ORDER_SCHEMA, PARCEL_SCHEMA))


def test_pages_go_on_behind_the_last_path(registry: Searched) -> None:
    paths: list[str] = []
    after = ""
    while True:
        page = registry.fields(after=after, limit=3)
        paths += [field.path for field in page.fields]
        after = page.after
        if not after:
            break
        assert len(page.fields) == 3
    assert paths == [field.path for field in registry.fields().fields]


def test_a_page_has_a_limit(registry: Searched) -> None:
    with pytest.raises(RegistryProblem, match="limit must be"):
        registry.fields(limit=201)
