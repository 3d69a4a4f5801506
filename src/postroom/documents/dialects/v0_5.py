"""The two dialects of 0.5: message documents, and documents of the Registry Service (`.cereg`)."""

from __future__ import annotations

from functools import cache
from typing import Any

from postroom.documents.dialects import name_tables
from postroom.documents.dialects.dialect import Dialect, ReadNote, Tree, reasons
from postroom.documents.dialects.document_reader import DocumentReader
from postroom.documents.dialects.endpoints import write_config
from postroom.documents.dialects.flatten_inheritance import flatten_inheritance
from postroom.documents.dialects.implied_members import without_implied
from postroom.documents.dialects.messagecatalog_sections import with_usual_protocol
from postroom.documents.dialects.protocol_options import family_of, write_options, write_properties
from postroom.documents.dialects.references import as_pointer, is_local
from postroom.documents.dialects.split_protocols import has_both, split_protocols, without_envelope, without_protocol
from postroom.documents.dialects.walk_tree import map_objects, objects, rename_members
from postroom.messages.definitions.catalog_tree import default_version
from postroom.messages.definitions.inheritance import envelope_attributes

_SERVICE_NAMES = {ours: theirs for theirs, ours in name_tables.SERVICE_ATTRIBUTES.items()}
_SCHEMA_NAMES = {ours: theirs for theirs, ours in name_tables.SCHEMA_ATTRIBUTES.items()}
_COLLECTIONS = {ours: theirs for theirs, ours in name_tables.SERVICE_COLLECTIONS.items()}
_FLAT = ("xref", "readonly", "defaultversionid", "defaultversionsticky")
_UNKNOWN = frozenset(("datacontenttype", "dataschemaxid", "envelopeoptions", *name_tables.CORE_CHECKS))
_DOCUMENT = ("schema", "schemaurl", "schemabase64", "schemaBase64", "format")


@cache
def _names(identity: str, service: bool) -> dict[str, str]:
    """What 0.5 calls the members of an entity, recognised by the name of its id."""
    names = {identity: "id", **(_SERVICE_NAMES if service else {}), "ancestorid": "ancestor"}
    if identity == "messageid":
        return {**names, **name_tables.OLD_MESSAGE_ATTRIBUTES}
    return {**names, **_SCHEMA_NAMES} if service and identity in ("schemaid", "versionid") else names


