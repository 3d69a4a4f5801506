"""What a Group demands of the Versions of its Resources: defaults, allowed values, values equal to its own."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from postroom.model.constraints import constraint_error, narrow_constraint
from postroom.model.same_object import SameObject
from postroom.model.scalar_types import is_among, same_value
from postroom.model.types import Attributes as Definitions
from postroom.model.types import GroupConstraint, GroupType, ResourceType
from postroom.registry.problems import RegistryProblem
from postroom.registry.write.unit_of_work import UnitOfWork

Attributes = dict[str, Any]


def check_own_constraints(group_type: GroupType, group: Attributes, subject: str) -> None:
    """Refuse constraints of one Group that name nothing, or widen those of its type (MOD-067)."""
    for key, own in _own(group).items():
        if error := constraint_error(group_type, key, own, group_type.constraints.get(key, GroupConstraint())):
            raise RegistryProblem("bad_request", subject, error_detail=error, pointer=f"/constraints/{key}")


def effective_constraints(group_type: GroupType, plural: str, group: Attributes) -> dict[str, GroupConstraint]:
    """The constraints on one Resource type of one Group, by attribute path; a Group may narrow those of its type."""
    own = _own(group)
    if not own:
        return _constraints_on(SameObject(group_type), plural)
    merged: dict[str, GroupConstraint] = dict(group_type.constraints)
    for key, narrower in own.items():
        merged[key] = narrow_constraint(merged.get(key, GroupConstraint()), narrower)
    return _on(plural, merged)


@functools.lru_cache(maxsize=256)
def _constraints_on(group_type: SameObject[GroupType], plural: str) -> dict[str, GroupConstraint]:
    return _on(plural, group_type.value.constraints)


def _on(plural: str, constraints: Mapping[str, GroupConstraint]) -> dict[str, GroupConstraint]:
    prefix = plural + "."
    return {key.removeprefix(prefix): value for key, value in constraints.items() if key.startswith(prefix)}


def _own(group: Attributes) -> dict[str, GroupConstraint]:
    return {key: constraint_of(aspects) for key, aspects in (group.get("constraints") or {}).items()}


def constraint_of(aspects: Attributes) -> GroupConstraint:
    """A constraint as it is written in a Group."""
    return GroupConstraint(
        default=aspects.get("default"), enum=tuple(aspects.get("enum") or ()), equals=aspects.get("equals") or ""
    )


def watch_resource(work: UnitOfWork, xid: str) -> None:
    """At the end of the request: the groups that show this Resource through an xref still allow it (C-65)."""
    work.at_end(f"constraints of {xid}", partial(_check_shown_everywhere, work, xid))


def watch_group(work: UnitOfWork, xid: str) -> None:
    """At the end of the request: a Group that changed still allows what is in it (GRP-005)."""
    work.at_end(f"constraints of {xid}", partial(_check_group, work, xid))


def _check_group(work: UnitOfWork, xid: str) -> None:
    group = work.tx.entity(xid)
    group_type = work.model.groups[xid.split("/")[1]]
    for plural in group_type.resources if group else ():
        if effective_constraints(group_type, plural, group.attributes if group else {}):
            for resource in work.tx.entities(f"{xid}/{plural}"):
                _check_shown(work, resource.xid)


def _check_shown_everywhere(work: UnitOfWork, xid: str) -> None:
    resource = work.tx.entity(xid)
    if resource is not None and "xref" in resource.attributes:
        _check_shown(work, xid)
    for referrer in work.tx.referrers(xid):
        _check_shown(work, referrer.xid)


def _check_shown(work: UnitOfWork, xid: str) -> None:
    """What a Resource shows, its own or its xref's, against the Group it is in."""
    _, group_plural, group_id, plural, _ = xid.split("/")
    group, resource = work.tx.entity(f"/{group_plural}/{group_id}"), work.tx.entity(xid)
    if group is None or resource is None:
        return
    group_type = work.model.groups[group_plural]
    wanted = effective_constraints(group_type, plural, group.attributes)
    source = resource.attributes.get("xref", xid)
    for version in work.tx.entities(f"{source}/versions") if wanted else ():
        enforce(wanted, group.attributes, version.attributes, xid)


def fill(
    constraints: dict[str, GroupConstraint], inherited: Iterable[str], group: Attributes, version: Attributes
) -> None:
    """Give a Version what its Group provides: constraint defaults, and values it inherits (C-07, C-26)."""
    for path, constraint in constraints.items():
        if read(version, path) is not None:
            continue
        value = constraint.default
        if value is None and path in inherited:
            value = read(group, constraint.equals)
        if value is not None:
            _write(version, path, value)


def enforce(constraints: dict[str, GroupConstraint], group: Attributes, version: Attributes, subject: str) -> None:
    """Refuse a Version that its Group does not allow."""
    for path, constraint in constraints.items():
        value = read(version, path)
        if constraint.enum and value is not None and not is_among(value, constraint.enum):
            allowed = ", ".join(map(repr, constraint.enum))
            detail = f"It is {value!r} and has to be one of: {allowed}."
            raise RegistryProblem("constraint_failure", subject, detail=detail, path=path, kind="enum")
        expected = read(group, constraint.equals) if constraint.equals else None
        if expected is not None and not same_value(value, expected):
            found = "missing" if value is None else repr(value)
            detail = f"It is {found} and has to be {expected!r}, which {constraint.equals} of the group is."
            raise RegistryProblem("constraint_failure", subject, detail=detail, path=path, kind="equals")


def match_versions(resource_type: ResourceType, versions: list[Attributes], subject: str) -> None:
    """Refuse Versions that differ in an attribute which all have to share (MOD-031)."""
    for path in _shared_paths(resource_type.attributes, "") if len(versions) > 1 else ():
        first = read(versions[0], path)
        if any(not same_value(read(version, path), first) for version in versions[1:]):
            raise RegistryProblem("mismatched_version_attribute", subject, name=path)


def _shared_paths(attributes: Definitions, prefix: str) -> Iterator[str]:
    for name, attribute in attributes.items():
        if attribute.matchversions:
            yield prefix + name
        yield from _shared_paths(attribute.attributes, f"{prefix}{name}.")


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
