"""Ids of a message catalog in a registry, which has fewer characters for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.documents.dialects.messagecatalog_ids import (
    catalog_id_error,
    catalog_id_of,
    catalog_segment,
    entity_id,
)
from postroom.model.names import is_entity_id

IDS = [
    ("mygroup", "mygroup", "mygroup"),
    ("org.example.myapp.module", "org.example.myapp.module", "org.example.myapp.module"),
    ("events@example.com", "events@example.com", "events@example.com"),
    ("myMessage definition", "myMessage:20definition", "myMessage%20definition"),
    ("a+b", "a:2Bb", "a+b"),
    ("it's", "it:27s", "it's"),
    ("(x)", "_::28x:29", "(x)"),
    (".hidden", "_::2Ehidden", ".hidden"),
    ("-dash", "_::2Ddash", "-dash"),
    ("_+x", "_:2Bx", "_+x"),
    ("öfen", "_::C3:B6fen", "%C3%B6fen"),
    ("com:heated", "com:heated", "com%3Aheated"),
    ("a:2B", "a:3A2B", "a%3A2B"),
]


@pytest.mark.audit("services-C6")
@pytest.mark.parametrize(("catalog", "entity", "segment"), IDS)
def test_an_id_of_a_catalog_has_one_in_the_registry(catalog: str, entity: str, segment: str) -> None:
    assert entity_id(catalog) == entity
    assert catalog_id_of(entity) == catalog
    assert catalog_segment(entity) == segment
    assert catalog_id_error(catalog) == ""


TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1) | st.text("a_:.0F2+'\x80é", min_size=1)


@given(TEXTS)
def test_every_id_of_a_catalog_comes_back_from_the_registry(catalog: str) -> None:
    entity = entity_id(catalog)
    assert is_entity_id(entity) == (not catalog_id_error(catalog))
    assert catalog_id_of(entity) == catalog


@given(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.\-~:@]{0,127}", fullmatch=True) | st.from_regex(r"_?[a:2BFC3]{1,9}"))
def test_every_id_of_the_registry_comes_back_from_the_catalog(entity: str) -> None:
    if is_entity_id(entity):
        assert entity_id(catalog_id_of(entity)) == entity


@pytest.mark.parametrize("catalog", ["a\nb", "a\x00", "", ".", "..", "x" * 129, "é" * 22 + "x"])
def test_ids_that_no_registry_can_have(catalog: str) -> None:
    assert catalog_id_error(catalog) != ""
