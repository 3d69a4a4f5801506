"""Who controls an entity, and which version a URI stands for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.registry import operations
from postroom.registry.changes.provenance import (
    Provenance,
    accepts_provenance,
    attach_provenance,
    find_version,
    provenance_of,
    version_uri,
)
from postroom.registry.paths import resolve
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.store.interface import Store

CATALOG = "https://example.com/messagecatalog"
OVEN = "/messagegroups/ovens/messages/heated"
URI = "https://bakery.example/ovens/heated/1"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as opened:
        yield opened


def write(store: Store, body: dict[str, Any], path: str = OVEN) -> None:
    with store.write() as tx:
        work = UnitOfWork(tx)
        operations.put_resource(work, resolve(tx.model(), path), body, False, "")
        work.finish()


def authority(tx: Transaction, message: str) -> str:
    version = tx.entity(f"{message}/versions/1")
    assert version is not None
    return provenance_of(tx, version).authority


def remove(store: Store, path: str) -> None:
    with store.write() as tx:
        work = UnitOfWork(tx)
        operations.delete(work, resolve(tx.model(), path), None, None, "")
        work.finish()


@pytest.mark.feature("CAT-009")
@pytest.mark.parametrize(
    ("authority", "version_id", "uri"),
    [
        # The table of section 2.2.2, read as RFC 3986 has it (C-72): the second row is misspelt there, the third has a
        # blank that no URI can have, and in the fourth an absolute id takes the authority's host.
        (CATALOG, "342", "https://example.com/messagecatalog/342"),
        ("https://example.com/messagecatalog/", "342", "https://example.com/messagecatalog/342"),
        (
            "http://messagecatalog.example.com/",
            "/mygroup/messagedefinitions/myMessage definition/versions/2",
            "http://messagecatalog.example.com/mygroup/messagedefinitions/myMessage%20definition/versions/2",
        ),
        (
            "http://messagecatalog.example.org/",
            "http://messagedefinitions.example.org/41751",
            "http://messagedefinitions.example.org/41751",
        ),
        ("urn:example:messagecatalog", "a1b2c3d4", "urn:example:messagecatalog:a1b2c3d4"),
        ("urn:example:messagecatalog:", "a1", "urn:example:messagecatalog:a1"),
        ("ovens://bakery/east", "a/b", "ovens://bakery/east/a/b"),
        ("tag:bakery.example,2026", "a1", "tag:bakery.example,2026:a1"),
        ("https://example.com/a/b", "/x", "https://example.com/x"),
        ("https://example.com/a/b", "../x", "https://example.com/a/x"),
        ("https://[nobody/a/", "/x", "https://[nobody/a/x"),
        ("https://example.com/a", "Ofen/größer", "https://example.com/a/Ofen/gr%C3%B6%C3%9Fer"),
    ],
)
def test_the_uri_of_a_version(authority: str, version_id: str, uri: str) -> None:
    assert version_uri(authority, version_id) == uri


@pytest.mark.feature("CAT-007", "CAT-009")
def test_provenance_is_what_a_version_says(store: Store) -> None:
    write(store, {"authority": "https://bakery.example", "versionuri": URI})
    with store.read() as tx:
        assert authority(tx, OVEN) == "https://bakery.example"
        assert find_version(tx, URI) == (f"{OVEN}/versions/1", 1)
        assert find_version(tx, URI + "0") is None


@pytest.mark.feature("CAT-007")
def test_an_entity_without_an_authority_is_our_own(store: Store) -> None:
    write(store, {"authority": ["no", "URI"]})
    with store.read() as tx:
        assert authority(tx, OVEN) == ""


@pytest.mark.feature("CAT-009")
def test_a_former_state_is_found_by_its_uri(store: Store) -> None:
    write(store, {"versionuri": URI})
    write(store, {"versionuri": URI + "0"})
    with store.read() as tx:
        assert find_version(tx, URI) == (f"{OVEN}/versions/1", 1)
        assert find_version(tx, URI + "0") == (f"{OVEN}/versions/1", 2)
        assert provenance_of(tx, tx.history(f"{OVEN}/versions/1")[0]) == Provenance(uri=URI)


@pytest.mark.parametrize("path", [OVEN, "/messagegroups/ovens"])
def test_what_is_removed_takes_its_provenance_along(store: Store, path: str) -> None:
    write(store, {})
    write(store, {}, OVEN + "-twice")
    for message in (OVEN, OVEN + "-twice"):
        with store.write() as tx:
            version = tx.entity(f"{message}/versions/1")
            assert version is not None
            attach_provenance(tx, version, Provenance("https://bakery.example", f"{URI}/{message}"))
            assert authority(tx, message) == "https://bakery.example"
    remove(store, path)
    with store.read() as tx:
        assert find_version(tx, f"{URI}/{OVEN}") is None
        assert (find_version(tx, f"{URI}/{OVEN}-twice") is None) == (path != OVEN)
    write(store, {})
    with store.read() as tx:
        assert authority(tx, OVEN) == ""


def test_which_types_have_room(store: Store) -> None:
    with store.read() as tx:
        kind = tx.model().groups["messagegroups"].resources["messages"]
    assert accepts_provenance(kind)
