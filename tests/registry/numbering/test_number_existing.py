"""Registries that were made before schemas had ids get them when they are opened."""

from __future__ import annotations

from pathlib import Path

from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES
from postroom.registry.numbering.schema_ids import FIRST_ID
from postroom.registry.rules import Rules
from tests.registry.conftest import RegistryClient

DOORS = "/schemagroups/doors/schemas"


def forget_numbering(url: str) -> None:
    with open_store(url, rules=Rules(documents=RULES.documents)) as store, store.write() as tx:
        tx.delete_record("schemanumbering", "/")


def test_ids_are_given_by_age_and_stated_ones_stay(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/registry.db"
    with open_store(url, rules=Rules(documents=RULES.documents)) as store:
        registry = RegistryClient(store)
        for name, version, title, more in [
            ("second", "v1", "one", {}),
            ("first", "1", "two", {}),
            ("first", "x", "one", {}),
            ("stated", "1", "three", {"schemaids": [7]}),
            ("rival", "1", "four", {"schemaids": [7]}),
        ]:
            body = {"format": "JsonSchema/draft-07", "schema": {"title": title}, **more}
            registry.put(f"{DOORS}/{name}/versions/{version}", body)
        epoch = registry.show(f"{DOORS}/first/versions/x")["epoch"]
    forget_numbering(url)
    for _ in range(2):
        with open_store(url) as store:
            registry = RegistryClient(store)
            found = {
                xid: registry.show(f"{DOORS}/{xid}")
                for xid in ("second/versions/v1", "first/versions/1", "first/versions/x", "rival/versions/1")
            }
            assert [one["schemaids"] for one in found.values()] == [[FIRST_ID], [FIRST_ID + 1], [FIRST_ID], [7]]
            assert found["first/versions/x"]["schemaversion"] == 2
            assert found["second/versions/v1"]["schemaversion"] == 1
            assert found["first/versions/x"]["epoch"] == epoch
