"""Reader of documents of any release, member by member, into the 1.0-rc4 tree (C-31: a document may mix releases)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import msgspec

from postroom.documents.dialects import name_tables
from postroom.documents.dialects.dialect import ReadNote, Tree
from postroom.documents.dialects.endpoints import read_endpoint
from postroom.documents.dialects.protocol_options import family_of, read_options, read_properties
from postroom.documents.dialects.references import as_xid, is_local, with_picked_type
from postroom.documents.dialects.walk_tree import map_objects, objects, rename_members
from postroom.messages.definitions.inheritance import unwrapped
from postroom.messages.definitions.registry_rules import read_schema_address
from postroom.model.core_attributes import SPECVERSION
from postroom.model.json_pointers import pointer
from postroom.model.names import is_map_key

_LEGAL = re.compile(r"^[a-z_][a-z0-9_]*$")
JSON_TYPE = "application/json"
_IN_META = ("xref", "readonly", "defaultversionid", "defaultversionsticky")


class DocumentReader:
    """Reads one document. One of 0.5 has ids, labels and resource-level data under other names.

    In a document of the 0.5 service `format` names an envelope or a protocol, elsewhere an envelope.
    """

    def __init__(self, *, v0_5: bool, service: bool = False) -> None:
        self.v0_5 = v0_5
        self.service = service
        self.notes: list[ReadNote] = []
        self._schemas: frozenset[str] = frozenset()

    def registry(self, document: Tree) -> Tree:
        """The whole document."""
        self._schemas = frozenset(_schema_xids(document))
        tree: Tree = {}
        for name, value in document.items():
            group_type = name_tables.SERVICE_COLLECTIONS.get(name, name)
            if group_type in name_tables.GROUP_TYPES and isinstance(value, dict):
                tree[group_type] = {**tree.get(group_type, {}), **self._groups(group_type, value)}
            elif name == "specversion":
                tree[name] = SPECVERSION
            elif not (self.v0_5 and name == "$schema"):
                tree[name] = value
        return self._entity(tree, "registryid", "")

    def _groups(self, group_type: str, collection: Tree) -> Tree:
        return dict(
            map_objects(collection, f"/{group_type}", lambda group, place: self._group(group_type, group, place))
        )

    def _group(self, group_type: str, group: Tree, place: str) -> Tree:
        read = self._entity(group, name_tables.GROUP_IDS[group_type], place)
        if group_type == "schemagroups":
            read["schemas"] = map_objects(read.get("schemas"), f"{place}/schemas", self._schema)
            return _without_null(read, "schemas")
        if "definitions" in read:
            read["messages"] = read.pop("definitions")
        if group_type == "endpoints":
            read = read_endpoint(read, v0_5=self.v0_5)
            if self.v0_5 and "protocol" in read:
                read["protocol"] = _protocol(read["protocol"])
        read = self._selectors(read)
        read["messages"] = map_objects(
            read.get("messages"), f"{place}/messages", lambda message, at: self._message(message, read, at)
        )
        return _without_null(read, "messages")

    def _entity(self, entity: Tree, identity: str, place: str) -> Tree:
        if not self.v0_5:
            names = {"id": identity} if "id" in entity and place.endswith(pointer((entity["id"],))) else {}
            return rename_members(entity, {**names, "ancestor": "ancestorid"})
        read = rename_members(entity, _v0_5_names(identity))
        marker = read.get("type")
        if isinstance(marker, str) and marker in name_tables.TYPE_MARKERS:
            del read["type"]
        for name in [name for name in read if not _is_legal(name)]:
            del read[name]
        return with_legal_labels(read)

    def _resource(self, resource: Tree, collection: str, place: str) -> Tree:
        read = self._entity(resource, name_tables.RESOURCE_IDS[collection], place)
        if not self.v0_5:
            return read
        if "version" in read and "versionid" not in read:
            read["versionid"] = str(read.pop("version"))
        flat = {name: read.pop(name) for name in _IN_META if name in read}
        if collection == "messages":  # they have one Version, and a registry refuses to stick to it
            flat.pop("defaultversionsticky", None)
        if flat:
            read["meta"] = {**flat, **(read["meta"] if isinstance(read.get("meta"), dict) else {})}
        return read

    def _schema(self, schema: Tree, place: str) -> Tree:
        read = self._resource(schema, "schemas", place)
        # 1.0 has these attributes in Versions only: what 0.5 says of a schema is said of all of them.
        inherited = {name: one for name, one in read.items() if name not in name_tables.NOT_INHERITED}
        inherited = inherited if self.v0_5 else {}
        read["versions"] = map_objects(
            read.get("versions"), f"{place}/versions", lambda version, at: self._schema_version(version, inherited, at)
        )
        return _without_null(self._document(read, place), "versions")

    def _schema_version(self, version: Tree, inherited: Tree, place: str) -> Tree:
        read = self._entity(version, "versionid", place)
        if self.v0_5 and "version" in read:
            number = str(read.pop("version"))
            if place.endswith(pointer((number,))):  # its id is then that of the schema
                read["versionid"] = number
        return self._document({**inherited, **read}, place)

    def _document(self, entity: Tree, place: str) -> Tree:
        """A schema or one of its Versions, with its document under one of the names that 1.0-rc4 has for it."""
        read = dict(read_schema_address(entity))
        self._trim(read, "schemaurl", place)
        if self.v0_5 and "contenttype" not in read and "schema" in read:
            implied = implied_content_type(read["schema"])
            if implied != JSON_TYPE:
                read["contenttype"] = implied
        return read

    def _trim(self, entity: Tree, name: str, place: str) -> None:
        value = entity.get(name)
        if isinstance(value, str) and value != value.strip():
            entity[name] = value.strip()
            self._note(f"{place}/{name}", "the spaces around the URL are not part of it.")

    def _selectors(self, entity: Tree) -> Tree:
        """`format` names an envelope, or in the 0.5 service a protocol; `binding` always a protocol."""
        read = dict(entity)
        if "binding" in read and "protocol" not in read:
            read["protocol"] = _protocol(read.pop("binding"))
        chosen = read.get("format")
        if isinstance(chosen, str):
            if chosen.lower().startswith("cloudevents") and "envelope" not in read:
                read["envelope"] = read.pop("format")
            elif "protocol" not in read and (
                family_of(chosen) in _PROTOCOLS or (self.service and "envelope" not in read)
            ):
                read["protocol"] = _protocol(read.pop("format"))
            elif self.v0_5 and "envelope" not in read:
                read["envelope"] = read.pop("format")
        return read

    def _message(self, message: Tree, group: Tree, place: str) -> Tree:
        message = flat_definition(message) if self.service else message
        read = self._selectors(self._resource(message, "messages", place))
        if "uri" in read and is_local(as_xid(read["uri"])):  # C-06: borrowed
            identity: Tree = {name: read[name] for name in ("messageid", "versionid") if name in read}
            return {**identity, "meta": {**_object(read.get("meta")), "xref": as_xid(read["uri"])}}
        if "uri" in read and "basemessage" not in read:
            read["basemessage"] = read.pop("uri")
        read = self._message_version(read, group, place)
        # A service shows the Version as well, and that is what is loaded.
        read["versions"] = map_objects(
            read.get("versions"), f"{place}/versions", lambda one, at: self._message_version(one, group, at)
        )
        return _without_null(read, "versions")

    def _message_version(self, message: Tree, group: Tree, place: str) -> Tree:
        read = dict(message) if self.v0_5 else rename_members(message, name_tables.MESSAGE_ATTRIBUTES)
        if isinstance(read.get("basemessage"), str):
            read["basemessage"] = as_xid(read["basemessage"])
        for name in ("dataschemauri", "dataschemaxid"):
            # A pointer into this document leads nowhere once the document is in a registry.
            if isinstance(read.get(name), str) and (self.v0_5 or read[name].startswith("#/schemagroups/")):
                read[name] = with_picked_type(as_xid(read[name]), self._schemas)
        self._metadata(read, group)
        self._types(read, place)
        return read

    def _metadata(self, read: Tree, group: Tree) -> None:
        protocol = read.get("protocol", group.get("protocol"))
        if isinstance(read.get("metadata"), dict):
            enveloped = "envelope" in read or ("protocol" not in read and "envelope" in group)
            if enveloped and "envelopemetadata" not in read:
                read["envelopemetadata"] = read_properties(read.pop("metadata"))
            elif protocol and "protocoloptions" not in read:
                read["protocoloptions"] = read_options(protocol, read.pop("metadata"))
        if isinstance(read.get("message"), dict) and "protocoloptions" not in read:
            read["protocoloptions"] = read_options(protocol, read.pop("message"))

    def _types(self, read: Tree, place: str) -> None:
        metadata = read.get("envelopemetadata")
        if self.v0_5 or not isinstance(metadata, dict):
            return
        metadata = read["envelopemetadata"] = unwrapped(metadata)
        for name, value in metadata.items():
            old_type = value.get("type") if isinstance(value, dict) else None
            if isinstance(old_type, str) and old_type in name_tables.PROPERTY_TYPES:
                if metadata is read["envelopemetadata"]:
                    read["envelopemetadata"] = dict(metadata)
                read["envelopemetadata"][name] = {**value, "type": name_tables.PROPERTY_TYPES[old_type]}
                self._note(
                    f"{place}/envelopemetadata/{name}/type",
                    f"the type {old_type} is read as {name_tables.PROPERTY_TYPES[old_type]}.",
                )

    def _note(self, place: str, sentence: str) -> None:
        self.notes.append(ReadNote(place, sentence))


@cache
def _v0_5_names(identity: str) -> dict[str, str]:
    """What 1.0 calls the members of a 0.5 entity, recognised by the name of its id."""
    names = {"id": identity, **name_tables.SERVICE_ATTRIBUTES, "ancestor": "ancestorid"}
    if identity == "messageid":
        return {**names, **name_tables.MESSAGE_ATTRIBUTES}
    return {**names, **name_tables.SCHEMA_ATTRIBUTES} if identity in ("schemaid", "versionid") else names


def _schema_xids(document: Tree) -> Iterator[str]:
    """The xids of all schemas of a document and of their Versions."""
    for collection in ("schemagroups", "schemaGroups"):
        for group_id, group in objects(document, collection).items():
            for schema_id, schema in objects(group, "schemas").items():
                xid = f"/schemagroups/{group_id}/schemas/{schema_id}"
                yield xid
                yield from (f"{xid}/versions/{version}" for version in objects(schema, "versions"))


def flat_definition(given: Tree) -> Tree:
    """A definition of the 0.5 service as files have it; `?inline` shows its content in a member of its own."""
    content = given.get("definition")
    rest = {name: value for name, value in given.items() if name != "definition"}
    return {**rest, **content} if isinstance(content, dict) else given


def with_legal_labels(tree: Tree) -> Tree:
    """An entity with labels that 1.0 allows: it knows no capital letters there."""
    labels = tree.get("labels")
    if not isinstance(labels, dict) or all(map(is_map_key, labels)):
        return tree
    lowered = {name.lower(): value for name, value in labels.items()}
    return {**tree, "labels": {**lowered, **{name: one for name, one in labels.items() if is_map_key(name)}}}


def implied_content_type(document: Any) -> str:
    """The media type of a schema that a 0.5 file has in itself: JSON, or a text that is none."""
    if not isinstance(document, str):
        return JSON_TYPE
    try:
        msgspec.json.decode(document)
    except (msgspec.DecodeError, RecursionError):
        return "text/plain"
    return JSON_TYPE


@lru_cache(maxsize=10_000)
def _is_legal(name: str) -> bool:
    """Whether 1.0 has a place for a member of this name."""
    return (bool(_LEGAL.match(name)) and name != "origin") or name == "definitionGroups"


_PROTOCOLS = ("HTTP", "AMQP", "MQTT", "KAFKA", "NATS")
_PLAIN = {"KAFKA": "KAFKA", "NATS": "NATS"}


def _protocol(name: Any) -> Any:
    """A protocol as 1.0-rc4 spells it: Kafka and NATS without a version."""
    if not isinstance(name, str):
        return name
    bare, _, _ = name.partition("/")
    return _PLAIN.get(bare.upper(), name)


def _object(value: Any) -> Tree:
    return value if isinstance(value, dict) else {}


def _without_null(entity: Tree, name: str) -> Tree:
    if entity.get(name, 0) is None:
        del entity[name]
    return entity
