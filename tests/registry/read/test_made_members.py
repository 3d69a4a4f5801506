"""Which members of a Resource are told by the attributes of its default Version, so that a filter can skip the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.registry.operations import import_document
from postroom.registry.paths import resolve
from postroom.registry.query.inline import ALL
from postroom.registry.read.render import View, render
from postroom.registry.read.tree import ResourceTree, made_members, read_entity

OVENS = {
    "messagegroups": {"g": {"messages": {"heated": {"name": "Heated", "labels": {"line": "ovens"}}}}},
    "schemagroups": {
        "g": {
            "schemas": {
                "inline": {"format": "JsonSchema/draft-07", "schema": {"type": "object"}, "name": "Inline"},
                "text": {"format": "Avro/1.11", "schema": '"string"', "meta": {"readonly": True}},
                "bytes": {"format": "Glaze/1", "schemabase64": "AAEC", "contenttype": "application/octet-stream"},
                "elsewhere": {"format": "Glaze/1", "schemaurl": "https://example.com/glaze", "versionid": "v7"},
            }
        }
    },
}


@pytest.mark.parametrize(
    "xid",
    [
        "/messagegroups/g/messages/heated",
        *(f"/schemagroups/g/schemas/{name}" for name in ("inline", "text", "bytes", "elsewhere")),
    ],
)
@pytest.mark.parametrize("shortself", [False, True])
def test_all_other_members_are_as_they_are_stored(tmp_path: Path, xid: str, shortself: bool) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        with store.write() as tx:
            import_document(tx, OVENS)
        with store.read() as tx:
            tree = read_entity(tx, resolve(tx.model(), xid), ALL)
    assert isinstance(tree, ResourceTree)
    assert tree.default is not None
    made, stored = made_members(tree.type), tree.default.entity.attributes
    shown = render(tree, View(base="http://ovens", inline=ALL, shortself=shortself))

    def others(members: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in members.items() if name not in made}

    assert others(shown) == others(stored) == stored
