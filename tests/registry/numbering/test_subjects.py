"""Subjects are anything, ids are not: the one becomes the other and comes back."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postroom.model.names import is_entity_id
from postroom.registry.numbering.subjects import (
    Contexts,
    Subject,
    escaped_id,
    find_resource,
    needs_exact_name,
    parse_subject,
    subject_name,
)
from tests.registry.conftest import RegistryClient

GROUP = "/schemagroups/default"
NAMES = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("_~-./:aA5F%")), min_size=1)


@pytest.mark.parametrize(
    ("name", "entity_id"),
    [
        ("orders-value", "orders-value"),
        ("com.acme.Order", "com.acme.Order"),
        ("a/b c", "a~2Fb~20c"),
        ("türen", "t~C3~BCren"),
        ("-x", "_~2Dx"),
        ("~x", "_~7Ex"),
        ("_~x", "_~5F~7Ex"),
    ],
)
def test_what_is_no_id_is_escaped(name: str, entity_id: str) -> None:
    assert escaped_id(name) == entity_id


@given(NAMES)
@example("_/x")
@example("/x")
@example("x" * 128)
@example("x" * 129)
def test_every_name_becomes_an_id_and_comes_back(name: str) -> None:
    entity_id = escaped_id(name)
    assert is_entity_id(entity_id)
    assert needs_exact_name(f"{GROUP}/schemas/{entity_id}") or escaped_id(name) != escaped_id(name + "~")


@given(st.lists(NAMES, unique=True, min_size=2, max_size=2))
def test_different_names_have_different_ids(names: list[str]) -> None:
    assert escaped_id(names[0]) != escaped_id(names[1])


@pytest.mark.parametrize("name", ["orders", "a/b", "türen", "x" * 300, "~~", "_", "a~2Fb", "%2F"])
def test_a_subject_is_found_by_its_name(registry: RegistryClient, name: str) -> None:
    with registry.store.read() as tx:
        xid = find_resource(tx, GROUP, name)
        assert subject_name(tx, xid) == ""
    exact = {"schemasubject": name} if needs_exact_name(xid) else {}
    registry.put(f"{xid}/versions/1", {"format": "Avro", "schema": '"string"', **exact})
    with registry.store.read() as tx:
        assert find_resource(tx, GROUP, name) == xid
        assert subject_name(tx, xid) == name


def test_a_subject_that_differs_from_another_by_case_gets_an_id_of_its_own(registry: RegistryClient) -> None:
    registry.put(f"{GROUP}/schemas/Orders/versions/1", {"format": "Avro", "schema": '"string"'})
    with registry.store.read() as tx:
        xid = find_resource(tx, GROUP, "orders")
    assert needs_exact_name(xid)
    registry.put(f"{xid}/versions/1", {"format": "Avro", "schema": '"int"', "schemasubject": "orders"})
    with registry.store.read() as tx:
        assert find_resource(tx, GROUP, "orders") == xid
        assert find_resource(tx, GROUP, "Orders") == f"{GROUP}/schemas/Orders"
        assert subject_name(tx, xid) == "orders"


def test_an_id_that_no_name_would_get_is_its_own_name(registry: RegistryClient) -> None:
    registry.put(f"{GROUP}/schemas/a~b/versions/1", {"format": "Avro", "schema": '"string"'})
    with registry.store.read() as tx:
        assert subject_name(tx, f"{GROUP}/schemas/a~b") == "a~b"
        assert find_resource(tx, GROUP, "a~b") == f"{GROUP}/schemas/a~b"


def test_contexts_are_groups() -> None:
    contexts = Contexts("shop")
    assert contexts.group(".") == "shop"
    assert contexts.context("shop") == "."
    assert contexts.group(".a b") == "a~20b"
    assert contexts.context("a~20b") == ".a b"
    assert contexts.normal(parse_subject(":.shop:orders")) == Subject(".", "orders")
    assert str(parse_subject(":.audit:orders")) == ":.audit:orders"
    assert parse_subject("orders", ".audit") == Subject(".audit", "orders")
    assert str(parse_subject(":no context")) == ":no context"
