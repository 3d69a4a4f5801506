"""Merge of an entity written in 0.5 into the stored one: what 0.5 cannot express stays."""

from __future__ import annotations

from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import BASE_NAMES, TYPE_MARKERS
from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.http.v0_5.translate import EntityTranslation
from postroom.model.types import Attributes
from postroom.registry.problems import RegistryProblem

_NOTHING: Any = object()
# What a message never inherits can change without a word about what it does inherit.
_OWN = frozenset({"name", "labels", "createdat", "modifiedat"})


def merge_entity(translation: EntityTranslation, stored: Tree, before: Tree, after: Tree) -> Tree:
    """The attributes to be stored when an entity that 0.5 saw as `before` is to be `after`."""
    shown, new = translation.read(before), translation.read(after)
    derives = any(name in stored and name not in shown for name in BASE_NAMES)
    if derives and any(shown.get(name) != new.get(name) for name in (shown.keys() | new.keys()) - _OWN):
        stored = translation.effective(stored)  # 0.5 has no base messages: what is inherited is written out
    merged: Tree = _merged(stored, shown, new)
    return merged


def _merged(stored: Any, shown: Any, new: Any) -> Any:
    if not (isinstance(stored, dict) and isinstance(shown, dict) and isinstance(new, dict)):
        return stored if shown == new else new
    result = {}
    for name in (*stored, *(one for one in new if one not in stored)):
        is_shown = name in shown
        if name not in new:
            if not is_shown:
                result[name] = stored[name]
        elif name in stored:
            result[name] = _merged(stored[name], shown[name], new[name]) if is_shown else new[name]
        elif not (is_shown and shown[name] == new[name]):
            result[name] = new[name]
    return result


def attribute_patch(stored: Tree, result: Tree) -> Tree:
    """What has to be written so that the stored attributes become the result."""
    changed = {name: value for name, value in result.items() if stored.get(name, _NOTHING) != value}
    return {**changed, **{name: None for name in stored if name not in result}}


def storable_extras(extras: list[Any], attributes: Attributes, subject: str) -> list[Any]:
    """The extras that an entity is to keep; a model without a place for them has none for their attributes."""
    if "*" in attributes or EXTRAS in attributes:
        return extras
    lost = next((one for one in extras if "instead" not in one and str(one.get("value")) not in TYPE_MARKERS), None)
    if lost is not None:
        raise RegistryProblem("unknown_attribute", subject, name=str(lost["at"])[1:].replace("/", "."))
    return []
