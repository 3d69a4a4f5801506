"""Detection of the dialect of a document: by its shape (C-31).

Where the shape leaves it open, `$schema` and `specversion` tell; a `.cereg` file has that `$schema` by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.messagecatalog_sections import FORMATS, implied_format
from postroom.documents.dialects.name_tables import GROUP_IDS, GROUP_TYPES, SERVICE_SCHEMA
from postroom.documents.dialects.walk_tree import groups, messages, objects

_SERVICE = ("definitionGroups", "schemaGroups", "definitionGroupsUrl", "schemaGroupsUrl", "endpointsUrl")
_CATALOG = ("messagecatalog", "messagedefinitions")
_RC = ("envelope", "protocol", "envelopemetadata", "protocoloptions", "envelopeoptions", "dataschemauri", "dataschema")
_V0_5 = ("format", "binding", "metadata", "message", "schemaformat", "schemaurl")
# A definition or a group of 0.5 on its own, whose formats may be called as those of a catalog are.
_V0_5_ENTITY = frozenset(("metadata", "definition", "definitions", "messages"))
_SERVICE_SUFFIXES = (".cereg", ".cereg.yaml", ".cereg.yml")
# Names in a group that 0.5 does not have, and those that its service does not have.
_RC_GROUP = frozenset((*GROUP_IDS.values(), "protocol", "protocoloptions", "envelope", "envelopeoptions"))
_MESSAGE_COLLECTIONS = ("messagegroups", "schemagroups")
_MESSAGE_GROUP = frozenset(("labels", "documentation", "createdat", "modifiedat", "messagegroups", "messages"))


def dialect_of(document: Tree) -> str:
    """The name of the dialect; empty when the document is in none."""
    if any(name in document for name in _SERVICE):
        return "0.5-service"
    if any(isinstance(document.get(name), dict | list) for name in _CATALOG) or _is_version(document):
        return "catalog"
    if not any(isinstance(document.get(group_type), dict) for group_type in GROUP_TYPES):
        return "0.5-service" if document.get("$schema") == SERVICE_SCHEMA and "specversion" in document else ""
    if any("definitions" in group or "definitionGroups" in group for _, _, group in groups(document)):
        return "0.5-service"
    names = _names(document)
    if names.isdisjoint(_RC) and names.isdisjoint(_V0_5):
        return _stated(document) or _v0_5(document, names) or _release(document, names)
    return _v0_5(document, names) or _release(document, names)


def with_schema_of(document: Tree, file_name: str) -> Tree:
    """A document with the `$schema` that the extension of its file stands for, unless it states one."""
    if "$schema" in document or not file_name.lower().endswith(_SERVICE_SUFFIXES):
        return document
    return {"$schema": SERVICE_SCHEMA, **document}


def _stated(document: Tree) -> str:
    """The dialect of 0.5 that the document says it is in, where no group has a name that contradicts it."""
    names = {name for _, _, group in groups(document) for name in group}
    if not names.isdisjoint(_RC_GROUP) or _has_listed_usage(document):
        return ""
    stated = document.get("specversion")
    is_old = isinstance(stated, str) and stated.startswith("0.")
    if any(name in document for name in _MESSAGE_COLLECTIONS) or not names.isdisjoint(_MESSAGE_GROUP):
        return "0.5-message" if is_old else ""
    return "0.5-service" if is_old or document.get("$schema") == SERVICE_SCHEMA else ""


def _has_listed_usage(document: Tree) -> bool:
    return any(isinstance(one.get("usage"), list) for one in objects(document, "endpoints").values())


def _is_version(document: Tree) -> bool:
    """One definition of a message catalog on its own: of a format of its own, or with a section of one."""
    if any(group_type in document for group_type in GROUP_TYPES) or not document.keys().isdisjoint(_V0_5_ENTITY):
        return False
    is_stated = document.get("format") in FORMATS if isinstance(document.get("format"), str) else False
    return is_stated or any(map(implied_format, (document, *objects(document, "versions").values())))


def _v0_5(document: Tree, names: set[str]) -> str:
    if not names.isdisjoint(_RC):
        return ""
    if not names.isdisjoint(_V0_5):
        return "0.5-message"
    return "0.5-message" if any("config" in one for one in objects(document, "endpoints").values()) else ""


def _names(document: Tree) -> set[str]:
    """The names of all members of messages and their versions."""
    names: set[str] = set()
    for _, _, message in messages(document):
        names.update(message)
        for version in objects(message, "versions").values() if "versions" in message else ():
            names.update(version)
    return names


def _release(document: Tree, names: set[str]) -> str:
    """Which release of 1.0: one with names that later ones gave up; where nothing tells, the stated version."""
    if "basemessageurl" in names:
        return "1.0-rc2"
    releases = set(_older_releases(document))
    if "1.0-rc2" in releases:
        return "2025-09" if "basemessage" in names else "1.0-rc2"
    if "1.0-rc3" in releases or "ancestor" in names:
        return "2026-05" if document.get("specversion") == "1.0-rc2" else "1.0-rc3"
    return "1.0-rc4"


def _older_releases(document: Tree) -> Iterator[str]:
    for group_type, _, group in groups(document):
        if group_type == "endpoints":
            yield _release_of_endpoint(group)
        for schema in objects(group, "schemas").values():
            meta = schema.get("meta")
            if isinstance(meta, dict) and "compatibilityauthority" in meta:
                yield "1.0-rc2"
            if any("ancestor" in one for one in (schema, *objects(schema, "versions").values())):
                yield "1.0-rc3"


def _release_of_endpoint(endpoint: Tree) -> str:
    if isinstance(endpoint.get("usage"), str):
        return "1.0-rc2"
    options = endpoint.get("protocoloptions")
    addresses: Any = options.get("endpoints") if isinstance(options, dict) else None
    listed = addresses if isinstance(addresses, list) else []
    return "1.0-rc3" if any(isinstance(one, dict) and "url" in one and "uri" not in one for one in listed) else ""
