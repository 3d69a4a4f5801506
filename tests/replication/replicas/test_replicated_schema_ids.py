"""Replicas carry the ids that schemas have at their home, and give none."""

from __future__ import annotations

from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES
from postroom.registry.numbering.schema_ids import FIRST_ID, SchemaIds
from postroom.registry.rules import Rules
from postroom.replication.replicas.peers.store import StoreEndpoint
from tests.replication.catalogs import Kitchen, pull, verify

LOAF = "/schemagroups/loaves/schemas/loaf"


@pytest.fixture
def here(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path, "here")


@pytest.fixture
def there(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path, "there")


def without_numbering(kitchen: Kitchen) -> Kitchen:
    """A catalog of a version that knew no ids."""
    kitchen.store.close()
    kitchen.store = open_store(kitchen.url, rules=Rules(documents=RULES.documents))
    kitchen.side = StoreEndpoint(kitchen.store, "there")
    return kitchen


def test_ids_and_numbers_come_along(here: Kitchen, there: Kitchen) -> None:
    there.shape("zero")
    there.delete(f"{LOAF}/versions/zero")
    there.shape("one", "two")
    pull(there.side, here.side)
    shown = here.show(f"{LOAF}/versions/two")
    assert (shown["schemaids"], shown["schemaversion"]) == ([FIRST_ID + 2], 2)
    assert verify(there.side, here.side) == []
    with here.store.read() as tx:
        assert [one.versionid for one in SchemaIds(tx, "loaves").uses(FIRST_ID + 2)] == ["two"]


def test_a_replica_gives_no_ids_where_its_home_gave_none(here: Kitchen, there: Kitchen) -> None:
    without_numbering(there).shape("one", "two")
    pull(there.side, here.side)
    assert "schemaids" not in here.show(f"{LOAF}/versions/two")
    assert verify(there.side, here.side) == []


def test_what_is_written_into_a_replicated_group_gets_no_id(here: Kitchen, there: Kitchen) -> None:
    there.shape("one")
    pull(there.side, here.side)
    here.put("/schemagroups/loaves/schemas/own/versions/1", {"format": "Avro", "schema": '"string"'})
    here.put("/schemagroups/own/schemas/own/versions/1", {"format": "Avro", "schema": '"string"'})
    assert "schemaids" not in here.show("/schemagroups/loaves/schemas/own/versions/1")
    assert here.show("/schemagroups/own/schemas/own/versions/1")["schemaids"] == [FIRST_ID]


def test_an_id_that_means_something_else_here_is_a_conflict_with_a_name(here: Kitchen, there: Kitchen) -> None:
    here.put("/schemagroups/loaves/schemas/own/versions/1", {"format": "Avro", "schema": '"string"'})
    there.shape("one")
    outcome = pull(there.side, here.side).outcome
    assert list(outcome.refused) == [LOAF]
    assert f"{FIRST_ID} is the id of another schema" in outcome.refused[LOAF]
