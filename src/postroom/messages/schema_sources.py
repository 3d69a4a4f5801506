"""Where a message's payload schema is: inline, or somewhere in the catalog. Nothing is ever fetched from here."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from postroom.messages.definition import SchemaSource
from postroom.messages.tree import Tree, default_version, local_path, members


def schema_source(tree: Tree, message: Tree) -> SchemaSource | None:
    """The schema of an effective message; None when it declares none."""
    stated = str(message.get("dataschemaformat") or "")
    if message.get("dataschema") is not None:
        return SchemaSource(format=stated, document=message["dataschema"], reference="#/dataschema")
    reference = message.get("dataschemaxid") or message.get("dataschemauri")
    if not isinstance(reference, str) or not reference:
        return None
    path = local_path(reference, tree)
    if path is None:
        why = "it lies outside this catalog, and nothing is fetched"
        return SchemaSource(format=stated, reference=reference, missing=why)
    return _from_catalog(tree, reference, path, stated)


def _from_catalog(tree: Tree, reference: str, path: str, stated: str) -> SchemaSource:
    path, _, fragment = path.partition("#")
    parts = path.strip("/").split("/")
    schema, suffix = _find(tree, parts)
    if schema is None:
        return SchemaSource(format=stated, reference=reference, missing="the catalog has no such schema")
    version, deeper = _version(schema, parts[4:])
    if version is None:
        return SchemaSource(format=stated, reference=reference, missing="the catalog has no such version of the schema")
    document = _document(version)
    missing = "" if document is not None else "the schema's document is not in the catalog"
    pointer = "/" + "/".join(deeper) if deeper else ""
    return SchemaSource(
        format=str(version.get("format") or schema.get("format") or stated),
        document=document,
        fragment=fragment or suffix or pointer,
        reference="/" + "/".join(parts[:4]),
        version=str(version.get("versionid") or "1"),
        missing=missing,
    )


def _find(tree: Tree, parts: list[str]) -> tuple[Tree | None, str]:
    if len(parts) < 4 or parts[0] != "schemagroups" or parts[2] != "schemas":
        return None, ""
    schemas = members(members(tree, "schemagroups").get(parts[1], {}), "schemas")
    if parts[3] in schemas:
        return schemas[parts[3]], ""
    # C-30: `:Name` after the id picks one type of the document.
    name, colon, suffix = parts[3].rpartition(":")
    return (schemas.get(name), suffix) if colon else (None, "")


def _version(schema: Tree, rest: list[str]) -> tuple[Tree | None, list[str]]:
    if len(rest) >= 2 and rest[0] == "versions":
        name, _, _ = rest[1].partition(":")
        found = members(schema, "versions").get(rest[1]) or members(schema, "versions").get(name)
        if found is None and schema.get("versionid") == name:
            found = schema
        return ({"versionid": name, **found} if found is not None else None), _after_document(rest[2:])
    return default_version(schema), _after_document(rest)


def _after_document(rest: list[str]) -> list[str]:
    return rest[1:] if rest[:1] == ["schema"] else rest


def _document(version: Tree) -> Any:
    if version.get("schema") is not None:
        return version["schema"]
    encoded = version.get("schemabase64")
    if not isinstance(encoded, str):
        return None
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
