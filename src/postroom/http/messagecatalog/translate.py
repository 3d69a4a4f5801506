"""Translation between documents of the message catalog and messages of the registry.

Attributes of a message that no document can express stay when a new document comes, unless it contradicts them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.documents.dialects.messagecatalog_sections import (
    CONTENT,
    FORMATS,
    format_of,
    read_document,
    write_sections,
)
from postroom.errors import DefinitionRefused
from postroom.http.messagecatalog.group_formats import default_version
from postroom.messages.definitions.catalog_tree import CatalogMessage, local_path
from postroom.messages.definitions.inheritance import BASE_NAMES, base_reference, resolve
from postroom.protocols.protocol_table import canonical_protocol
from postroom.registry.changes.provenance import VERSION_URI
from postroom.registry.entities import Entity
from postroom.registry.transaction_interface import Transaction

Tree = dict[str, Any]

_SCHEMA = ("dataschemaformat", "dataschema", "dataschemaxid")
_NOT_CARRIED = frozenset({"ancestorid", "description", VERSION_URI})
_LONGEST_CHAIN = 100


class MessageContext(msgspec.Struct, frozen=True):
    """Where a message is: its xid, its Group, and the URL of the registry."""

    tx: Transaction
    xid: str
    group: Entity
    root: str


def write_document(message: Tree, around: MessageContext, form: str) -> Tree:
    """A message as the sections of a document, with all that it inherits from its base messages."""
    return _sections(_effective(message, around), around, form)


def _sections(message: Tree, around: MessageContext, form: str) -> Tree:
    if form not in FORMATS:
        return {name: message[name] for name in CONTENT if message.get(name) is not None}
    reference = message.get("dataschemauri") or message.get("dataschemaxid")
    if isinstance(reference, str) and reference.startswith(("/", "#/")):
        message = {**message, "dataschemauri": around.root + reference.removeprefix("#")}
    return write_sections(message, around.group.attributes, form)


def merge_document(before: Tree, document: Tree, around: MessageContext, form: str) -> Tree:
    """The message after a new document: what the document says, and what no document can say from before."""
    before = {name: value for name, value in before.items() if name not in _NOT_CARRIED}
    if not before:
        return _as_in_group(read_document(document, form), around.group.attributes)
    effective = _effective(before, around)
    shown, new = read_document(_sections(effective, around, form), form), read_document(document, form)
    if _same(shown, new):
        return before
    after: Tree = _merged(effective, shown, new)
    if shown.get("dataschemauri") != new.get("dataschemauri"):
        after = {name: value for name, value in after.items() if name not in _SCHEMA or name in new}
    if _content_type(shown) != _content_type(new):
        after = {name: value for name, value in after.items() if name != "datacontenttype" or name in new}
    return _as_in_group(after, around.group.attributes)


def _merged(before: Any, shown: Any, new: Any) -> Any:
    """`new`, but where it says what was shown of `before`, what was there before."""
    if _same(shown, new):
        return before
    if not (isinstance(before, dict) and isinstance(shown, dict) and isinstance(new, dict)):
        return new
    unseen = {name: value for name, value in before.items() if name not in shown and name not in new}
    seen = before.keys() & shown.keys()
    return unseen | {
        name: _merged(before[name], shown[name], value) if name in seen else value for name, value in new.items()
    }


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; `true` is not 1."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def _content_type(message: Tree) -> Any:
    metadata = message.get("envelopemetadata")
    return metadata.get("datacontenttype") if isinstance(metadata, dict) else None


def _as_in_group(message: Tree, group: Tree) -> Tree:
    """The message with its group's spelling of envelope and protocol, where both mean the same (C-07)."""
    for name in ("envelope", "protocol"):
        ours, theirs = message.get(name), group.get(name)
        if isinstance(ours, str) and isinstance(theirs, str):
            means = _envelope if name == "envelope" else canonical_protocol
            message = {**message, name: theirs if means(ours) == means(theirs) else ours}
    return message


def _envelope(name: str) -> str:
    return format_of({"envelope": name}, {}).casefold()


def _effective(message: Tree, around: MessageContext) -> Tree:
    """The message with all that it inherits; a base that is elsewhere, or in a circle, gives nothing."""
    if not base_reference(message):
        return message
    owner, group_id, _, message_id = around.xid.split("/")[1:5]
    entry = CatalogMessage(around.xid, owner, group_id, around.group.attributes, message_id, message)
    try:
        effective, _ = resolve(_bases(around, message), entry)
    except DefinitionRefused:
        effective = message
    return {name: value for name, value in effective.items() if name not in BASE_NAMES}


def _bases(around: MessageContext, message: Tree) -> Tree:
    """The base messages of a message, in the form of a catalog document."""
    tree: Tree = {"self": around.root}
    for _ in range(_LONGEST_CHAIN):
        path = local_path(base_reference(message), tree)
        parts = path.strip("/").split("/") if path else []
        found = default_version(around.tx, "/" + "/".join(parts[:4])) if len(parts) in (4, 6) else None
        group = around.tx.entity("/" + "/".join(parts[:2])) if found else None
        if found is None or group is None:
            break
        owner = tree.setdefault(parts[0], {}).setdefault(parts[1], {**group.attributes, "messages": {}})
        if parts[3] in owner["messages"]:
            break
        version = {"versions": {found.id: found.attributes}} if len(parts) == 6 else {}
        owner["messages"][parts[3]] = {**found.attributes, **version}
        message = found.attributes
    return tree
