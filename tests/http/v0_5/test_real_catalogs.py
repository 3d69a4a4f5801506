"""Catalogs that people wrote: posted group by group, or loaded and written back as they were read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from postroom.catalog.sources import read_source
from postroom.registry.operations import export_document, import_document
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.v0_5.requests import V05Client

EVERY = 25
SERVER = ("epoch", "modifiedat")


def test_a_cereg_file_comes_back_as_it_was_posted(v0_5: V05Client, shared: Path) -> None:
    document = json.loads((shared / "catalogs/spec/core/samples/contoso-crm.cereg").read_text())
    for kind in ("schemaGroups", "definitionGroups", "endpoints"):
        for group_id, group in document[kind].items():
            assert v0_5.post(f"/{kind}", {**group, "id": group_id}).status == 201
    definitions = document["definitionGroups"]["Contoso.CRM.Events"]["definitions"]
    assert len(definitions) > 1
    for name, definition in definitions.items():
        path = f"/definitionGroups/Contoso.CRM.Events/definitions/{name}"
        found = v0_5.get(path)
        assert {member: found[member] for member in definition} == definition
        assert v0_5.put(path, found).json == found


def test_what_is_written_back_changes_nothing(v0_5: V05Client, store: Store, shared: Path) -> None:
    catalogs = sorted((shared / "catalogs").rglob("*.xreg.json"))[::EVERY]
    assert len(catalogs) > 1
    for catalog in catalogs:
        with store.write() as tx:
            import_document(tx, read_source(str(catalog), Settings()))
    before = exported(store)
    whole = v0_5.get("/?inline")
    for kind in ("schemaGroups", "definitionGroups", "endpoints"):
        for group_id, group in whole[kind].items():
            echo(v0_5, f"/{kind}/{group_id}", "")
            for name in group.get("definitions", ()):
                echo(v0_5, f"/{kind}/{group_id}/definitions/{name}", "")
            for name in group.get("schemas", ()):
                echo(v0_5, f"/{kind}/{group_id}/schemas/{name}", "?meta")
    assert exported(store) == before


def echo(v0_5: V05Client, path: str, query: str) -> None:
    reply = v0_5.put(path + query, v0_5.get(path + query))
    assert reply.status == 200, reply.body


def exported(store: Store) -> Any:
    with store.read() as tx:
        return without(export_document(tx))


def without(value: Any) -> Any:
    if isinstance(value, list):
        return [without(one) for one in value]
    return {k: without(v) for k, v in value.items() if k not in SERVER} if isinstance(value, dict) else value
