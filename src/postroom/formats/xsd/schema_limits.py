"""Limits on what a schema may ask of validators, looked at before any validator sees it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.xsd import patterns
from postroom.formats.xsd.documents import SchemaPart
from postroom.formats.xsd.xml_names import local_name, xs

MOST_PARTICLES = 400
MOST_MEMBERS = 1_000
MOST_VALUES = 10_000
MOST_DERIVATIONS = 60
# Where a pattern that could take exponential time waits for the linear matcher; see validators.py.
KEPT_PATTERN = "{urn:postroom:pattern}value"

_GROUPS = frozenset(xs(name) for name in ("sequence", "choice", "all", "group"))
_PARTICLES = frozenset(xs(name) for name in ("element", "any"))
_INNER_TYPES = frozenset(xs(name) for name in ("complexType", "simpleType"))


def guard(parts: Iterable[SchemaPart]) -> None:
    """Refuse schemas whose size explodes when groups and types are put together."""
    try:
        _guard(list(parts))
    except RecursionError:
        raise SchemaRefused("the schema's groups are nested too deeply.") from None


def _guard(parts: list[SchemaPart]) -> None:
    groups = _named(parts, "group")
    types = {**_named(parts, "simpleType"), **_named(parts, "complexType")}
    attributes = _named(parts, "attributeGroup")
    for name in groups:
        _particles(name, groups, {})
    for part in parts:
        sizes: dict[str, float] = {}
        for definition in part.root.iter(xs("complexType")):
            _limited(_size(definition, groups, sizes), definition)
    members: dict[str, float] = {}
    for name in types:
        _chain(name, types)
        _members(name, types, members)
    for part in parts:
        for definition in part.root.iter(xs("restriction")):
            _few_values(definition)
    for name in attributes:
        _limited(_attributes(name, attributes, {}), attributes[name])


def set_patterns_aside(parts: Iterable[SchemaPart]) -> bool:
    """Take patterns that validators cannot match quickly out of the documents; whether there were any."""
    found = False
    for part in parts:
        for facet in part.root.iter(xs("pattern")):
            pattern = facet.get("value")
            if pattern is None or patterns.is_quick(pattern):
                continue
            takes_nothing = patterns.automaton(pattern).nullable
            facet.set(KEPT_PATTERN, pattern)
            facet.set("value", r"[\s\S]*" if takes_nothing else r"[\s\S]+")
            found = True
    return found


def counts_inside_repeats(parts: Iterable[SchemaPart]) -> bool:
    """Whether numbers of elements may have to be counted inside groups that repeat, where libxml2 loses count."""
    nodes = [node for part in parts for node in part.root.iter() if node.get("maxOccurs") or node.get("minOccurs")]
    repeated = any(node.get("maxOccurs", "1") not in ("0", "1") for node in nodes if node.tag in _GROUPS)
    return repeated and any(
        node.get("maxOccurs", "1") not in ("0", "1", "unbounded") or node.get("minOccurs", "1") not in ("0", "1")
        for node in nodes
    )


def _named(parts: list[SchemaPart], component_tag: str) -> dict[str, Any]:
    # By local name: namespaces only make two things of one name, and the limits are far above what people write.
    named: dict[str, Any] = {}
    for part in parts:
        for found in part.root.iter(xs(component_tag)):
            # A redefinition has itself as its base.
            if found.get("name") and found.getparent() is part.root:
                named.setdefault(found.get("name"), found)
    return named


def _particles(name: str, groups: dict[str, Any], sizes: dict[str, float]) -> float:
    if name not in groups:
        return 0
    if name not in sizes:
        sizes[name] = math.inf  # a group inside itself
        sizes[name] = _size(groups[name], groups, sizes)
    return sizes[name]


def _size(definition: Any, groups: dict[str, Any], sizes: dict[str, float]) -> float:
    """The particles of a definition when all groups are put in, without those of inner types."""
    total = 0.0
    waiting = list(definition)
    while waiting:
        node = waiting.pop()
        if node.tag in _PARTICLES:
            total += 1
            continue
        if node.tag == xs("group") and node.get("ref"):
            total += 1 + _particles(node.get("ref").rpartition(":")[2], groups, sizes)
        if node.tag not in _INNER_TYPES:
            waiting.extend(node)
    return total


def _limited(size: float, definition: Any) -> None:
    if size > MOST_PARTICLES:
        count = "endlessly many" if size == math.inf else f"{size:.0f}"
        raise SchemaRefused(
            f"the {local_name(definition.tag)} has {count} elements with its groups put in; "
            f"at most {MOST_PARTICLES} are taken.",
            place=f"{definition.sourceline}:1",
        )


def _chain(name: str, types: dict[str, Any]) -> None:
    start, seen = name, 0
    while name in types:
        seen += 1
        if seen > MOST_DERIVATIONS:
            raise SchemaRefused(
                f"the type {start!r} is derived in more than {MOST_DERIVATIONS} steps.",
                place=f"{types[start].sourceline}:1",
            )
        name = _base(types[name])


def _members(name: str, types: dict[str, Any], sizes: dict[str, float]) -> float:
    """How many types a union has when its unions are put in."""
    if name not in types:
        return 1
    if name not in sizes:
        sizes[name] = 1
        named = [one for union in types[name].iter(xs("union")) for one in (union.get("memberTypes") or "").split()]
        bases = [_base(types[name])] if not named else []
        sizes[name] = 1 + sum(_members(one.rpartition(":")[2], types, sizes) for one in [*named, *bases] if one)
    if sizes[name] > MOST_MEMBERS:
        raise SchemaRefused(
            f"the union {name!r} has more than {MOST_MEMBERS} members with its unions put in.",
            place=f"{types[name].sourceline}:1",
        )
    return sizes[name]


def _few_values(definition: Any) -> None:
    if sum(1 for child in definition if child.tag == xs("enumeration")) > MOST_VALUES:
        raise SchemaRefused(f"a type lists more than {MOST_VALUES} values.", place=f"{definition.sourceline}:1")


def _base(definition: Any) -> str:
    for node in definition.iter(xs("restriction"), xs("extension"), xs("list")):
        reference = str(node.get("base") or node.get("itemType") or "")
        prefix, _, local = reference.rpartition(":")
        if node.nsmap.get(prefix or None) != xs("")[1:-1]:
            return local
        return ""
    return ""


def _attributes(name: str, groups: dict[str, Any], sizes: dict[str, float]) -> float:
    if name not in groups:
        return 0
    if name not in sizes:
        sizes[name] = 0
        sizes[name] = sum(
            1
            if node.tag == xs("attribute")
            else _attributes(str(node.get("ref") or "").rpartition(":")[2], groups, sizes)
            for node in groups[name]
        )
    return sizes[name]
