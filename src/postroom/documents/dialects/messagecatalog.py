"""Documents of the Message and Event Catalog: groups of one format, definitions with numbered versions.

Three forms are read: a whole catalog (`messagecatalog`), a group (`messagedefinitions`), and the document of one
version; the first is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.documents.dialects.dialect import Dialect, ReadNote, Tree, reasons
from postroom.documents.dialects.flatten_inheritance import flatten_inheritance
from postroom.documents.dialects.messagecatalog_ids import catalog_id_of, entity_id
from postroom.documents.dialects.messagecatalog_sections import (
    canonical_format,
    format_of,
    group_selectors,
    implied_format,
    read_sections,
    section_format,
    without_mqtt,
    write_sections,
)
from postroom.documents.dialects.name_tables import CATALOG_ATTRIBUTES, CATALOG_COLLECTIONS
from postroom.documents.dialects.walk_tree import map_objects, objects, rename_members
from postroom.model.core_attributes import SPECVERSION

_TIMES = {ours: theirs for theirs, ours in CATALOG_ATTRIBUTES.items()}
_DEFINITION_ATTRIBUTES = ("id", "authority", "createdtimeutc", "updatedtimeutc")
_SELECTORS = ("envelope", "protocol", "envelopemetadata", "protocoloptions", "dataschemauri", "versionid")


def canonical(document: Tree) -> Tree:
    """A catalog, a group or one version, as a catalog whose definitions all have versions."""
    if isinstance(document.get("messagecatalog"), dict):
        return {**document, "messagecatalog": map_objects(document["messagecatalog"], "", lambda one, _: _group(one))}
    if "messagedefinitions" in document:
        name = str(document.get("id") or document.get("format") or "messages")
        return {"messagecatalog": {name: _group(document)}}
    versions = objects(document, "versions").values()
    stated = document.get("format")
    implied = next(filter(None, map(implied_format, (document, *versions))), "")
    name = canonical_format(stated) if isinstance(stated, str) and stated else implied
    definition = str(document.get("id") or "message")
    group = {"id": name, "format": name, "messagedefinitions": {definition: document}}
    return {"messagecatalog": {name: _group(group)}}


def _group(group: Tree) -> Tree:
    definitions = group.get("messagedefinitions")
    if isinstance(definitions, list):
        definitions = {str(one.get("id")): one for one in definitions if isinstance(one, dict)}
    if not isinstance(definitions, dict):
        return group
    return {**group, "messagedefinitions": map_objects(definitions, "", lambda one, _: _definition(one))}


def _definition(definition: Tree) -> Tree:
    """A definition whose content is in a version; a bare version is the only one of its definition."""
    if isinstance(definition.get("versions"), dict):
        return definition
    attributes = {name: definition[name] for name in (*_DEFINITION_ATTRIBUTES, "format") if name in definition}
    version = {name: value for name, value in definition.items() if name not in _DEFINITION_ATTRIBUTES}
    return {**attributes, "versions": {str(definition.get("version", 1)): version}}


def _read(document: Tree) -> tuple[Tree, list[ReadNote]]:
    document = canonical(document)
    tree: Tree = {name: value for name, value in document.items() if name != "messagecatalog"}
    if "specversion" in tree:
        tree["specversion"] = SPECVERSION
    groups = map_objects(document["messagecatalog"], "", lambda group, _: _read_group(group))
    tree["messagegroups"] = _with_ids(groups, "messagegroupid", entity_id)
    return tree, []


def _with_ids(collection: Any, name: str, translate: Callable[[str], str]) -> Any:
    """A collection whose entities have other ids, as keys and in a member."""
    if not isinstance(collection, dict):
        return collection
    return {translate(key): _with_id(one, name, translate) for key, one in collection.items()}


def _with_id(entity: Any, name: str, translate: Callable[[str], str]) -> Any:
    has_id = isinstance(entity, dict) and isinstance(entity.get(name), str)
    return {**entity, name: translate(entity[name])} if has_id else entity


def _read_group(group: Tree) -> Tree:
    read = rename_members(group, {"id": "messagegroupid", **CATALOG_ATTRIBUTES})
    chosen = read.pop("format", None)
    definitions = read.pop("messagedefinitions", None)
    messages = map_objects(definitions, "", lambda one, _: _read_definition(one, chosen))
    if isinstance(messages, dict):
        read["messages"] = _with_ids(messages, "messageid", entity_id)
    return {**_group_selector(chosen, objects(read, "messages")), **read}


def _group_selector(chosen: Any, messages: Tree) -> Tree:
    if not isinstance(chosen, str):
        return {}
    form = canonical_format(chosen)
    versions = {message.get("protocol") for message in messages.values()}
    return {"protocol": versions.pop()} if form == "MQTT" and len(versions) == 1 else group_selectors(form)


def _read_definition(definition: Tree, chosen: Any) -> Tree:
    versions = objects(definition, "versions")
    attributes = rename_members(definition, {"id": "messageid", **CATALOG_ATTRIBUTES})
    read = {name: value for name, value in attributes.items() if name not in ("versions", "format")}
    if not versions:
        return read
    newest = max(versions, key=lambda name: (int(name) if name.isdecimal() and len(name) < 20 else -1, name))
    version = versions[newest]
    if "description" in version:
        read.setdefault("description", version["description"])
    form = section_format(version, version.get("format"), definition.get("format"), chosen)
    return {**read, "versionid": newest, **read_sections(version, form)}


def _write(tree: Tree) -> Tree:
    tree = flatten_inheritance(tree)
    written: Tree = {
        name: value
        for name, value in tree.items()
        if name not in ("messagegroups", "schemagroups", "endpoints", "specversion", "$schema", "modelsource")
    }
    catalog: Tree = {}
    for name, group in objects(tree, "messagegroups").items():
        catalog |= _with_ids(_write_group(name, group), "id", catalog_id_of)
    return {**written, "messagecatalog": catalog}


def _write_group(name: str, group: Tree) -> Tree:
    """A group; messages of other formats than the first one's go into groups of their own."""
    by_format: dict[str, Tree] = {}
    for message_id, message in objects(group, "messages").items():
        chosen = format_of(message, group)
        if chosen:
            written = _with_ids({message_id: _write_definition(message, group, chosen)}, "id", catalog_id_of)
            by_format.setdefault(chosen, {}).update(written)
    first = format_of({}, group) or next(iter(by_format), "")
    own = {key: value for key, value in without_mqtt(group).items() if key not in ("messages", "envelope", "protocol")}
    entity = rename_members(own, {"messagegroupid": "id", **_TIMES})
    found = {name: {**entity, **({"format": first} if first else {}), "messagedefinitions": by_format.pop(first, {})}}
    for chosen, definitions in by_format.items():
        found[f"{name}.{chosen}"] = {"id": f"{name}.{chosen}", "format": chosen, "messagedefinitions": definitions}
    return found