class V05Writer:
    """Writes a tree as a 0.5 message document, or as one of the 0.5 service."""

    def __init__(self, *, service: bool) -> None:
        self.service = service

    def registry(self, tree: Tree) -> Tree:
        """The whole document."""
        tree = split_protocols(flatten_inheritance(tree)) if self.service else tree
        written: Tree = {"$schema": name_tables.SERVICE_SCHEMA} if self.service else {}
        written["specversion"] = "0.5-wip"
        for name, value in self._entity(tree, "registryid").items():
            if name in name_tables.GROUP_TYPES:
                collection = _COLLECTIONS.get(name, name) if self.service else name
                written[collection] = self._groups(name, value)
            elif name not in ("specversion", "$schema", "modelsource"):
                written[name] = value
        return written

    def _groups(self, group_type: str, collection: Any) -> Any:
        return map_objects(collection, "", lambda group, _: self._group(group_type, group))

    def _entity(self, entity: Tree, identity: str) -> Tree:
        written = rename_members(entity, _names(identity, self.service))
        for name in _UNKNOWN & written.keys():
            del written[name]
        return written

    def _group(self, group_type: str, group: Tree) -> Tree:
        written = self._entity(group, name_tables.GROUP_IDS[group_type])
        if group_type == "schemagroups":
            written["schemas"] = map_objects(written.get("schemas"), "", lambda schema, _: self._schema(schema))
            return _present(written)
        collection = "definitions" if self.service else "messages"
        messages = written.pop("messages", None)
        if group_type == "endpoints":
            written = write_config(written, service=self.service)
            if self.service and "messagegroups" in written:
                written["definitionGroups"] = written.pop("messagegroups")
        else:
            written = self._selectors(with_usual_protocol(written, messages))
        if isinstance(messages, dict):
            written[collection] = self._messages(messages, group)
        return _present(written)

    def _selectors(self, entity: Tree) -> Tree:
        if not self.service:
            if "protocol" in entity:
                entity = {**entity, "protocol": _protocol_spelling(entity["protocol"])}
            return rename_members(entity, _MESSAGE_SELECTORS)
        written = entity
        envelope, protocol = written.pop("envelope", None), written.pop("protocol", None)
        if envelope or protocol:
            written["format"] = envelope or _format_name(protocol)
        return written

    def _messages(self, messages: Tree, group: Tree) -> Tree:
        written: Tree = {}
        for name, message in messages.items():
            if not isinstance(message, dict):
                written[name] = message
            elif self.service:
                for suffix, aspect in self._aspects(message, group):
                    written[name + suffix] = aspect
            else:
                written[name] = self._message(message, group)
        return written

    def _aspects(self, message: Tree, group: Tree) -> list[tuple[str, Tree]]:
        """One definition for the envelope and one for the protocol, where a message has both (of endpoints only)."""
        if not has_both(message, group):
            return [("", self._message(message, group))]
        suffix = "." + family_of(message.get("protocol", group.get("protocol"))).lower()
        native = without_envelope(message)
        if isinstance(native.get("messageid"), str):
            native["messageid"] += suffix
        return [
            ("", self._message(without_protocol(message), {**group, "protocol": None})),
            (suffix, self._message(native, {**group, "envelope": None})),
        ]

    def _message(self, message: Tree, group: Tree) -> Tree:
        written = self._resource(message, "messages")
        protocol = message.get("protocol", group.get("protocol"))
        written.pop("envelopemetadata", None)
        metadata = write_properties(envelope_attributes(message))
        options = write_options(protocol, written.pop("protocoloptions", None))
        written = self._selectors(written)
        for name in ("schemaurl", "basemessageurl"):
            if name in written:
                written[name] = as_pointer(written[name], service=self.service)
        if "schemaformat" not in written and not is_local(written.get("schemaurl")):
            # 0.5 has no schemaurl without schemaformat; the CloudEvents attribute says the same of the message.
            metadata = _with_dataschema(metadata, written.pop("schemaurl", None))
        if not self.service:
            written |= {"metadata": metadata, "message": options}
            return _present(written)
        if isinstance(metadata, dict):
            written["metadata"] = {"attributes": metadata}
        elif options is not None:
            written["metadata"] = options
        if "xref" in written:
            written["uri"] = as_pointer(written.pop("xref"), service=True)
        for name in ("format", "schemaformat"):
            written.setdefault(name, None)
        if written["format"] is None:
            inherited = group.get("envelope") or group.get("protocol")
            written["format"] = _format_name(inherited) if isinstance(inherited, str) else None
        return _present(written)

    def _resource(self, resource: Tree, collection: str) -> Tree:
        written = self._entity(resource, name_tables.RESOURCE_IDS[collection])
        meta = written.pop("meta", None)
        for name in _FLAT if isinstance(meta, dict) else ():
            if name in meta:
                written[name] = meta[name]
        if self.service and "versionid" in written and "versions" not in written:
            written["version"] = written.pop("versionid")
        return written

    def _schema(self, schema: Tree) -> Tree:
        written = self._resource(schema, "schemas")
        versions = written.get("versions")
        if isinstance(versions, dict) and versions:
            shared = _shared(objects(schema, "versions"), schema)
            written |= self._entity(shared, "versionid")
            written["versions"] = map_objects(
                versions,
                "",
                lambda version, _: self._version(
                    {name: one for name, one in version.items() if name not in shared or one != shared[name]}
                ),
            )
            return written
        name = str(written.pop("version", None) or written.pop("versionid", None) or "1")
        version = {"id": name, **{one: written.pop(one) for one in _DOCUMENT if one in written}}
        if "format" in version:
            written["format"] = version["format"]
        written["versions"] = {name: version}
        return written

    def _version(self, version: Tree) -> Tree:
        return self._entity(version, "versionid")


