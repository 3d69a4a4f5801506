"""The rules a full model has to keep (model.md), each with the place it is broken at."""

from __future__ import annotations

from postroom.model.conform import value_error
from postroom.model.names import CHARSETS, PLURAL_LENGTH, is_attribute_name
from postroom.model.refusal import ModelRefused
from postroom.model.types import ALL_TYPES, SCALAR_TYPES, Attribute, Attributes, GroupType, Item, Model, ResourceType

VERSION_MODES = ("createdat", "manual", "modifiedat", "semver")
TYPEMAP_VALUES = ("binary", "json", "string")
TARGETED = frozenset({"xid", "uri", "url"})


def check_model(model: Model) -> None:
    """Raise ModelRefused at the first rule the model breaks."""
    _check_attributes(model, model.attributes, "/attributes", "")
    names: set[str] = set()
    for plural, group in model.groups.items():
        _check_names(group, names, f"/groups/{plural}")
        _check_attributes(model, group.attributes, f"/groups/{plural}/attributes", "")
        taken: set[str] = set()
        for name, resource in group.resources.items():
            _check_names(resource, taken, f"/groups/{plural}/resources/{name}")
            _check_resource(model, resource, f"/groups/{plural}/resources/{name}")
        _check_constraints(group, f"/groups/{plural}/constraints")


def _check_names(owner: GroupType | ResourceType, taken: set[str], place: str) -> None:
    for name in {owner.plural, owner.singular}:
        if not is_attribute_name(name) or len(name) > PLURAL_LENGTH:
            raise ModelRefused(f"{name!r} is not a legal type name.", place=place)
        if name in taken:
            raise ModelRefused(f"the name {name!r} is used twice.", place=place)
        taken.add(name)


def _check_resource(model: Model, resource: ResourceType, place: str) -> None:
    if resource.maxversions < 0:
        raise ModelRefused("must not be negative.", place=f"{place}/maxversions")
    if resource.versionmode not in VERSION_MODES:
        raise ModelRefused(f"must be one of {', '.join(VERSION_MODES)}.", place=f"{place}/versionmode")
    if resource.versionmode != "manual" and not resource.singleversionroot:
        raise ModelRefused(f"is needed by the version mode {resource.versionmode}.", place=f"{place}/singleversionroot")
    if resource.validatecompatibility and not resource.validateformat:
        raise ModelRefused("needs validateformat.", place=f"{place}/validatecompatibility")
    for pattern, kind in resource.typemap.items():
        if kind.lower() not in TYPEMAP_VALUES or pattern.count("*") > 1:
            raise ModelRefused("maps a media type pattern to binary, json or string.", place=f"{place}/typemap")
    for section in ("attributes", "resourceattributes", "metaattributes"):
        _check_attributes(model, getattr(resource, section), f"{place}/{section}", "")


def _check_constraints(group: GroupType, place: str) -> None:
    for key, constraint in group.constraints.items():
        plural, _, path = key.partition(".")
        resource = group.resources.get(plural)
        attribute = find_attribute(resource.attributes, path) if resource else None
        if attribute is None or attribute.type not in SCALAR_TYPES:
            raise ModelRefused("names no scalar attribute of a Resource type here.", place=f"{place}/{key}")
        other = find_attribute(group.attributes, constraint.equals) if constraint.equals else attribute
        if other is None or other.type != attribute.type:
            raise ModelRefused("must name a Group attribute of the same type.", place=f"{place}/{key}/equals")
        if constraint.enum and attribute.enum and attribute.strict and not set(constraint.enum) <= set(attribute.enum):
            raise ModelRefused("must be a subset of the attribute's values.", place=f"{place}/{key}/enum")
        allowed = constraint.enum or (attribute.enum if attribute.strict else ())
        chosen = attribute.default if constraint.default is None else constraint.default
        if allowed and chosen is not None and chosen not in allowed:
            raise ModelRefused("must be one of the allowed values.", place=f"{place}/{key}/default")