def _write_definition(message: Tree, group: Tree, chosen: str) -> Tree:
    attributes = {name: value for name, value in message.items() if name not in _SELECTORS}
    version = message.get("versionid")
    number = int(version) if isinstance(version, str) and version.isdecimal() and len(version) < 16 else 1
    document = {"version": number, "format": chosen, **write_sections(message, group, chosen)}
    return {
        **rename_members(attributes, {"messageid": "id", **_TIMES}),
        "format": chosen,
        "versions": {str(number): document},
    }


DIALECT = Dialect(
    name="catalog",
    title="CNCF Message and Event Catalog (2022)",
    to_rc4=_read,
    from_rc4=_write,
    canonical=canonical,
    collections=CATALOG_COLLECTIONS,
    entity_id=entity_id,
    own_id=catalog_id_of,
    reasons=reasons(
        (r"^/schemagroups\b", "a message catalog has no schemas"),
        (r"^/endpoints\b", "a message catalog has no endpoints"),
        (r"^/modelsource\b", "a message catalog has no model"),
        (r"/basemessage$", "a message catalog has no base messages: what is inherited is written out"),
        (r"^/messagegroups/[^/]+/messages/[^/]+$", "a message catalog groups CloudEvents, AMQP, MQTT or NATS messages"),
        (r"/(envelopemetadata|protocoloptions)/.+", "a message catalog has constant values and templates only"),
        (r"/(envelopemetadata|protocoloptions|protocol|envelope)$", "a definition of a message catalog has one format"),
        (r"/versionid$", "versions of a message catalog are numbers"),
    ),
)