def _shared(versions: Tree, schema: Tree) -> Tree:
    """What all Versions say alike, which 0.5 says once, of the schema; and the format, which it demands there."""
    first, *others = versions.values() or ({},)
    shared = {
        name: value
        for name, value in first.items()
        if name not in (*name_tables.NOT_INHERITED, *_UNKNOWN)
        and schema.get(name, value) == value
        and all(other.get(name) == value for other in others)
    }
    return {"format": form, **shared} if (form := default_version(schema).get("format")) else shared


_MESSAGE_SELECTORS = {"envelope": "format", "protocol": "binding"}


_FORMAT_NAMES = {
    "HTTP": "HTTP/1.1",
    "AMQP": "AMQP/1.0",
    "MQTT": "MQTT/5.0",
    "KAFKA": "Kafka/0.11",
    "NATS": "NATS/1.0.0",
}


def _protocol_spelling(value: Any) -> Any:
    return "Kafka" if family_of(value) == "KAFKA" else value


def _format_name(protocol: Any) -> Any:
    """A protocol as the 0.5 service names formats, always with a version."""
    return _FORMAT_NAMES.get(protocol.upper(), protocol) if isinstance(protocol, str) else protocol


def _present(entity: Tree) -> Tree:
    if None not in entity.values():
        return entity
    return {name: value for name, value in entity.items() if value is not None}


def _with_dataschema(metadata: Any, reference: Any) -> Any:
    if not isinstance(metadata, dict) or not isinstance(reference, str):
        return metadata
    return {**metadata, "dataschema": {"value": reference, **(metadata.get("dataschema") or {})}}


def _read(document: Tree) -> tuple[Tree, list[ReadNote]]:
    reader = DocumentReader(v0_5=True)
    return reader.registry(document), reader.notes


def _read_service(document: Tree) -> tuple[Tree, list[ReadNote]]:
    reader = DocumentReader(v0_5=True, service=True)
    return reader.registry(document), reader.notes


_COMMON = (
    (r"/envelopeoptions\b", "0.5 has no options of envelopes; attributes among them are written as metadata"),
    (r"/dataschemaxid$", "0.5 refers to schemas by URL only"),
    (r"/datacontenttype$", "0.5 has it in the metadata only"),
    (
        r"/messages/[^/]+/dataschemauri$",
        "0.5 has the URL of a schema with its format only; that of an event is in metadata",
    ),
    (r"/messages/[^/]+/dataschema$", "0.5 writes references in one form"),
    (r"/key_base64\b", "0.5 has one binary key"),
    (r"/usage$", "0.5 has one usage per endpoint"),
    (r"/authorization\b", "0.5 keeps authorization out of endpoints"),
    (r"^/endpoints/[^/]+/protocoloptions\b", "0.5 does not know this option"),
    (r"/meta\b", "0.5 has no meta entity"),
    (r"/contenttype$", "0.5 files do not state the media type of a schema"),
    (r"/(" + "|".join(name_tables.CORE_CHECKS) + r")$", "0.5 does not record checks"),
    (r"^/modelsource\b", "0.5 files have no model"),
    (r"/protocoloptions/[a-z]+_[a-z]+$", "0.5 spells the sections of AMQP with hyphens"),
)

MESSAGE = Dialect(
    name="0.5-message",
    title="xRegistry message definitions 0.5 (2024)",
    to_rc4=_read,
    from_rc4=V05Writer(service=False).registry,
    reasons=reasons(*_COMMON),
)
SERVICE = Dialect(
    name="0.5-service",
    title="Registry Service 0.5 (2023), `.cereg` files",
    to_rc4=_read_service,
    from_rc4=V05Writer(service=True).registry,
    trim=without_implied,
    collections=name_tables.SERVICE_COLLECTIONS,
    reasons=reasons(
        (r"/basemessage$", "0.5-service has no base messages: what is inherited is written out"),
        (
            r"/messages/[^/]+/(protocol|protocoloptions)\b",
            "0.5-service describes envelope or protocol: the protocol became a definition in a group of its own",
        ),
        (r"^/messagegroups/[^/]+/(envelope|protocol)$", "a group of 0.5-service has one format"),
        *_COMMON,
    ),
)
