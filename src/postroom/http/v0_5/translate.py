"""Translation of single entities between 0.5 and 1.0, by the dialect of 0.5 documents.

Members that 1.0 has no attribute for are kept with the entity, as extras, as they are in files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.documents.dialects.dialect import Dialect, ReadNote, Tree
from postroom.documents.dialects.document_reader import with_legal_labels
from postroom.documents.dialects.flatten_inheritance import flatten_inheritance
from postroom.documents.dialects.name_tables import CORE_CHECKS, GROUP_TYPES, SERVICE_ATTRIBUTES, TYPE_MARKERS
from postroom.documents.dialects.preserved_members import EXTRAS, collect_extras, restore_extras, strip_extras
from postroom.documents.dialects.v0_5 import SERVICE
from postroom.documents.dialects.walk_tree import rename_members
from postroom.http.v0_5.names import plural
from postroom.messages.definitions.inheritance import base_reference
from postroom.model.json_pointers import pointer
from postroom.model.names import is_attribute_name
from postroom.model.types import GroupType, ResourceType

HIDDEN = frozenset((*CORE_CHECKS, "ancestorid", EXTRAS))
"""Attributes that the registry keeps with a Version and 0.5 does not have."""
_NEW, _OLD = SERVICE_ATTRIBUTES, {ours: theirs for theirs, ours in SERVICE_ATTRIBUTES.items()}
# "This option only applies to usage:producer endpoints" (or consumer), and the default that it has there.
_DEFAULTS_OF_USAGES: dict[str, tuple[str, Any]] = {
    "durable": ("producer", False),
    "retain": ("producer", False),
    "acks": ("producer", 1),
    "distribution-mode": ("consumer", "move"),
}


class EntityTranslation:
    """Translates entities of one type in both directions."""

    def __init__(
        self,
        read: Callable[[Tree], Tree],
        write: Callable[[Tree], Tree],
        effective: Callable[[Tree], Tree] = lambda tree: tree,
    ) -> None:
        self.effective = effective
        """An entity of 1.0 with all that it inherits."""

        def to_rc4(document: Tree) -> tuple[Tree, list[ReadNote]]:
            return with_legal_labels(read(document)), []

        self._dialect = Dialect(name=SERVICE.name, title=SERVICE.title, to_rc4=to_rc4, from_rc4=write)

    def read(self, document: Tree) -> Tree:
        """Translate an entity of 0.5 to 1.0."""
        return self._dialect.to_rc4(document)[0]

    def extras(self, document: Tree) -> list[Any]:
        """The members of an entity of 0.5 that the translation to 1.0 loses."""
        found: list[Any] = collect_extras(self.read(document), document, self._dialect).get(EXTRAS, [])
        return found

    def write(self, tree: Tree) -> Tree:
        """Translate an entity of 1.0 to 0.5, with the extras that it keeps."""
        return restore_extras(self._dialect.from_rc4(strip_extras(tree)), tree, self._dialect)


def group_translation(group_type: GroupType) -> EntityTranslation:
    """The translation of the Groups of a type."""
    if group_type.plural not in GROUP_TYPES:
        return PLAIN_TRANSLATION
    theirs = plural(group_type)

    def read(document: Tree) -> Tree:
        tree: Tree = SERVICE.to_rc4({theirs: {"group": document}})[0][group_type.plural]["group"]
        return tree

    def write(tree: Tree) -> Tree:
        document: Tree = SERVICE.from_rc4({group_type.plural: {"group": tree}})[theirs]["group"]
        return _without_others_defaults(document) if group_type.plural == "endpoints" else document

    return EntityTranslation(read, write)


def _without_others_defaults(endpoint: Tree) -> Tree:
    """An endpoint without options of other usages that nobody wrote: the model of 1.0 gives them a default."""
    config = endpoint.get("config")
    options = config.get("options") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(options, dict):
        return endpoint
    kept = {name: one for name, one in options.items() if not _is_others_default(name, one, endpoint.get("usage"))}
    rest = {name: one for name, one in config.items() if name != "options"}
    return {**endpoint, "config": {**rest, "options": kept} if kept else rest}


def _is_others_default(name: str, value: Any, usage: Any) -> bool:
    theirs, default = _DEFAULTS_OF_USAGES.get(name, ("", None))
    return bool(theirs) and theirs != usage and value == default


def resource_translation(
    group_type: GroupType, resource_type: ResourceType, xid: str, group: Tree, around: Tree
) -> EntityTranslation:
    """The translation of the Resources in a Group; `around` holds the messages that others derive from."""
    if resource_type.plural != "messages" or group_type.plural not in GROUP_TYPES or resource_type.hasdocument:
        return PLAIN_TRANSLATION
    theirs, (group_id, _, message_id) = plural(group_type), xid.split("/")[2:5]

    def read(document: Tree) -> Tree:
        wrapped = {**group_translation(group_type).write(group), "definitions": {message_id: document}}
        tree: Tree = SERVICE.to_rc4({theirs: {group_id: wrapped}})[0][group_type.plural][group_id]["messages"]
        message: Tree = tree[message_id]
        meta = message.pop("meta", None)
        is_borrowed = isinstance(meta, dict) and "xref" in meta
        return {**message, "meta": {"xref": meta["xref"]}} if is_borrowed else message

    def effective(message: Tree) -> Tree:
        if not base_reference(message):
            return message
        tree = flatten_inheritance(_placed(around, group_type.plural, group_id, group, message_id, message))
        whole: Tree = tree[group_type.plural][group_id]["messages"][message_id]
        return whole

    def write(message: Tree) -> Tree:
        alone = {**group, "messages": {message_id: _enveloped(effective(message))}}
        document = SERVICE.from_rc4({group_type.plural: {group_id: alone}})
        written: Tree = document[theirs][group_id]["definitions"][message_id]
        return written

    return EntityTranslation(read, write, effective)


def _placed(around: Tree, plural_name: str, group_id: str, group: Tree, message_id: str, message: Tree) -> Tree:
    groups = around.get(plural_name, {})
    beside = groups.get(group_id, {}).get("messages", {})
    own = {**group, "messages": {**beside, message_id: message}}
    return {**around, plural_name: {**groups, group_id: own}}


def _enveloped(message: Tree) -> Tree:
    """One aspect of a message that has two: a definition of 0.5 describes the envelope or the protocol."""
    if not message.get("envelope") or not isinstance(message.get("protocoloptions"), dict):
        return message
    return {name: value for name, value in message.items() if name not in ("protocol", "protocoloptions")}


def _read_plainly(document: Tree) -> Tree:
    return {
        name: value
        for name, value in rename_members(document, _NEW).items()
        if is_attribute_name(name) and not (name == "type" and isinstance(value, str) and value in TYPE_MARKERS)
    }


def _write_plainly(tree: Tree) -> Tree:
    return rename_members({name: value for name, value in tree.items() if name not in HIDDEN}, _OLD)


PLAIN_TRANSLATION = EntityTranslation(_read_plainly, _write_plainly)
"""For types that 0.5 has no names for, and for schemas, whose documents are separate."""


def extras_in(entity: Tree) -> list[Tree]:
    """The extras of 0.5 that an entity keeps."""
    return [one for one in _all_extras(entity) if one.get("dialect") == SERVICE.name]


def other_extras(entity: Tree) -> list[Tree]:
    """The extras of other dialects."""
    return [one for one in _all_extras(entity) if one.get("dialect") != SERVICE.name]


def _all_extras(entity: Tree) -> list[Tree]:
    extras = entity.get(EXTRAS)
    return [one for one in extras if isinstance(one, dict)] if isinstance(extras, list) else []


def extras_below(group: Tree, resource_type: ResourceType, resource_id: str, version_id: str) -> list[Tree]:
    """The extras that a file left with the Group for one of its Resources, as that Resource's own."""
    own = pointer((plural(resource_type), resource_id)) + "/"
    version = own + "versions" + pointer((version_id,)) + "/"
    found = []
    for extra in extras_in(group):
        at = str(extra.get("at", ""))
        if at.startswith(version):
            found.append({**extra, "at": at[len(version) - 1 :]})
        elif at.startswith(own) and not at.startswith(own + "versions/"):
            found.append({**extra, "at": at[len(own) - 1 :]})
    return found


def is_below(extra: Tree, resource_type: ResourceType) -> bool:
    """Whether an extra of a Group is about its Resources of a type."""
    return str(extra.get("at", "")).startswith(pointer((plural(resource_type),)) + "/")


def extras_beside(
    group: Tree, resource_type: ResourceType, resource_id: str, version_id: str, others: list[str]
) -> list[Tree]:
    """The extras that a file left with the Group, without those about one version, or about a Resource as a whole.

    What was said about all versions of the Resource is then said about each of the others.
    """
    own = pointer((plural(resource_type), resource_id)) + "/"
    of_others = tuple(own + "versions" + pointer((other,)) + "/" for other in others)
    left = []
    for extra in extras_in(group):
        at = str(extra.get("at", ""))
        if not at.startswith(own) or (version_id and at.startswith(of_others)):
            left.append(extra)
        elif version_id and not at.startswith(own + "versions/"):
            rest = at[len(own) - 1 :]
            left += [{**extra, "at": own + "versions" + pointer((other,)) + rest} for other in others]
    return left
