"""The page of a payload schema, and a schema as other pages show it: a tree of members beside the text."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from postroom.formats.schema import Library
from postroom.http.server.response import Response
from postroom.messages.definitions.catalog_tree import Tree, default_version, members
from postroom.messages.definitions.definition import SchemaSource
from postroom.messages.definitions.schema_documents import SchemaDocuments
from postroom.messages.definitions.schema_sources import stored_schemas
from postroom.registry.paths import EntityPath
from postroom.ui.entities.catalog_index import index_of
from postroom.ui.entities.plain_entities import attributes, json_url, parents, rendered
from postroom.ui.entities.schema_tree import SchemaMember, schema_members
from postroom.ui.page import PageRequest

MOST_SHOWN = 300
LONGEST_TEXT = 60_000
MOST_USERS = 100
SHOWN_OTHERWISE = frozenset(
    {
        *("name", "description", "documentation", "icon", "labels", "deprecated", "format", "schema", "schemabase64"),
        *("schemaid", "versionid", "createdat", "modifiedat", "isdefault", "ancestorid", "epoch"),
    }
)


class SchemaView(msgspec.Struct, frozen=True, kw_only=True):
    """A schema as pages show it."""

    format: str
    text: str = ""
    members: tuple[SchemaMember, ...] = ()
    more: int = 0
    """How many members are not shown."""
    reference: str = ""
    missing: str = ""
    fragment: str = ""


def schema_view(
    name: str, document: Any, fragment: str = "", library: Library | None = None, reference: str = ""
) -> SchemaView:
    """A schema document as pages show it."""
    found = schema_members(name, document, fragment, library)
    return SchemaView(
        format=name,
        text=schema_text(document),
        members=tuple(found[:MOST_SHOWN]),
        more=max(0, len(found) - MOST_SHOWN),
        reference=reference,
        fragment=fragment,
    )


def schema_text(document: Any) -> str:
    """The text of a document: as it was written, or indented where it is a JSON value."""
    if isinstance(document, bytes):
        text = document.decode("utf-8", "replace")
    elif isinstance(document, str):
        text = document
    else:
        text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    stripped = text.lstrip()
    if stripped[:1] in ("{", "[") and "\n" not in stripped.rstrip():
        with suppress(msgspec.DecodeError):
            text = msgspec.json.format(stripped.encode(), indent=2).decode()
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "\n…"


def answer_schema(page: PageRequest, path: EntityPath) -> Response:
    """The page of a schema."""
    schema = rendered(page, path)
    group_id, schema_id = path.ids[1], path.ids[3]
    users = index_of(page.catalog).users_by_schema.get(path.xid, [])
    stored = stored_view(page.catalog.tree, group_id, schema_id)
    return page.render(
        "schema.html",
        xid=path.xid,
        parents=parents(path),
        schema=schema,
        payload=stored,
        versions=page.tx.ids(f"{path.xid}/versions", "", 1000),
        users=users[:MOST_USERS],
        users_count=len(users),
        findings=page.tx.rules.lint(page.tx, [path.xid]),
        attributes=[one for one in attributes(schema) if one[0] not in SHOWN_OTHERWISE],
        document_url=page.links.api(path.xid),
        json_url=json_url(page, path),
    )


class StoredDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A schema document with its format, and where what it refers to is looked up."""

    format: str
    document: Any
    library: Library


def stored_document(tree: Tree, group_id: str, schema_id: str, version: str = "") -> StoredDocument | None:
    """The document of a stored schema, or of one of its Versions; None where there is none here."""
    groups = members(tree, "schemagroups")
    schema = members(groups.get(group_id), "schemas").get(schema_id)
    if schema is None:
        return None
    stored = stored_schemas({"schemagroups": {group_id: groups[group_id]}}, [group_id])
    place = f"/schemagroups/{group_id}/schemas/{schema_id}"
    if version and version != default_version(schema).get("versionid"):
        place += f"/versions/{version}"
    found = stored.get(place)
    if found is None or found.document is None:
        return None
    document, library = SchemaDocuments(stored).of(SchemaSource(format=found.format, place=place, reference=place))
    return StoredDocument(format=found.format, document=document, library=library)


def stored_view(tree: Tree, group_id: str, schema_id: str, version: str = "") -> SchemaView | None:
    """A stored schema, or one of its Versions, as pages show it."""
    found = stored_document(tree, group_id, schema_id, version)
    return None if found is None else schema_view(found.format, found.document, "", found.library)
