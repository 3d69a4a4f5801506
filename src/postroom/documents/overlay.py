"""Layers: a catalog over another, which overrides or extends it without changing it (core primer, "Shadowing")."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import RESOURCES
from postroom.documents.dialects.preserved_members import ATTRIBUTE
from postroom.documents.multi_file import group_types

Join = Callable[[str, Any, Any], Any]


def layered(trees: Iterable[Tree]) -> Tree:
    """One tree of several, later ones over earlier ones.

    Groups are put together: the later one's attributes count, and its messages or schemas take the place of those with
    the same id, whole with their Versions.
    """
    made: Tree = {}
    for tree in trees:
        made = _over(made, tree, group_types({**made, **tree}), _groups)
    return made


def _groups(kind: str, below: Any, above: Any) -> Any:
    if not _both_objects(below, above):
        return above
    inner = (RESOURCES[kind],) if kind in RESOURCES else ()
    joined = {
        name: _over(below[name], group, inner, _resources) if _both_objects(below.get(name), group) else group
        for name, group in above.items()
    }
    return {**below, **joined}


def _resources(_: str, below: Any, above: Any) -> Any:
    return {**below, **above} if _both_objects(below, above) else above


def _both_objects(below: Any, above: Any) -> bool:
    return isinstance(below, dict) and isinstance(above, dict)


def _over(below: Tree, above: Tree, names: Iterable[str], join: Join) -> Tree:
    """The members of both; some, and what is kept for other dialects, are put together."""
    made = {**below, **above}
    for name in names:
        if name in below and name in above:
            made[name] = join(name, below[name], above[name])
    if ATTRIBUTE in below and ATTRIBUTE in above:
        made[ATTRIBUTE] = [*below[ATTRIBUTE], *above[ATTRIBUTE]]
    return made
