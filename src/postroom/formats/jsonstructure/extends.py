"""Inheritance: the members that a type has through `$extends` and add-ins."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.annotations import check_names
from postroom.formats.jsonstructure.local_references import follow, steps
from postroom.model.json_pointers import pointer

_MOST_BASES = 200


class DeclaredMembers(msgspec.Struct):
    """The members of an object or tuple, inherited ones first, each with the JSON pointer of its declaration."""

    schemas: dict[str, tuple[Any, str]] = {}
    required: set[str] = set()
    alternatives: list[tuple[frozenset[str], ...]] = []
    order: list[str] = []


class Inheritance:
    """Collects members over the bases of a type and the add-ins in use."""

    def __init__(self, document: dict[str, Any], addins: tuple[str, ...] = ()) -> None:
        self._document = document
        self._addins: dict[str, list[tuple[dict[str, Any], str]]] = {}
        for reference in addins:
            path = steps(reference, "/$offers")
            addin = follow(document, path, "/$offers")
            if addin.get("abstract") is not True or "$extends" not in addin:
                raise SchemaRefused("an add-in is an abstract type that extends another.", place=pointer(path))
            for base in _references(addin, pointer(path)):
                self._addins.setdefault(pointer(steps(base, pointer(path))), []).append((addin, pointer(path)))

    def members(self, schema: dict[str, Any], at: str) -> DeclaredMembers:
        """All members of the type at a JSON pointer."""
        found = DeclaredMembers()
        self._inherit(schema, at, found, (at,))
        own = self.declared(schema, at)
        for name in own.schemas.keys() & found.schemas.keys():
            raise SchemaRefused(
                f"{name!r} is inherited and cannot be declared again.", place=at + pointer(["properties", name])
            )
        _merge(found, own)
        for addin, base_at in self._addins.get(at, ()):
            _merge(found, self.declared(addin, base_at))
        _check_required(found, at)
        return found

    def bases(self, schema: dict[str, Any], at: str) -> list[tuple[dict[str, Any], str]]:
        """The types that a type extends, with their JSON pointers."""
        found = []
        for reference in _references(schema, at):
            path = steps(reference, f"{at}/$extends")
            base = follow(self._document, path, f"{at}/$extends")
            found.append((base, pointer(path)))
        return found

    def check_selector(self, schema: dict[str, Any], selector: str, choices: dict[str, Any], at: str) -> None:
        """Raise SchemaRefused unless all variants of an inline choice extend its abstract base."""
        base, base_at = self.bases(schema, at)[0]
        if base.get("abstract") is not True:
            raise SchemaRefused("an inline choice extends an abstract type.", place=f"{at}/$extends")
        declared = self.declared(base, base_at).schemas.get(selector)
        if declared is not None and (not isinstance(declared[0], dict) or declared[0].get("type") != "string"):
            raise SchemaRefused("the selector is a member of type string.", place=f"{at}/selector")
        for name, choice in choices.items():
            stated = choice.get("type") if isinstance(choice, dict) else None
            own_at = at + pointer(["choices", name])
            target = choice
            if isinstance(stated, dict):
                target = follow(self._document, steps(stated.get("$ref"), own_at), own_at)
            if not isinstance(target, dict) or base_at not in self._ancestors(target, own_at):
                raise SchemaRefused(f"the choice {name!r} does not extend {base_at}.", place=own_at)

    def _ancestors(self, schema: dict[str, Any], at: str) -> set[str]:
        found: set[str] = set()
        waiting = [(schema, at)]
        while waiting:
            one, one_at = waiting.pop()
            for base, base_at in self.bases(one, one_at):
                if base_at not in found:
                    found.add(base_at)
                    waiting.append((base, base_at))
        return found

    def _inherit(self, schema: dict[str, Any], at: str, found: DeclaredMembers, trail: tuple[str, ...]) -> None:
        for base, base_at in self.bases(schema, at):
            if base_at in trail or len(trail) > _MOST_BASES:
                raise SchemaRefused(f"{base_at} extends itself.", place=f"{at}/$extends")
            if base.get("type") != schema.get("type", "object") and schema.get("type") != "choice":
                raise SchemaRefused(f"a type extends one of its own kind; {base_at} is not.", place=f"{at}/$extends")
            self._inherit(base, base_at, found, (*trail, base_at))
            _merge(found, self.declared(base, base_at))

    def declared(self, schema: dict[str, Any], at: str) -> DeclaredMembers:
        """The members that a schema declares itself."""
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            raise SchemaRefused("properties is a map from names to schemas.", place=f"{at}/properties")
        check_names(properties, f"{at}/properties", "a member")
        found = DeclaredMembers(
            schemas={name: (member, at + pointer(["properties", name])) for name, member in properties.items()}
        )
        _read_required(schema.get("required", []), f"{at}/required", found)
        order = schema.get("tuple", [])
        if not _is_names(order):
            raise SchemaRefused("tuple is the list of the members in their order.", place=f"{at}/tuple")
        found.order = list(order)
        return found


def _references(schema: dict[str, Any], at: str) -> list[str]:
    stated = schema.get("$extends", [])
    references = stated if isinstance(stated, list) else [stated]
    if not all(isinstance(reference, str) for reference in references) or ("$extends" in schema and not references):
        raise SchemaRefused("$extends is a reference or a list of references.", place=f"{at}/$extends")
    return references


def _merge(found: DeclaredMembers, more: DeclaredMembers) -> None:
    for name, declared in more.schemas.items():
        found.schemas.setdefault(name, declared)
    found.required |= more.required
    found.alternatives += more.alternatives
    found.order += [name for name in more.order if name not in found.order]


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _read_required(value: Any, at: str, found: DeclaredMembers) -> None:
    if _is_names(value):
        found.required = set(value)
    elif isinstance(value, list) and all(map(_is_names, value)):
        sets = tuple(frozenset(names) for names in value)
        # What every set asks for is simply required.
        found.required = set(frozenset.intersection(*sets))
        found.alternatives = [sets]
    else:
        raise SchemaRefused("required is a list of names, or a list of such lists.", place=at)


def _check_required(found: DeclaredMembers, at: str) -> None:
    asked = found.required.union(*(names for group in found.alternatives for names in group))
    for name in sorted(asked - found.schemas.keys()):
        raise SchemaRefused(f"{name[:80]!r} is required but not among the properties.", place=f"{at}/required")
