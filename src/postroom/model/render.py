"""Renderer of the full model as the document of `/model`."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.model.types import GroupType, Model, ResourceType

_OPTIONAL = frozenset(
    {
        "description",
        "documentation",
        "icon",
        "labels",
        "modelversion",
        "modelcompatiblewith",
        "typemap",
        "constraints",
        "groups",
        "resources",
    }
)


def render_model(model: Model) -> dict[str, Any]:
    """Render the full model as JSON values, without empty optional parts, as the specification's samples do."""
    document = _level(model)
    document["attributes"] = _attributes(document["attributes"])
    if model.groups:
        document["groups"] = {plural: _group(group) for plural, group in model.groups.items()}
    return document


def _group(group: GroupType) -> dict[str, Any]:
    document = _level(group)
    document["attributes"] = _attributes(document["attributes"])
    if group.resources:
        document["resources"] = {plural: _resource(resource) for plural, resource in group.resources.items()}
    return document


def _resource(resource: ResourceType) -> dict[str, Any]:
    document = _level(resource)
    del document["origin"]
    for section in ("attributes", "resourceattributes", "metaattributes"):
        document[section] = _attributes(document[section])
    return document


def _level(owner: Model | GroupType | ResourceType) -> dict[str, Any]:
    members: dict[str, Any] = msgspec.to_builtins(owner)
    return {name: value for name, value in members.items() if value or name not in _OPTIONAL}


def _attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: _attribute(attribute) for name, attribute in attributes.items()}


def _attribute(attribute: dict[str, Any]) -> dict[str, Any]:
    document = {**attribute}
    if document.get("enum"):
        document["enum"] = list(document["enum"])
        document.setdefault("strict", True)
    if "attributes" in document:
        document["attributes"] = _attributes(document["attributes"])
    if "item" in document:
        document["item"] = _attribute(document["item"])
    if "ifvalues" in document:
        document["ifvalues"] = {
            value: {section: _attributes(siblings) for section, siblings in clause.items()}
            for value, clause in document["ifvalues"].items()
        }
    return document
