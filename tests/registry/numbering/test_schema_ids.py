"""Ids of schemas: the same for the same content, never used for another, in every way that a Version is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.move import move
from postroom.catalog.open_store import open_store
from postroom.registry import operations
from postroom.registry.numbering.schema_ids import FIRST_ID, SchemaIds
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.backup import back_up, restore
from tests.registry.conftest import RegistryClient

DOORS = "/schemagroups/doors/schemas"


def avro(*fields: str, **more: Any) -> dict[str, Any]:
    document = {"type": "record", "name": "Door", "fields": [{"name": one, "type": "long"} for one in fields]}
    return {"format": "Avro/1.12", "schema": document, **more}


def ids(registry: RegistryClient, xid: str) -> list[int]:
    found: list[int] = registry.show(xid).get("schemaids", [])
    return found


def test_versions_get_the_next_id_of_their_group(registry: RegistryClient) -> None:
    for number, name in enumerate(("front", "back")):
        registry.put(f"{DOORS}/{name}/versions/1", avro(name))
        assert ids(registry, f"{DOORS}/{name}/versions/1") == [FIRST_ID + number]
    registry.put("/schemagroups/windows/schemas/front/versions/1", avro("other"))
    assert ids(registry, "/schemagroups/windows/schemas/front/versions/1") == [FIRST_ID]


def test_the_same_content_has_the_same_id_however_it_is_written(registry: RegistryClient) -> None:
    registry.put(f"{DOORS}/front/versions/1", avro("width"))
    text = json.dumps(avro("width")["schema"], indent=7, sort_keys=True)
    registry.put(f"{DOORS}/back/versions/v7", {"format": "avro", "schema": text})
    assert ids(registry, f"{DOORS}/back/versions/v7") == ids(registry, f"{DOORS}/front/versions/1")


def test_references_belong_to_the_content(registry: RegistryClient) -> None:
    registry.put(f"{DOORS}/lock/versions/1", avro("bolt"))
    named = [{"name": "Lock", "xid": f"{DOORS}/lock/versions/1"}]
    registry.put(f"{DOORS}/front/versions/1", avro("width"))
    registry.put(f"{DOORS}/back/versions/1", avro("width", references=named))
    assert ids(registry, f"{DOORS}/front/versions/1") != ids(registry, f"{DOORS}/back/versions/1")


def test_formats_without_subjects_get_no_id(registry: RegistryClient) -> None:
    schema = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='door'/></xs:schema>"
    registry.put(f"{DOORS}/front/versions/1", {"format": "XSD/1.0", "schema": schema})
    registry.put(f"{DOORS}/back/versions/1", {"format": "Avro/1.12", "schemaurl": "http://example.com/door.avsc"})
    assert ids(registry, f"{DOORS}/front/versions/1") == []
    assert ids(registry, f"{DOORS}/back/versions/1") == []


def test_a_deleted_schema_keeps_its_id_from_others_and_gets_it_back(registry: RegistryClient) -> None:
    registry.put(f"{DOORS}/front/versions/1", avro("width"))
    registry.delete("/schemagroups/doors")
    registry.put(f"{DOORS}/back/versions/1", avro("height"))
    assert ids(registry, f"{DOORS}/back/versions/1") == [FIRST_ID + 1]
    registry.put(f"{DOORS}/side/versions/1", avro("width"))
    assert ids(registry, f"{DOORS}/side/versions/1") == [FIRST_ID]


def test_a_document_that_changes_gets_another_id_even_when_the_old_one_is_sent_along(registry: RegistryClient) -> None:
    registry.put(f"{DOORS}/front/versions/1", avro("width"))
    registry.put(f"{DOORS}/front/versions/1", avro("height", schemaids=[FIRST_ID]))
    assert ids(registry, f"{DOORS}/front/versions/1") == [FIRST_ID + 1]
    registry.patch(f"{DOORS}/front/versions/1", {"schema": avro("depth")["schema"]})
    assert ids(registry, f"{DOORS}/front/versions/1") == [FIRST_ID + 2]
    registry.patch(f"{DOORS}/front/versions/1", {"description": "of oak"})
    assert ids(registry, f"{DOORS}/front/versions/1") == [FIRST_ID + 2]
    registry.put(f"{DOORS}/front/versions/1", avro("width"))
    assert ids(registry, f"{DOORS}/front/versions/1") == [FIRST_ID]


def test_a_version_that_is_made_of_another_one_gets_an_id_of_its_own(registry: RegistryClient) -> None:
    registry.put(f"{DOORS}/front/versions/1", avro("width"))
    registry.put(f"{DOORS}/front/versions/2", avro("height", schemaids=[FIRST_ID]))
    assert ids(registry, f"{DOORS}/front/versions/2") == [FIRST_ID + 1]


def test_ids_of_another_registry_are_stated_and_no_other_is_given(registry: RegistryClient) -> None:
    registry.put(f"{DOORS}/front/versions/1", avro("width", schemaids=[102, 7]))
    assert ids(registry, f"{DOORS}/front/versions/1") == [102, 7]
    registry.put(f"{DOORS}/back/versions/1", avro("height", schemaids=[FIRST_ID + 5]))
    registry.put(f"{DOORS}/side/versions/1", avro("depth"))
    assert ids(registry, f"{DOORS}/side/versions/1") == [FIRST_ID + 6]


def test_a_huge_id_that_is_stated_does_not_use_up_the_numbers(registry: RegistryClient) -> None:
    registry.put(f"{DOORS}/front/versions/1", avro("width", schemaids=[2**62]))
    registry.put(f"{DOORS}/back/versions/1", avro("height"))
    assert ids(registry, f"{DOORS}/back/versions/1") == [FIRST_ID]


@pytest.mark.parametrize("stated", [102, FIRST_ID])
def test_an_id_of_another_schema_is_refused_by_name(registry: RegistryClient, stated: int) -> None:
    registry.put(f"{DOORS}/front/versions/1", avro("width", schemaids=[102]))
    registry.put(f"{DOORS}/side/versions/1", avro("depth"))
    with pytest.raises(RegistryProblem) as refused:
        registry.put(f"{DOORS}/back/versions/1", avro("height", schemaids=[stated]))
    assert (refused.value.name, refused.value.status) == ("schema_id_taken", 409)
    assert f"/schemas/{'front' if stated == 102 else 'side'}" in refused.value.detail
    registry.put("/schemagroups/windows/schemas/back/versions/1", avro("height", schemaids=[stated]))


def test_a_stated_id_follows_the_correction_of_its_only_schema(registry: RegistryClient) -> None:
    registry.put(f"{DOORS}/front/versions/1", avro("width", schemaids=[102]))
    registry.put(f"{DOORS}/front/versions/1", avro("height", schemaids=[102]))
    assert ids(registry, f"{DOORS}/front/versions/1") == [102]


@pytest.mark.sqlite
def test_ids_outlive_an_export_a_backup_a_restore_and_a_move(registry: RegistryClient, tmp_path: Path) -> None:
    registry.put(f"{DOORS}/front/versions/v1", avro("width"))
    registry.put(f"{DOORS}/front/versions/v2", avro("width", "height"))
    registry.delete(f"{DOORS}/front/versions/v1")
    before = registry.show(f"{DOORS}/front/versions/v2")
    back_up(registry.store, tmp_path / "backup.db")
    with open_store(f"sqlite:///{tmp_path}/other.db") as other:
        with registry.store.read() as here, other.write() as there:
            operations.import_document(there, operations.export_document(here))
        shown = RegistryClient(other).show(f"{DOORS}/front/versions/v2")
        assert [shown[name] for name in ("schemaids", "schemaversion")] == [[FIRST_ID + 1], 2]
        assert shown["schemaids"] == before["schemaids"]
    with open_store(f"sqlite:///{tmp_path}/restored.db") as restored:
        restore(tmp_path / "backup.db", restored, replaces=True)
        RegistryClient(restored).put(f"{DOORS}/back/versions/1", avro("depth"))
        assert ids(RegistryClient(restored), f"{DOORS}/back/versions/1") == [FIRST_ID + 2]
    move(f"sqlite:///{tmp_path}/restored.db", f"sqlite:///{tmp_path}/moved.db", Settings())
    with open_store(f"sqlite:///{tmp_path}/moved.db") as moved:
        RegistryClient(moved).put(f"{DOORS}/side/versions/1", avro("depth"))
        assert ids(RegistryClient(moved), f"{DOORS}/side/versions/1") == [FIRST_ID + 2]


def test_the_versions_with_an_id_are_found_and_lost_with_what_they_say(registry: RegistryClient) -> None:
    def uses(schema_id: int) -> set[str]:
        with registry.store.read() as tx:
            return {one.resource for one in SchemaIds(tx, "doors").uses(schema_id)}

    registry.put(f"{DOORS}/front/versions/1", avro("width"))
    registry.put(f"{DOORS}/back/versions/1", avro("width"))
    assert uses(FIRST_ID) == {"front", "back"}
    registry.put(f"{DOORS}/back/versions/1", avro("height"))
    assert uses(FIRST_ID) == {"front"}
    registry.delete(f"{DOORS}/front")
    assert uses(FIRST_ID) == set()


def test_an_id_is_given_in_the_transaction_of_the_write_or_not_at_all(registry: RegistryClient) -> None:
    with pytest.raises(RegistryProblem):
        registry.put(f"{DOORS}/front", {"versions": {"1": avro("width"), "2": {"format": "Avro", "schema": "no"}}})
    registry.put(f"{DOORS}/back/versions/1", avro("height"))
    assert ids(registry, f"{DOORS}/back/versions/1") == [FIRST_ID]
