"""References from one file to another: `orders.cereg#/definitionGroups/…`, and schemas in files of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import RESOURCES
from postroom.documents.dialects.walk import groups, objects


class FileReference(NamedTuple):
    """A reference, the way to it in the tree, and what holds it under which key."""

    steps: tuple[str | int, ...]
    holder: Any
    key: Any
    reference: str


def file_references(tree: Tree) -> Iterator[FileReference]:
    """All references to other files: message groups of endpoints, bases and schemas of messages."""
    for kind, name, group in groups(tree):
        listed = group.get("messagegroups") if kind == "endpoints" else None
        for position, reference in enumerate(listed if isinstance(listed, list) else ()):
            if is_file_reference(reference):
                yield FileReference((kind, name, "messagegroups", position), listed, position, reference)
        if RESOURCES[kind] != "messages":
            continue
        for message_id, message in objects(group, "messages").items():
            for key in ("basemessage", "dataschemauri"):
                if key in message and is_file_reference(message[key]):
                    yield FileReference((kind, name, "messages", message_id, key), message, key, message[key])


def schema_files(tree: Tree) -> Iterator[FileReference]:
    """All Versions of schemas whose document is in a file: `schemaurl: schemas/loaf.avsc`."""
    for kind, name, group in groups(tree):
        for schema_id, schema in objects(group, "schemas").items() if kind == "schemagroups" else ():
            steps: tuple[str, ...] = (kind, name, "schemas", schema_id)
            holders = [(steps, schema)]
            holders += [((*steps, "versions", each), version) for each, version in objects(schema, "versions").items()]
            for way, holder in holders:
                address = holder.get("schemaurl")
                if isinstance(address, str) and is_file_name(address):
                    yield FileReference((*way, "schemaurl"), holder, "schemaurl", address)


def is_file_name(address: str) -> bool:
    """Whether an address names a file beside the one it stands in, and nothing on the network or in a catalog."""
    is_elsewhere = address.startswith(("#", "/", "urn:")) or "://" in address
    return bool(address) and not is_elsewhere and "#" not in address


def is_file_reference(reference: Any) -> bool:
    """Whether it names a file and a place in it, and no service."""
    if not isinstance(reference, str) or reference.startswith(("#", "/")) or "://" in reference:
        return False
    name, separator, fragment = reference.partition("#")
    return bool(separator and name and fragment.startswith("/")) and not name.startswith("urn:")