def find_attribute(attributes: Attributes, path: str) -> Attribute | None:
    """The statically defined attribute at a dotted path, or None."""
    found: Attribute | None = None
    for name in path.split("."):
        found = attributes.get(name)
        if found is None:
            return None
        attributes = found.attributes if found.type == "object" else {}
    return found


def _check_attributes(model: Model, attributes: Attributes, place: str, charset: str) -> None:
    for name, attribute in attributes.items():
        if name != "*" and not is_attribute_name(name, charset):
            raise ModelRefused(f"{name!r} is not a legal attribute name.", place=f"{place}/{name}")
        _check_attribute(model, attribute, attributes, f"{place}/{name}", charset)


def _check_attribute(model: Model, attribute: Attribute, level: Attributes, place: str, charset: str) -> None:
    _check_type(model, attribute, place)
    if attribute.name == "*" and (attribute.ifvalues or attribute.required or attribute.readonly):
        raise ModelRefused("'*' cannot have ifvalues, required or readonly.", place=place)
    _check_values(model, attribute, place)
    _check_ifvalues(model, attribute, level, place, charset)


def _check_type(model: Model, kind: Attribute | Item, place: str) -> None:
    if kind.type not in ALL_TYPES:
        raise ModelRefused(f"{kind.type!r} is not a type.", place=f"{place}/type")
    if (kind.item is not None) != (kind.type in ("array", "map")):
        raise ModelRefused("item goes with the types array and map, and only with them.", place=f"{place}/item")
    if kind.type != "object" and (kind.attributes or kind.namecharset):
        raise ModelRefused("attributes and namecharset go with the type object only.", place=place)
    if kind.namecharset.lower() not in CHARSETS:
        raise ModelRefused(f"{kind.namecharset!r} is not a known character set.", place=f"{place}/namecharset")
    if kind.target and kind.type not in TARGETED:
        raise ModelRefused("goes with the types xid, uri and url only.", place=f"{place}/target")
    _check_attributes(model, kind.attributes, f"{place}/attributes", kind.namecharset)
    if kind.item is not None:
        _check_type(model, kind.item, f"{place}/item")


def _check_values(model: Model, attribute: Attribute, place: str) -> None:
    if attribute.enum and attribute.type not in SCALAR_TYPES:
        raise ModelRefused("goes with scalar types only.", place=f"{place}/enum")
    for value in attribute.enum:
        if error := value_error(model, attribute, value):
            raise ModelRefused(f"{value!r} {error}.", place=f"{place}/enum")
    if attribute.default is None:
        return
    if attribute.type not in SCALAR_TYPES:
        raise ModelRefused(
            "only scalars have defaults.", problem="model_scalar_default", name=attribute.name, place=place
        )
    if not attribute.required:
        raise ModelRefused(
            "a default needs required: true.", problem="model_required_true", name=attribute.name, place=place
        )
    if error := value_error(model, attribute, attribute.default):
        raise ModelRefused(f"{attribute.default!r} {error}.", place=f"{place}/default")
    if attribute.enum and attribute.strict and attribute.default not in attribute.enum:
        raise ModelRefused("must be one of the allowed values.", place=f"{place}/default")


def _check_ifvalues(model: Model, attribute: Attribute, level: Attributes, place: str, charset: str) -> None:
    if attribute.ifvalues and attribute.type not in SCALAR_TYPES:
        raise ModelRefused("goes with scalar types only.", place=f"{place}/ifvalues")
    seen: set[str] = set()
    for key, clause in attribute.ifvalues.items():
        if not key or key.startswith("^") or key.casefold() in seen:
            raise ModelRefused(f"{key!r} is empty, starts with '^' or is there twice.", place=f"{place}/ifvalues")
        seen.add(key.casefold())
        clash = next((name for name in clause.siblingattributes if name in level), None)
        if clash:
            raise ModelRefused(f"{clash!r} is defined beside the attribute already.", place=f"{place}/ifvalues/{key}")
        _check_attributes(model, clause.siblingattributes, f"{place}/ifvalues/{key}/siblingattributes", charset)
