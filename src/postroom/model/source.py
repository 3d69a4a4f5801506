"""From what a user writes to the full model: imports resolved, the specification's attributes added, rules checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from postroom.model import core_attributes
from postroom.model.model_refused import ModelRefused
from postroom.model.model_rules import check_model
from postroom.model.types import Model

Source = Mapping[str, Any]


def parse_model(source: Source) -> Model:
    """The full model of a model source; ModelRefused when it breaks a rule."""
    document = _without_nulls(_section(source, ""))
    document.pop("$schema", None)
    _refuse_includes(document, "")
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
        model = msgspec.convert(full, Model)
    except msgspec.ValidationError as error:
        raise ModelRefused(f"{error}.", place="/model") from None
    check_model(model)
    return model


def _group(plural: str, source: dict[str, Any]) -> dict[str, Any]:
    place = f"/groups/{plural}"
    group = {**source, "plural": _same(source.get("plural", plural), plural, f"{place}/plural")}
    if not isinstance(group.get("singular"), str):
        raise ModelRefused("a singular name is needed.", place=f"{place}/singular")
    resources = _section(source.get("resources", {}), f"{place}/resources")
    group["resources"] = {
        name: _resource(name, _section(r, f"{place}/resources/{name}"), f"{place}/resources/{name}")
        for name, r in resources.items()
    }
    group.pop("ximportresources", None)
    return group


def _resource(plural: str, source: dict[str, Any], place: str) -> dict[str, Any]:
    if "origin" in source:
        raise ModelRefused("there is no such aspect.", place=f"{place}/origin")
    resource = {**source, "plural": _same(source.get("plural", plural), plural, f"{place}/plural"), "origin": place}
    singular = resource.get("singular")
    if not isinstance(singular, str):
        raise ModelRefused("a singular name is needed.", place=f"{place}/singular")
    mode = resource.get("versionmode", "manual")
    resource["versionmode"] = mode.lower() if isinstance(mode, str) else mode
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
        resource[section] = _attributes(resource, section, place, specified, [])
    extra = next((name for name in resource["resourceattributes"] if name not in own), None)
    if extra:
        raise ModelRefused("extensions belong in metaattributes.", place=f"{place}/resourceattributes/{extra}")
    for name in above:  # MOD-020: a Version cannot use these names; who repeats them means those of the Resource
        del resource["attributes"][name]
    return resource


def _attributes(
    owner: dict[str, Any],
    section: str,
    place: str,
    specified: dict[str, Any],
    inherent: list[dict[str, Any]],
) -> dict[str, Any]:
    place = f"{place}/{section}"
    written = _section(owner.get(section, {}), place)
    reserved = {name: definition for attributes in inherent for name, definition in attributes.items()}
    merged: dict[str, Any] = {**specified, **reserved}
    for name, definition in written.items():
        defined = _section(definition, f"{place}/{name}")
        if name in merged:
            _narrows(merged[name], defined, f"{place}/{name}")
            defined = {**merged[name], **defined}
        else:
            _refuse_immutable(defined, f"{place}/{name}")
        merged[name] = defined
    return {name: _named(name, definition, f"{place}/{name}") for name, definition in merged.items()}


def _narrows(specified: dict[str, Any], defined: dict[str, Any], place: str) -> None:
    if defined.get("type", specified["type"]) != specified["type"]:
        raise ModelRefused(f"the specification gives this attribute the type {specified['type']}.", place=place)
    for aspect in ("required", "readonly"):
        if specified.get(aspect) and defined.get(aspect) is False:
            raise ModelRefused(f"{aspect!r} of an attribute of the specification stays true.", place=place)


def _refuse_immutable(definition: Any, place: str) -> None:
    written = _section(definition, place)
    if written.get("immutable"):
        raise ModelRefused("only attributes of the specification are immutable.", place=f"{place}/immutable")
    for name, member in _section(written.get("attributes", {}), f"{place}/attributes").items():
        _refuse_immutable(member, f"{place}/attributes/{name}")


def _named(name: str, definition: dict[str, Any], place: str) -> dict[str, Any]:
    _same(definition.get("name", name), name, f"{place}/name")
    named = {**definition, "name": name, **_nested(definition, place)}
    if "ifvalues" in definition:
        clauses = _section(definition["ifvalues"], f"{place}/ifvalues")
        named["ifvalues"] = {value: _clause(clause, f"{place}/ifvalues/{value}") for value, clause in clauses.items()}
    return named


def _clause(clause: Any, place: str) -> dict[str, Any]:
    written = _section(clause, place)
    siblings = _section(written.get("siblingattributes", {}), f"{place}/siblingattributes")
    named = {name: _named(name, _section(d, f"{place}/{name}"), f"{place}/{name}") for name, d in siblings.items()}
    return {**written, "siblingattributes": named}


def _nested(definition: dict[str, Any], place: str) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    if "attributes" in definition:
        members = _section(definition["attributes"], f"{place}/attributes")
        nested["attributes"] = {
            name: _named(name, _section(member, f"{place}/attributes/{name}"), f"{place}/attributes/{name}")
            for name, member in members.items()
        }
    if "item" in definition:
        item = _section(definition["item"], f"{place}/item")
        nested["item"] = {**item, **_nested(item, f"{place}/item")}
    return nested


def _import_resources(sources: dict[str, Any], groups: dict[str, Any]) -> None:
    imports = {plural: _imports(plural, sources) for plural in groups}

    def resolve(plural: str, name: str, trail: tuple[str, ...]) -> Any:
        place = f"/groups/{plural}/ximportresources"
        if plural in trail:
            raise ModelRefused(f"{name!r} is imported in a circle.", place=place)
        if name in groups[plural]["resources"]:
            return groups[plural]["resources"][name]
        if name not in imports[plural]:
            raise ModelRefused(f"there is no Resource type {name!r} to import.", place=place)
        return resolve(imports[plural][name], name, (*trail, plural))

    resolved = {
        plural: {name: resolve(plural, name, ()) for name in (*groups[plural]["resources"], *imports[plural])}
        for plural in groups
    }
    for plural, resources in resolved.items():
        groups[plural]["resources"] = resources


def _imports(plural: str, sources: dict[str, Any]) -> dict[str, str]:
    """The Resource types a Group type imports, each with the Group type it comes from."""
    place = f"/groups/{plural}/ximportresources"
    wanted = sources[plural].get("ximportresources", [])
    if not isinstance(wanted, list):
        raise ModelRefused("must be a list.", place=place)
    found: dict[str, str] = {}
    for reference in wanted:
        parts = str(reference).split("/")
        if len(parts) != 3 or parts[0] or parts[1] == plural or parts[1] not in sources:
            raise ModelRefused(f"{reference!r} is no /GROUPS/RESOURCES of another Group type.", place=place)
        if parts[2] in found or parts[2] in (sources[plural].get("resources") or {}):
            raise ModelRefused(f"{reference!r} is there already.", place=place)
        found[parts[2]] = parts[1]
    return found


def _refuse_includes(value: Any, place: str) -> None:
    if isinstance(value, dict):
        for key, member in value.items():
            if key in ("$include", "$includes"):
                raise ModelRefused("includes must be resolved before the model is given.", place=f"{place}/{key}")
            _refuse_includes(member, f"{place}/{key}")


def _section(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ModelRefused("must be an object.", place=place or "/")
    return dict(value)


def _same(given: Any, expected: str, place: str) -> str:
    if given != expected:
        raise ModelRefused(f"must be {expected!r} as its key says.", place=place)
    return expected


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    return value
