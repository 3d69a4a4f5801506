"""Walk over the entities of a request or response body, by the types of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol

import msgspec

from postroom.documents.dialects.name_tables import RESOURCES
from postroom.model.types import GroupType, Model, ResourceType
from postroom.registry.paths import EntityPath

Tree = dict[str, Any]


class EntityTranslator(Protocol):
    """Translates entities of each type. A type is None where the same request defines it."""

    def registry(self, document: Tree) -> Tree:
        """The Registry, whose collections are done."""

    def group(self, plural: str, group_type: GroupType | None, document: Tree) -> Tree:
        """A Group, whose collections are done."""

    def version(self, plural: str, resource_type: ResourceType | None, document: Tree) -> Tree:
        """A Version, or what a Resource shows of its default one."""

    def meta(self, plural: str, resource_type: ResourceType | None, document: Tree) -> Tree:
        """The meta of a Resource."""


class EntityTypes(msgspec.Struct, frozen=True):
    """The types that a document can have."""

    model: Model
    brought: dict[str, tuple[str, ...]] = {}
    """Group types that a model in the document may add, with their Resource types."""

    def groups(self) -> Iterable[str]:
        """The names of all collections of Groups."""
        return {**self.model.groups, **self.brought}

    def resources(self, plural: str) -> dict[str, ResourceType | None]:
        """The collections of Resources in a Group."""
        found: dict[str, ResourceType | None] = dict.fromkeys(self.brought.get(plural, ()))
        group_type = self.model.groups.get(plural)
        return {**found, **(group_type.resources if group_type else {})}


def entity_types(model: Model, source: Any = None) -> EntityTypes:
    """The types of a registry and those of the model source that a request brings along."""
    if not isinstance(source, dict):
        return EntityTypes(model)
    # The types of the messaging model may come by an include, which nobody has read yet.
    brought: dict[str, tuple[str, ...]] = {plural: (resources,) for plural, resources in RESOURCES.items()}
    groups = source.get("groups")
    for plural, group in groups.items() if isinstance(groups, dict) else ():
        resources = group.get("resources") if isinstance(group, dict) else None
        named = resources if isinstance(resources, dict) else ()
        brought[plural] = tuple(dict.fromkeys((*brought.get(plural, ()), *named)))
    return EntityTypes(model, brought)


def translate_entities(translator: EntityTranslator, types: EntityTypes, path: EntityPath, document: Any) -> Any:
    """What stands at a path, in other words; anything that is no object is left to the rules."""
    if not isinstance(document, dict):
        return document
    if path.kind == "registry":
        return _registry(translator, types, document)
    group = path.group.plural
    if path.kind in ("group", "groups"):
        return _all(document, lambda one: _group(translator, types, group, one), path.is_collection)
    plural, resource_type = path.resource.plural, path.resource
    match path.kind:
        case "resource" | "resources":
            return _all(document, lambda one: _resource(translator, plural, resource_type, one), path.is_collection)
        case "meta":
            return translator.meta(plural, resource_type, document)
        case _:
            return _all(document, lambda one: translator.version(plural, resource_type, one), path.is_collection)


def _all(document: Tree, change: Callable[[Tree], Tree], is_collection: bool) -> Tree:
    return _members(document, change) if is_collection else change(document)


def _members(collection: Any, change: Callable[[Tree], Tree]) -> Any:
    if not isinstance(collection, dict):
        return collection
    return {name: change(one) if isinstance(one, dict) else one for name, one in collection.items()}


def _registry(translator: EntityTranslator, types: EntityTypes, document: Tree) -> Tree:
    made = dict(document)
    for plural in types.groups():
        if plural in made:
            made[plural] = _members(made[plural], partial(_group, translator, types, plural))
    return translator.registry(made)


def _group(translator: EntityTranslator, types: EntityTypes, plural: str, document: Tree) -> Tree:
    made = dict(document)
    for name, resource_type in types.resources(plural).items():
        if name in made:
            made[name] = _members(made[name], partial(_resource, translator, name, resource_type))
    return translator.group(plural, types.model.groups.get(plural), made)


def _resource(translator: EntityTranslator, plural: str, resource_type: ResourceType | None, document: Tree) -> Tree:
    made = dict(document)
    if isinstance(made.get("meta"), dict):
        made["meta"] = translator.meta(plural, resource_type, made["meta"])
    if "versions" in made:
        made["versions"] = _members(made["versions"], lambda one: translator.version(plural, resource_type, one))
    return translator.version(plural, resource_type, made)
