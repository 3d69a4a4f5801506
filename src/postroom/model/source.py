"""Parser of model sources: resolves imports, adds the specification's attributes, checks the rules of model.md."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from postroom.model import core_attributes
from postroom.model.model_refused import ModelRefused
from postroom.model.model_rules import check_model
from postroom.model.older_words import read_older_words
from postroom.model.types import Attribute, GroupConstraint, GroupType, IfValue, Item, Model, ResourceType

Source = Mapping[str, Any]

IMPORTS = "ximportresources"
_OBJECTS = frozenset(
    {"attributes", "constraints", "groups", "ifvalues", "item", "metaattributes", "resourceattributes", "resources"}
    | {"siblingattributes"}
)
_SHAPES: dict[Any, str] = {
    bool: "true or false",
    dict: "an object",
    int: "a whole number",
    list[str]: "a list of strings",
    str: "a string",
    dict[str, str]: "a map of strings",
    tuple[Any, ...]: "a list",
}


def parse_model(source: Source) -> Model:
    """Parse a model source into the full model; ModelRefused when it breaks a rule."""
    model = build_model(source)
    check_model(model)
    return model


def build_model(source: Source) -> Model:
    """Build the full model of a source whose rules were checked when it was accepted."""
    document, _ = read_older_words(_without_nulls(_section(source, "")))
    document.pop("$schema", None)
    _refuse_includes(document, "")
    _check_members(document, Model, "")
    groups = _section(document.get("groups", {}), "/groups")
    full = {**document, "groups": {name: _group(name, _section(g, f"/groups/{name}")) for name, g in groups.items()}}
    _import_resources(groups, full["groups"])
    collections = [core_attributes.collection_attributes(plural) for plural in groups]
    full["attributes"] = _attributes(document, "attributes", "", core_attributes.registry_attributes(), collections)
    for name, group in full["groups"].items():
        inherent = [core_attributes.collection_attributes(plural) for plural in group["resources"]]
        specified = core_attributes.group_attributes(group["singular"])
        group["attributes"] = _attributes(group, "attributes", f"/groups/{name}", specified, inherent)
    try:
        return msgspec.convert(full, Model)
    except msgspec.ValidationError as error:
        raise ModelRefused(f"{error}.", place="/model") from None


def _group(plural: str, source: dict[str, Any]) -> dict[str, Any]:
    pointer = f"/groups/{plural}"
    _check_members(source, GroupType, pointer)
    group = {**source, **_type_names(source, plural, pointer)}
    for key, constraint in _section(source.get("constraints", {}), f"{pointer}/constraints").items():
        below = f"{pointer}/constraints/{key}"
        _check_members(_section(constraint, below), GroupConstraint, below)
    resources = _section(source.get("resources", {}), f"{pointer}/resources")
    group["resources"] = {
        name: _resource(name, _section(r, f"{pointer}/resources/{name}"), f"{pointer}/resources/{name}")
        for name, r in resources.items()
    }
    group.pop(IMPORTS, None)
    return group


def _resource(plural: str, source: dict[str, Any], pointer: str) -> dict[str, Any]:
    _check_members(source, ResourceType, pointer)
    resource = {**source, **_type_names(source, plural, pointer), "origin": pointer}
    singular = resource["singular"]
    resource["versionmode"] = resource.get("versionmode", "manual").lower()
    if resource["versionmode"] != "manual" and resource.get("singleversionroot", False) is False:
        resource["singleversionroot"] = True  # C-24: these modes have one root, whatever the source says
    hasdocument = resource.get("hasdocument", True) is True
    own = core_attributes.resource_attributes(singular)
    above = {name: definition for name, definition in own.items() if name in core_attributes.RESOURCE_ONLY}
    for section, specified in (
        ("attributes", {**core_attributes.version_attributes(singular, hasdocument), **above}),
        ("resourceattributes", own),
        ("metaattributes", core_attributes.meta_attributes(singular)),
    ):
        resource[section] = _attributes(resource, section, pointer, specified, [])
    extra = next((name for name in resource["resourceattributes"] if name not in own), None)
    if extra:
        raise ModelRefused("extensions belong in metaattributes.", place=f"{pointer}/resourceattributes/{extra}")
    for name in above:  # MOD-020: a Version cannot use these names; who repeats them means those of the Resource
        del resource["attributes"][name]
    return resource


def _type_names(source: dict[str, Any], plural: str, pointer: str) -> dict[str, str]:
    """Both names of a type; the official client writes a plural that is left out as an empty one."""
    _same(source.get("plural") or plural, plural, f"{pointer}/plural")
    if "singular" not in source:
        raise ModelRefused("a singular name is needed.", place=f"{pointer}/singular")
    return {"plural": plural, "singular": source["singular"]}


def _attributes(
    owner: dict[str, Any],
    section: str,
    pointer: str,
    specified: dict[str, Any],
    inherent: list[dict[str, Any]],
) -> dict[str, Any]:
    pointer = f"{pointer}/{section}"
    written = _section(owner.get(section, {}), pointer)
    reserved = {name: definition for attributes in inherent for name, definition in attributes.items()}
    merged: dict[str, Any] = {**specified, **reserved}
    for name, definition in written.items():
        defined = _section(definition, f"{pointer}/{name}")
        if name in merged:
            _narrows(merged[name], defined, f"{pointer}/{name}")
            defined = {**merged[name], **defined}
        else:
            _refuse_immutable(defined, f"{pointer}/{name}")
        merged[name] = defined
    return {name: _named(name, definition, f"{pointer}/{name}") for name, definition in merged.items()}


def _narrows(specified: dict[str, Any], defined: dict[str, Any], pointer: str) -> None:
    if defined.get("type", specified["type"]) != specified["type"]:
        raise ModelRefused(f"the specification gives this attribute the type {specified['type']}.", place=pointer)
    for aspect in ("required", "readonly"):
        if specified.get(aspect) and defined.get(aspect) is False:
            raise ModelRefused(f"{aspect!r} of an attribute of the specification stays true.", place=pointer)


def _refuse_immutable(definition: Any, pointer: str) -> None:
    written = _section(definition, pointer)
    if written.get("immutable"):
        raise ModelRefused("only attributes of the specification are immutable.", place=f"{pointer}/immutable")
    for name, member in _section(written.get("attributes", {}), f"{pointer}/attributes").items():
        _refuse_immutable(member, f"{pointer}/attributes/{name}")


def _named(name: str, definition: dict[str, Any], pointer: str) -> dict[str, Any]:
    _check_members(definition, Attribute, pointer)
    _same(definition.get("name", name), name, f"{pointer}/name")
    named = {**definition, "name": name, **_nested(definition, pointer)}
    if "ifvalues" in definition:
        clauses = _section(definition["ifvalues"], f"{pointer}/ifvalues")
        named["ifvalues"] = {value: _clause(clause, f"{pointer}/ifvalues/{value}") for value, clause in clauses.items()}
    return named


def _clause(clause: Any, pointer: str) -> dict[str, Any]:
    written = _section(clause, pointer)
    _check_members(written, IfValue, pointer)
    siblings = _section(written.get("siblingattributes", {}), f"{pointer}/siblingattributes")
    named = {name: _named(name, _section(d, f"{pointer}/{name}"), f"{pointer}/{name}") for name, d in siblings.items()}
    return {**written, "siblingattributes": named}


def _nested(definition: dict[str, Any], pointer: str) -> dict[str, Any]:
    if "type" not in definition:
        raise ModelRefused("a type is needed.", place=f"{pointer}/type")
    nested: dict[str, Any] = {}
    if "attributes" in definition:
        members = _section(definition["attributes"], f"{pointer}/attributes")
        nested["attributes"] = {
            name: _named(name, _section(member, f"{pointer}/attributes/{name}"), f"{pointer}/attributes/{name}")
            for name, member in members.items()
        }
    if "item" in definition:
        item = _section(definition["item"], f"{pointer}/item")
        _check_members(item, Item, f"{pointer}/item")
        nested["item"] = {**item, **_nested(item, f"{pointer}/item")}
    return nested


def _import_resources(sources: dict[str, Any], groups: dict[str, Any]) -> None:
    imports = {plural: _imports(plural, sources) for plural in groups}

    def resolve(plural: str, name: str, trail: tuple[str, ...]) -> Any:
        pointer = f"/groups/{plural}/{IMPORTS}"
        if plural in trail:
            raise ModelRefused(f"{name!r} is imported in a circle.", place=pointer)
        if name in groups[plural]["resources"]:
            return groups[plural]["resources"][name]
        if name not in imports[plural]:
            raise ModelRefused(f"there is no Resource type {name!r} to import.", place=pointer)
        return resolve(imports[plural][name], name, (*trail, plural))

    resolved = {
        plural: {name: resolve(plural, name, ()) for name in (*groups[plural]["resources"], *imports[plural])}
        for plural in groups
    }
    for plural, resources in resolved.items():
        groups[plural]["resources"] = resources


def _imports(plural: str, sources: dict[str, Any]) -> dict[str, str]:
    """The Resource types a Group type imports, each with the Group type it comes from."""
    pointer = f"/groups/{plural}/{IMPORTS}"
    wanted = sources[plural].get(IMPORTS, [])
    found: dict[str, str] = {}
    for reference in wanted:
        parts = reference.split("/")
        if len(parts) != 3 or parts[0] or parts[1] == plural or parts[1] not in sources:
            raise ModelRefused(f"{reference!r} is no /GROUPS/RESOURCES of another Group type.", place=pointer)
        if parts[2] in found or parts[2] in (sources[plural].get("resources") or {}):
            raise ModelRefused(f"{reference!r} is there already.", place=pointer)
        found[parts[2]] = parts[1]
    return found


def _refuse_includes(value: Any, pointer: str) -> None:
    if isinstance(value, dict):
        for key, member in value.items():
            if key in ("$include", "$includes"):
                raise ModelRefused("includes must be resolved before the model is given.", place=f"{pointer}/{key}")
            _refuse_includes(member, f"{pointer}/{key}")


def _section(value: Any, pointer: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ModelRefused("must be an object.", problem="parsing_data", place=pointer or "/")
    return dict(value)


def _check_members(written: dict[str, Any], level: type[msgspec.Struct], pointer: str) -> None:
    """Whether the model language has all these members at this level, and their values the JSON types it asks for."""
    known = _members(level)
    for name, value in written.items():
        if name not in known:
            raise ModelRefused(f"the model language has no {name!r} here.", place=f"{pointer}/{name}")
        try:
            msgspec.convert(value, known[name])
        except msgspec.ValidationError:
            sentence = f"must be {_SHAPES.get(known[name], 'of another type')}."
            raise ModelRefused(sentence, problem="parsing_data", place=f"{pointer}/{name}") from None


@cache
def _members(level: type[msgspec.Struct]) -> dict[str, Any]:
    found = {one.name: dict if one.name in _OBJECTS else one.type for one in msgspec.structs.fields(level)}
    found.pop("origin", None)
    return {**found, IMPORTS: list[str]} if level is GroupType else found


def _same(given: Any, expected: str, pointer: str) -> str:
    if given != expected:
        raise ModelRefused(f"must be {expected!r} as its key says.", place=pointer)
    return expected


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    return value
