"""Members that 1.0-rc4 has no room for ("extras"): kept beside their group, restored when their dialect is written.

The extras of a document are the difference between it and what writing its tree would give. Each has a pointer below
the group, the value there, and what writing alone would leave there; a member that meanwhile has another value
is not touched, so that a later change of the tree is never undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.dialect import Dialect, Tree
from postroom.documents.dialects.name_tables import GROUP_TYPES, RESOURCES
from postroom.documents.dialects.walk_tree import objects
from postroom.model.json_pointers import pointer

EXTRAS = "dialectextras"
_NOTHING: Any = object()


def collect_extras(tree: Tree, document: Tree, dialect: Dialect) -> Tree:
    """The tree of a document, with all that writing it again would not give."""
    theirs = {group_type: collection_name(group_type, dialect) for group_type in GROUP_TYPES}
    ours = {name: group_type for group_type, name in theirs.items()}
    found: dict[tuple[str, str], list[Tree]] = {}
    groups = {group_type: objects(tree, group_type) for group_type in GROUP_TYPES}
    differences: list[tuple[tuple[str, ...], Any, Any]] = []
    _compare(document, dialect.from_rc4(dialect.trim(tree)), (), differences)
    for steps, given, written in differences:
        group_type = ours.get(steps[0], "")
        group_id = dialect.entity_id(steps[1]) if len(steps) > 2 and group_type else ""
        is_below = group_id != "" and group_id in groups[group_type]
        owner, below = ((group_type, group_id), steps[2:]) if is_below else (("", ""), steps)
        found.setdefault(owner, []).append(_extra(dialect.name, pointer(below), given, written))
    if not found:
        return tree
    kept: Tree = dict(tree)
    for (group_type, name), extras in found.items():
        if not group_type:
            kept[EXTRAS] = [*_extras(tree), *extras]
            continue
        if kept[group_type] is tree[group_type]:
            kept[group_type] = dict(tree[group_type])
        kept[group_type][name] = {**kept[group_type][name], EXTRAS: [*_extras(kept[group_type][name]), *extras]}
    return kept


def lift_extras(tree: Tree, dialect: Dialect) -> Tree:
    """The tree with the extras that resources keep themselves (a service writes them so) beside their group."""
    moved = dict(tree)
    for group_type in GROUP_TYPES:
        theirs = collection_name(RESOURCES[group_type], dialect)
        for name, group in objects(tree, group_type).items():
            found = list(_kept_below(objects(group, RESOURCES[group_type]), (theirs,), dialect))
            if found:
                moved[group_type] = {**moved[group_type], name: {**group, EXTRAS: [*_extras(group), *found]}}
    return moved


def _kept_below(collection: Tree, above: tuple[str, ...], dialect: Dialect) -> Iterator[Tree]:
    for name, entity in collection.items():
        if EXTRAS not in entity and "versions" not in entity:
            continue
        steps = (*above, dialect.own_id(name))
        yield from _kept_below(objects(entity, "versions"), (*steps, "versions"), dialect)
        for extra in _extras(entity):
            if extra.get("dialect") == dialect.name:
                yield {**extra, "at": pointer(steps) + str(extra.get("at"))}


def restore_extras(document: Tree, tree: Tree, dialect: Dialect) -> Tree:
    """A written document with the extras that its tree keeps for this dialect."""
    document = dict(document)
    for group_type in GROUP_TYPES:
        theirs = collection_name(group_type, dialect)
        written = dict(objects(document, theirs))
        for entity_id, group in objects(tree, group_type).items():
            name, mine = (
                dialect.own_id(entity_id),
                [one for one in _extras(group) if one.get("dialect") == dialect.name],
            )
            if mine and name in written:
                written[name] = _applied(written[name], mine)
                document[theirs] = {**document[theirs], name: written[name]}
    mine = [extra for extra in _extras(tree) if extra.get("dialect") == dialect.name]
    return _applied(document, mine) if mine else document


def strip_extras(tree: Tree, dialect: str = "") -> Tree:
    """The tree without extras: those of one dialect, or all."""

    def stripped(entity: Tree, *below: str) -> Tree:
        left = [extra for extra in _extras(entity) if dialect and extra.get("dialect") != dialect]
        plain = {name: value for name, value in entity.items() if name != EXTRAS or left}
        if left:
            plain[EXTRAS] = left
        for name in below[:1]:
            if isinstance(plain.get(name), dict):
                plain[name] = members(plain[name], *below[1:])
        return plain

    def members(collection: Tree, *below: str) -> Tree:
        touched = {
            name: stripped(one, *below)
            for name, one in collection.items()
            if isinstance(one, dict) and (EXTRAS in one or (below and isinstance(one.get(below[0]), dict)))
        }
        return {**collection, **touched} if touched else collection

    plain = stripped(tree)
    for group_type in GROUP_TYPES:
        if isinstance(plain.get(group_type), dict):
            plain[group_type] = members(plain[group_type], RESOURCES[group_type], "versions")
    return plain


def collection_name(group_type: str, dialect: Dialect) -> str:
    """What a dialect calls a collection."""
    return next((theirs for theirs, ours in dialect.collections.items() if ours == group_type), group_type)


def _extras(entity: Any) -> list[Tree]:
    extras = entity.get(EXTRAS) if isinstance(entity, dict) else None
    return [extra for extra in extras if isinstance(extra, dict)] if isinstance(extras, list) else []


def _extra(dialect: str, at: str, given: Any, written: Any) -> Tree:
    extra: Tree = {"dialect": dialect, "at": at}
    if given is not _NOTHING:
        extra["value"] = given
    if written is not _NOTHING:
        extra["instead"] = written
    return extra


def _compare(given: Tree, written: Tree, steps: tuple[str, ...], found: list[tuple[tuple[str, ...], Any, Any]]) -> None:
    """Collect where a document and what was written differ, as deep as both have objects."""
    for name, value in given.items():
        other = written.get(name, _NOTHING)
        if value is other:
            continue
        if isinstance(value, dict) and isinstance(other, dict):
            _compare(value, other, (*steps, name), found)
        elif not _same(value, other):
            found.append(((*steps, name), value, other))
    if len(written) != len(given) or written.keys() != given.keys():
        found += [((*steps, name), _NOTHING, value) for name, value in written.items() if name not in given]


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def _applied(document: Tree, extras: list[Tree]) -> Tree:
    """The document with extras in it; objects on the way are copied once, however many extras lie below them."""
    made = dict(document)
    own = {id(made)}
    for extra in extras:
        *above, name = [step.replace("~1", "/").replace("~0", "~") for step in str(extra.get("at")).split("/")[1:]] or [
            ""
        ]
        holder: Any = made
        for step in above:
            below = holder.get(step)
            if not isinstance(below, dict):
                break
            if id(below) not in own:
                below = holder[step] = dict(below)
                own.add(id(below))
            holder = below
        else:
            _put(holder, name, extra)
    return made


def _put(holder: Tree, name: str, extra: Tree) -> None:
    inside, value = holder.get(name), extra.get("value")
    if "instead" not in extra and isinstance(inside, dict) and isinstance(value, dict):
        holder[name] = {**value, **inside}  # where there was nothing, defaults of 1.0 may have come
    elif not _same(holder.get(name, _NOTHING), extra.get("instead", _NOTHING)):
        return
    elif "value" in extra:
        holder[name] = value
    else:
        holder.pop(name, None)
