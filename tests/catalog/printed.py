"""The examples of the five texts: the documents they stand for, and the ways into the product that can hold them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.catalog.sources import read_source
from postroom.catalog.targets import write_target
from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.documents.yaml_loader import JsonLikeLoader
from postroom.settings import Settings
from tests.catalog.ways_in import Service
from tests.documents.dialects.there_and_back import is_reported

Tree = dict[str, Any]

HERE = Path(__file__).parent
GROUP = "printed"
WAYS = ("file", "store", "service", "/v0.5", "/messagecatalog")
API_DIALECTS = {"/v0.5": "0.5-service", "/messagecatalog": "catalog"}
SERVICE_HEAD = {"$schema": "https://cloudevents.io/schemas/registry", "specversion": "0.5-wip"}


def read_yaml(name: str) -> Any:
    """A data file beside this module."""
    return yaml.load((HERE / name).read_text(), JsonLikeLoader)  # noqa: S506 - it makes plain values only


EXAMPLES: dict[str, Tree] = {one["name"]: one for one in read_yaml("printed_examples.yaml")}


def document_of(example: Tree) -> Tree:
    """The whole document of an example, in the dialect of its text."""
    kind = next(kind for kind in ("document", "message", "definition", "endpoint") if kind in example)
    return document_with(kind, example["name"], example[kind], example["text"][0])


def document_with(kind: str, name: str, content: Tree, text: str) -> Tree:
    """A document around one definition, one endpoint or the members of a document."""
    if kind == "document":
        return content
    if kind == "endpoint":
        return {**SERVICE_HEAD, "endpoints": {name: {"id": name, **content}}}
    if kind == "definition":
        group = {"id": GROUP, "definitions": {name: {"id": name, **content}}}
        return {**SERVICE_HEAD, "definitionGroups": {GROUP: group}}
    if text == "0.5-message":
        group = {"id": GROUP, "messages": {name: {"id": name, **content}}}
        return {"specversion": "0.5-wip", "messagegroups": {GROUP: group}}
    return {"specversion": "1.0-rc2", "messagegroups": {GROUP: {"messages": {name: content}}}}


def messages_of(example: Tree, way: str = "file") -> list[str]:
    """The xids of the definitions that an example has, but for those that the dialect of an API is said to lose."""
    parsed = read_tree(document_of(example))
    assert parsed is not None
    lost = {loss.place for loss in write_tree(parsed.tree, API_DIALECTS.get(way, "1.0-rc4")).losses}
    return [xid for xid in _messages(example) if not is_reported(xid, lost)]


def _messages(example: Tree) -> list[str]:
    if "message" in example or "definition" in example:
        return [f"/messagegroups/{GROUP}/messages/{example['name']}"]
    return list(example.get("messages", []))


def opened(way: str, document: Tree, folder: Path, service: Service) -> Catalog:
    """The catalog of a document after it came in one way, with all that this way can hold."""
    path = folder / "printed.json"
    path.write_text(json.dumps(document))
    if way == "file":
        return open_catalog(str(path))
    tree = read_source(str(path), Settings())
    if way == "store":
        write_target(tree, f"sqlite:///{folder}/printed.db", Settings())
        return open_catalog(f"sqlite:///{folder}/printed.db")
    service.take(tree if way == "service" else {})
    if way == "/v0.5":
        _post_groups(
            service, document if "$schema" in document else write_tree(tree, "0.5-service", extras=False).document
        )
    elif way == "/messagecatalog":
        _post_definitions(service, write_tree(tree, "catalog", extras=False).document)
    return open_catalog(service.url)


def _post_groups(service: Service, document: Tree) -> None:
    """Every group, with all that it holds, through the Registry Service 0.5."""
    for collection in ("schemaGroups", "definitionGroups", "endpoints"):
        for group_id, group in document.get(collection, {}).items():
            answer = service.client.post(f"/v0.5/{collection}", json={"id": group_id, **group})
            assert answer.status_code == 201, answer.text


def _post_definitions(service: Service, document: Tree) -> None:
    """Every version of every definition through the message catalog, with absolute references; it borrows none."""
    for group_id, group in document["messagecatalog"].items():
        path = f"/messagecatalog/{group_id}"
        own = {name: one for name, one in group["messagedefinitions"].items() if "xref" not in one.get("meta", {})}
        for name, definition in own.items():
            answer = service.client.put(path, json={"format": group["format"]})
            assert answer.status_code in (200, 201), answer.text
            for version in definition["versions"].values():
                body = json.dumps(version).replace('"/schemagroups', f'"{service.url}/schemagroups')
                typed = {"Content-Type": "application/json"}
                answer = service.client.post(f"{path}/messagedefinitions/{name}", content=body, headers=typed)
                assert answer.status_code == 201, answer.text
