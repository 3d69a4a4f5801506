"""Constraints of a Group type, or of one Group, on the attributes of its Resources (model.md, constraints)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.model.scalar_types import is_among, scalar_error
from postroom.model.types import SCALAR_TYPES, Attribute, Attributes, GroupConstraint, GroupType


def narrow_constraint(base: GroupConstraint, own: GroupConstraint) -> GroupConstraint:
    """Merge the constraint of one Group into that of its type; what the Group leaves out stays in force."""
    return GroupConstraint(
        default=base.default if own.default is None else own.default,
        enum=own.enum or base.enum,
        equals=own.equals or base.equals,
    )


def find_attribute(attributes: Attributes, path: str) -> Attribute | None:
    """The attribute definition at a dotted path, or None; `ifvalues` and wildcards are not followed."""
    found: Attribute | None = None
    for name in path.split("."):
        found = attributes.get(name) if name != "*" else None
        if found is None:
            return None
        attributes = found.attributes if found.type == "object" else {}
    return found


def constraint_error(group: GroupType, key: str, own: GroupConstraint, base: GroupConstraint | None = None) -> str:
    """Why a constraint of a Group type, or (with the type's as `base`) of one Group, is not valid; empty when it is."""
    plural, _, path = key.partition(".")
    resource = group.resources.get(plural)
    attribute = find_attribute(resource.attributes, path) if resource else None
    if attribute is None or attribute.type not in SCALAR_TYPES:
        return f"{key} names no scalar attribute of a Resource type here"
    whole = narrow_constraint(base, own) if base else own
    checks: tuple[Callable[[], str], ...] = (
        lambda: _narrowing_error(own, base or GroupConstraint()),
        lambda: _type_error(attribute, own),
        lambda: _enum_error(attribute, whole),
        lambda: _equals_error(group, attribute, whole.equals),
    )
    return next((f"{key}: {error}" for check in checks if (error := check())), "")


def _narrowing_error(own: GroupConstraint, base: GroupConstraint) -> str:
    if own.enum and base.enum and not _subset(own.enum, base.enum):
        return "its enum must be a subset of the group type's"
    if own.equals and base.equals and own.equals != base.equals:
        return f"its equals must be {base.equals} as in the group type"
    return ""


def _type_error(attribute: Attribute, own: GroupConstraint) -> str:
    values = [*own.enum, *([] if own.default is None else [own.default])]
    return next((f"{value!r} {error}" for value in values if (error := scalar_error(attribute.type, value))), "")


def _enum_error(attribute: Attribute, whole: GroupConstraint) -> str:
    strict = attribute.enum if attribute.strict else ()
    if whole.enum and strict and not _subset(whole.enum, strict):
        return "its enum must be a subset of the attribute's values"
    allowed = whole.enum or strict
    chosen = attribute.default if whole.default is None else whole.default
    if allowed and chosen is not None and not is_among(chosen, allowed):
        return f"the default {chosen!r} must be one of the allowed values"
    return ""


def _equals_error(group: GroupType, attribute: Attribute, path: str) -> str:
    other = find_attribute(group.attributes, path) if path else attribute
    if other is None or other.type != attribute.type:
        return "equals must name a Group attribute of the same type"
    return ""


def _subset(values: tuple[Any, ...], allowed: tuple[Any, ...]) -> bool:
    return all(is_among(value, allowed) for value in values)
