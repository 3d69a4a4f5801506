"""What a Group demands of the Versions of its Resources: defaults, allowed values, values equal to its own."""

from __future__ import annotations

from typing import Any

from postroom.model.types import Constraint, GroupType, ResourceType
from postroom.registry.messaging import IGNORING_CASE, INHERITED
from postroom.registry.problems import RegistryProblem

Attributes = dict[str, Any]


def effective_constraints(group_type: GroupType, plural: str, group: Attributes) -> dict[str, Constraint]:
    """The constraints on one Resource type of one Group, by attribute path; a Group may narrow those of its type."""
    merged: dict[str, Constraint] = dict(group_type.constraints)
    for key, own in (group.get("constraints") or {}).items():
        base = merged.get(key, Constraint())
        merged[key] = Constraint(
            default=own.get("default", base.default),
            enum=tuple(own.get("enum") or base.enum),
            equals=own.get("equals") or base.equals,
        )
    prefix = plural + "."
    return {key.removeprefix(prefix): value for key, value in merged.items() if key.startswith(prefix)}


def fill(constraints: dict[str, Constraint], place: str, group: Attributes, version: Attributes) -> None:
    """Give a Version what its Group provides: constraint defaults, and values it inherits (C-07, C-26)."""
    for path, constraint in constraints.items():
        if read(version, path) is not None:
            continue
        value = constraint.default
        if value is None and f"{place}.{path}" in INHERITED:
            value = read(group, constraint.equals)
        if value is not None:
            _write(version, path, value)


def enforce(constraints: dict[str, Constraint], group: Attributes, version: Attributes, subject: str) -> None:
    """Refuse a Version that its Group does not allow."""
    for path, constraint in constraints.items():
        value = read(version, path)
        if constraint.enum and value is not None and value not in constraint.enum:
            raise RegistryProblem("constraint_failure", subject, path=path, kind="enum")
        expected = read(group, constraint.equals) if constraint.equals else None
        if expected is not None and not same(path, value, expected):
            raise RegistryProblem("constraint_failure", subject, path=path, kind="equals")


def match_versions(kind: ResourceType, versions: list[Attributes], subject: str) -> None:
    """Refuse Versions that differ in an attribute which all have to share (MOD-031)."""
    for name, attribute in kind.attributes.items():
        if not attribute.matchversions:
            continue
        first = versions[0].get(name)
        if any(not same(name, version.get(name), first) for version in versions[1:]):
            raise RegistryProblem("mismatched_version_attribute", subject, name=name)


def same(path: str, value: Any, expected: Any) -> bool:
    """Whether two values are equal; some attributes are compared ignoring case (C-55)."""
    if path in IGNORING_CASE and isinstance(value, str) and isinstance(expected, str):
        return value.casefold() == expected.casefold()
    return bool(value == expected)


def read(attributes: Attributes, path: str) -> Any:
    """The value at a dotted path, or None."""
    value: Any = attributes
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _write(attributes: Attributes, path: str, value: Any) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        below = attributes.get(parent)
        if not isinstance(below, dict):
            return  # MOD-040: a default creates no object
        attributes = below
    attributes[name] = value
