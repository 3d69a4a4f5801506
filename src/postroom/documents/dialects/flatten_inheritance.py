"""Base messages for dialects without them: what messages inherit is written out in each."""

from __future__ import annotations

from collections.abc import Callable

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import BASE_NAMES
from postroom.documents.dialects.walk_tree import map_objects, messages
from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import MESSAGE_OWNERS, find_message
from postroom.messages.definitions.inheritance import base_reference, normalise, resolve

# Which base references have to go.
Unwanted = Callable[[str], bool]
_OBJECTS = ("envelopemetadata", "envelopeoptions", "protocoloptions")


def flatten_inheritance(tree: Tree, unwanted: Unwanted = lambda reference: True) -> Tree:
    """The tree in which messages with an unwanted base contain what they inherit from it."""

    def written_out(message: Tree, place: str) -> Tree:
        reference = base_reference(message)
        if not reference or not unwanted(reference):
            return message
        effective = _effective(tree, message, place)
        return {name: value for name, value in effective.items() if name not in BASE_NAMES}

    return _each_message(tree, written_out)


def with_whole_objects(tree: Tree) -> Tree:
    """The tree for 1.0-rc2, where an object of a message replaces that of its base.

    Since then objects are merged, so those that a message adds to are written whole.
    """

    def whole(message: Tree, place: str) -> Tree:
        if not base_reference(message):
            return message
        found = find_message(tree, _xid(place))
        own = normalise(found) if found is not None else {}
        effective = _effective(tree, message, place)
        added = {
            name: effective[name]
            for name in _OBJECTS
            if isinstance(message.get(name), dict) and effective.get(name) != own.get(name)
        }
        return {**message, **added}

    return _each_message(tree, whole)


def _effective(tree: Tree, message: Tree, place: str) -> Tree:
    found = find_message(tree, _xid(place))
    try:
        return message if found is None or "versions" in message else resolve(tree, found)[0]
    except DefinitionRefused:
        return message  # a circle of bases: nothing can be inherited


def _xid(place: str) -> str:
    return place.replace("~1", "/").replace("~0", "~")


def _each_message(tree: Tree, change: Callable[[Tree, str], Tree]) -> Tree:
    if not any(base_reference(message) for _, _, message in messages(tree)):
        return tree
    written = dict(tree)
    for group_type in MESSAGE_OWNERS:
        if isinstance(tree.get(group_type), dict):
            written[group_type] = map_objects(
                tree[group_type],
                f"/{group_type}",
                lambda group, place: {
                    **group,
                    **(
                        {"messages": map_objects(group["messages"], f"{place}/messages", change)}
                        if isinstance(group.get("messages"), dict)
                        else {}
                    ),
                },
            )
    return written
