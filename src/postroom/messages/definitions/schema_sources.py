"""Sources of payload schemas: inline, in the catalog, or, where a setting allows it, at a URL."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any

from postroom.messages.definitions.catalog_tree import Tree, default_version, local_path, member, members
from postroom.messages.definitions.definition import SchemaSource, StoredSchema
from postroom.messages.definitions.inheritance import Fetch
from postroom.model.schema_content import qualifiers, stated_references


def schema_source(tree: Tree, message: Tree, fetch: Fetch | None = None) -> SchemaSource | None:
    """The schema of an effective message; None when it declares none. Without `fetch` nothing is fetched."""
    stated = str(message.get("dataschemaformat") or "")
    if message.get("dataschema") is not None:
        return SchemaSource(format=stated, document=message["dataschema"], reference="#/dataschema")
    reference = schema_reference(message)
    if not reference:
        return None
    path = local_path(reference, tree)
    if path is None:
        return _from_url(reference, stated, fetch)
    return _from_catalog(tree, reference, path, stated)


def schema_reference(message: Tree) -> str:
    """The reference of a message to its schema; empty when it has none."""
    reference = message.get("dataschemaxid") or message.get("dataschemauri")
    return reference if isinstance(reference, str) else ""


def _from_url(reference: str, stated: str, fetch: Fetch | None) -> SchemaSource:
    url, _, fragment = reference.partition("#")
    if fetch is None:
        why = "it lies outside this catalog, and nothing is fetched"
        return SchemaSource(format=stated, reference=reference, missing=why)
    document = fetch(url)
    missing = "" if document is not None else "it lies outside this catalog and cannot be fetched"
    return SchemaSource(format=stated, document=document, fragment=fragment, reference=reference, missing=missing)


def stored_schemas(tree: Tree, groups: Iterable[str]) -> dict[str, StoredSchema]:
    """The documents of some schema groups: each schema's default version under its path, the others under their own."""
    found: dict[str, StoredSchema] = {}
    for group in groups:
        for name, schema in members(members(tree, "schemagroups").get(group, {}), "schemas").items():
            path = f"/schemagroups/{group}/schemas/{name}"
            known: dict[int | str, Any] = {}
            for version_path, version in _versions(path, schema):
                document = _document(version)
                # Of versions that say the same the first stands for all, so that their common id names one.
                ids = tuple(
                    i for i in _ids(version) if known.setdefault(i, document) is document or known[i] != document
                )
                found[version_path] = StoredSchema(
                    format=str(version.get("format") or schema.get("format") or ""),
                    version=str(version.get("versionid") or "1"),
                    document=document,
                    ids=ids,
                    references=stated_references(version),
                    guid=str(version.get("schemaguid") or "").lower(),
                    qualifiers=qualifiers(version).decode(),
                )
    return found


def _ids(version: Tree) -> tuple[int | str, ...]:
    """The ids that registries gave a version: numbers, and strings from registries that have no numbers."""
    ids = version.get("schemaids")
    found = ids if isinstance(ids, list) else ()
    return tuple(i for i in found if isinstance(i, int | str) and not isinstance(i, bool))


def _versions(path: str, schema: Tree) -> Iterator[tuple[str, Tree]]:
    chosen = default_version(schema)
    yield path, chosen
    for name, version in members(schema, "versions").items():
        if name != chosen.get("versionid"):
            yield f"{path}/versions/{name}", {"versionid": name, **version}


def _from_catalog(tree: Tree, reference: str, path: str, stated: str) -> SchemaSource:
    path, _, fragment = path.partition("#")
    parts = path.strip("/").split("/")
    name, schema, rest, suffix = _find(tree, parts)
    target = _borrowed(tree, schema)
    if target is not None:
        name, schema, *_ = _find(tree, target)
        parts = target
    if schema is None:
        return SchemaSource(format=stated, reference=reference, missing="the catalog has no such schema")
    version, deeper, picked = _version(schema, rest)
    if version is None:
        return SchemaSource(format=stated, reference=reference, missing="the catalog has no such version of the schema")
    missing = "" if _document(version) is not None else "the schema's document is not in the catalog"
    schema_path = f"/schemagroups/{parts[1]}/schemas/{name}"
    is_default = version.get("versionid") == default_version(schema).get("versionid")
    pointer = "/" + "/".join(deeper) if deeper else ""
    return SchemaSource(
        format=str(version.get("format") or schema.get("format") or stated),
        place=schema_path if is_default else f"{schema_path}/versions/{version['versionid']}",
        fragment=fragment or suffix or picked or pointer,
        reference=schema_path,
        version=str(version.get("versionid") or "1"),
        missing=missing,
    )


def _borrowed(tree: Tree, schema: Tree | None) -> list[str] | None:
    """The path of the schema that another one stands for; an xref is followed once (RES-057)."""
    meta = schema.get("meta") if schema is not None else None
    target = meta.get("xref") if isinstance(meta, dict) else None
    path = local_path(target, tree) if isinstance(target, str) else None
    return None if path is None else path.strip("/").split("/")


def _find(tree: Tree, parts: list[str]) -> tuple[str, Tree | None, list[str], str]:
    """The schema at a path: its id, itself, the rest of the path, and the type that the path picks."""
    if len(parts) < 4 or parts[0] != "schemagroups" or parts[2] != "schemas":
        return "", None, [], ""
    group = member(tree, "schemagroups", parts[1]) or {}
    schemas = group.get("schemas")
    name, picked = _split(parts[3:], schemas if isinstance(schemas, dict) else {})
    return name, member(group, "schemas", name), [] if picked else parts[4:], picked


def _version(schema: Tree, rest: list[str]) -> tuple[Tree | None, list[str], str]:
    if len(rest) < 2 or rest[0] != "versions":
        return default_version(schema), _after_document(rest), ""
    known = members(schema, "versions") or {str(schema.get("versionid") or "1"): schema}
    name, picked = _split(rest[1:], known)
    found = known.get(name)
    version = None if found is None else {**found, "versionid": name}
    return version, [] if picked else _after_document(rest[2:]), picked


def _split(parts: list[str], known: Tree) -> tuple[str, str]:
    """C-30: `:Name` after an id picks one type of the document; what follows belongs to the name."""
    if parts[0] in known:
        return parts[0], ""
    name, colon, picked = parts[0].partition(":")
    return (name, "/".join([picked, *parts[1:]])) if colon else (parts[0], "")


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
