"""Messages with an envelope and a protocol, for the 0.5 service: the protocol as a message in a group of its own.

A definition of 0.5 describes one of the two, and "all definitions inside a group MUST use this same format".
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.protocol_options import family_of
from postroom.documents.dialects.references import as_xid
from postroom.documents.dialects.walk_tree import map_objects, objects
from postroom.protocols.protocol_table import canonical_protocol

_ENVELOPE = ("envelope", "envelopemetadata", "envelopeoptions")
_PROTOCOL = ("protocol", "protocoloptions")


def split_protocols(tree: Tree) -> Tree:
    """The tree with the protocols of enveloped messages in groups of their own, which endpoints name as well."""
    if not isinstance(tree.get("messagegroups"), dict):
        return tree
    groups: Tree = {}
    added: dict[str, list[str]] = {}
    for name, group in tree["messagegroups"].items():
        split = _split(name, group, tree["messagegroups"]) if isinstance(group, dict) else {}
        groups[name] = _without_protocols(group) if split else group
        groups |= split
        if split:
            added[f"/messagegroups/{name}"] = [f"/messagegroups/{one}" for one in split]
    if not added:
        return tree
    split_tree = {**tree, "messagegroups": groups}
    if "endpoints" in tree:
        split_tree["endpoints"] = map_objects(tree["endpoints"], "", lambda one, _: _naming(one, added))
    return split_tree


def without_split_protocols(document: Tree, tree: Tree) -> Tree:
    """A document of the 0.5 service without the groups that writing the tree has added to it."""
    groups, known = document.get("definitionGroups"), tree.get("messagegroups")
    added = groups.keys() - known.keys() if isinstance(groups, dict) and isinstance(known, dict) else set[str]()
    if not isinstance(groups, dict) or not added:
        return document
    pruned = {**document, "definitionGroups": {name: one for name, one in groups.items() if name not in added}}
    if "endpoints" in document:
        xids = {f"/messagegroups/{name}" for name in added}
        pruned["endpoints"] = map_objects(document["endpoints"], "", lambda one, _: _not_naming(one, xids))
    return pruned


def has_both(message: Tree, group: Tree) -> bool:
    """Whether a message describes an envelope as well as the fields of a protocol."""
    protocol = message.get("protocol", group.get("protocol"))
    has_envelope = bool(message.get("envelope", group.get("envelope")))
    return has_envelope and isinstance(message.get("protocoloptions"), dict) and isinstance(protocol, str)


def without_protocol(message: Tree) -> Tree:
    """The envelope of a message that has both."""
    return {name: one for name, one in message.items() if name not in _PROTOCOL}


def without_envelope(message: Tree) -> Tree:
    """The protocol of a message that has both."""
    return {name: one for name, one in message.items() if name not in _ENVELOPE}


def _split(name: str, group: Tree, taken: Container[str]) -> Tree:
    """The groups of the protocols that are split off a group, by their names."""
    found: Tree = {}
    names: dict[str, str] = {}
    for message_id, message in objects(group, "messages").items():
        if not has_both(message, group):
            continue
        protocol = message.get("protocol", group.get("protocol"))
        key = canonical_protocol(protocol)
        if key not in names:
            short = f"{name}.{family_of(protocol).lower()}"
            is_free = short not in taken and short not in found
            names[key] = short if is_free else f"{name}.{key.lower().replace('/', '-')}"
            found[names[key]] = {"messagegroupid": names[key], "protocol": protocol, "messages": {}}
        found[names[key]]["messages"][message_id] = {**without_envelope(message), "protocol": protocol}
    return found


def _without_protocols(group: Tree) -> Tree:
    messages = {
        name: without_protocol(one) if isinstance(one, dict) and has_both(one, group) else one
        for name, one in group["messages"].items()
    }
    envelopes = {one.get("envelope", group.get("envelope")) for one in messages.values() if isinstance(one, dict)}
    if len(envelopes) == 1 and (envelope := envelopes.pop()):
        group = {**{name: one for name, one in group.items() if name != "protocol"}, "envelope": envelope}
    return {**group, "messages": messages}


def _naming(endpoint: Tree, added: dict[str, list[str]]) -> Tree:
    references = endpoint.get("messagegroups")
    if not isinstance(references, list):
        return endpoint
    return {**endpoint, "messagegroups": [name for one in references for name in (one, *added.get(_xid(one), ()))]}


def _not_naming(endpoint: Tree, xids: set[str]) -> Tree:
    references = endpoint.get("definitionGroups")
    if not isinstance(references, list):
        return endpoint
    return {**endpoint, "definitionGroups": [one for one in references if _xid(one) not in xids]}


def _xid(reference: Any) -> str:
    found = as_xid(reference)
    return found if isinstance(found, str) else ""
