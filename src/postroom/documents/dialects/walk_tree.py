"""Walking over the entities of a tree: groups, and the resources in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from postroom.documents.dialects.name_tables import GROUP_TYPES, RESOURCES
from postroom.model.json_pointers import pointer

Tree = dict[str, Any]

_ONLY_OBJECTS = {dict}

Transform = Callable[[Tree, str], Tree]


def objects(holder: Any, name: str) -> Tree:
    """The members of a collection that are objects; not to be changed, for it may be the collection itself."""
    found = holder.get(name) if isinstance(holder, dict) else None
    if not isinstance(found, dict):
        return {}
    if set(map(type, found.values())) <= _ONLY_OBJECTS:
        return found
    return {key: one for key, one in found.items() if isinstance(one, dict)}


def group_types(document: Tree) -> tuple[str, ...]:
    """The names under which a document has groups: those of the messaging model, and those of its own model."""
    source = document.get("modelsource")
    own = source.get("groups") if isinstance(source, dict) else None
    return (*GROUP_TYPES, *(name for name in own or () if name not in GROUP_TYPES))


def groups(tree: Tree) -> Iterator[tuple[str, str, Tree]]:
    """Every group with its type and its id."""
    for group_type in GROUP_TYPES:
        for name, group in objects(tree, group_type).items():
            yield group_type, name, group


def messages(tree: Tree) -> Iterator[tuple[Tree, str, Tree]]:
    """Every message with its group and its id."""
    for group_type, _, group in groups(tree):
        if RESOURCES[group_type] == "messages":
            for name, message in objects(group, "messages").items():
                yield group, name, message


def map_objects(collection: Any, pointer_above: str, transform: Transform) -> Any:
    """A collection whose objects are changed; what is no object stays as it is."""
    if not isinstance(collection, dict):
        return collection
    return {
        name: transform(one, pointer_above + _step(name)) if isinstance(one, dict) else one
        for name, one in collection.items()
    }


def _step(name: str) -> str:
    return pointer((name,)) if "/" in name or "~" in name else "/" + name


def rename_members(entity: Tree, names: dict[str, str]) -> Tree:
    """An entity with members renamed in place; a name that is taken already keeps its own value."""
    if entity.keys().isdisjoint(names):
        return dict(entity)
    return {
        names[name] if name in names and names[name] not in entity else name: value for name, value in entity.items()
    }
