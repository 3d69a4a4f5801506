"""Rules of model.md for one attribute definition: name, type, allowed values, `ifvalues`."""

from __future__ import annotations

import re

import msgspec

from postroom.model.conform import ifvalue_key
from postroom.model.model_refused import ModelRefused
from postroom.model.names import CHARSETS, is_attribute_name
from postroom.model.scalar_types import is_among, scalar_error
from postroom.model.types import ALL_TYPES, SCALAR_TYPES, Attribute, Attributes, Item

TARGETED = frozenset({"xid", "uri", "url"})
TARGET = re.compile(r"/[a-z_][a-z0-9_]*(/[a-z_][a-z0-9_]*(/versions|\[/versions\])?)?\Z")


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for all attributes of one object: allowed names, names in use, whether `matchversions` may be set."""

    charset: str = ""
    beside: frozenset[str] = frozenset()
    versioned: bool = False
    implied: frozenset[str] = frozenset()


def check_attributes(
    attributes: Attributes, pointer: str, implied: frozenset[str] = frozenset(), versioned: bool = False
) -> None:
    """Raise ModelRefused at the first rule that one of the attributes breaks.

    `implied` are names made of a type's own, which may be longer than other names (a singular of 63 and "id").
    """
    _check_level(attributes, pointer, Level(versioned=versioned, implied=implied))


def _check_level(attributes: Attributes, pointer: str, level: Level) -> None:
    names = level.beside | attributes.keys()
    for name, attribute in attributes.items():
        if name != "*" and name not in level.implied and not is_attribute_name(name, level.charset):
            raise ModelRefused(f"{name!r} is not a legal attribute name.", place=f"{pointer}/{name}")
        here = f"{pointer}/{name}"
        _check_type(attribute, here, level.versioned and name != "*")
        _check_aspects(attribute, here, level)
        _check_values(attribute, here)
        _check_ifvalues(attribute, here, msgspec.structs.replace(level, beside=names, versioned=False))


def _check_type(definition: Attribute | Item, pointer: str, versioned: bool) -> None:
    if definition.type not in ALL_TYPES:
        raise ModelRefused(f"{definition.type!r} is not a type.", place=f"{pointer}/type")
    if (definition.item is not None) != (definition.type in ("array", "map")):
        raise ModelRefused("item goes with the types array and map, and only with them.", place=f"{pointer}/item")
    if definition.type != "object" and (definition.attributes or definition.namecharset):
        raise ModelRefused("attributes and namecharset go with the type object only.", place=pointer)
    if definition.namecharset.lower() not in CHARSETS:
        raise ModelRefused(f"{definition.namecharset!r} is not a known character set.", place=f"{pointer}/namecharset")
    _check_target(definition, pointer)
    _check_level(
        definition.attributes,
        f"{pointer}/attributes",
        Level(charset=definition.namecharset.lower(), versioned=versioned),
    )
    if definition.item is not None:
        _check_type(definition.item, f"{pointer}/item", versioned=False)


def _check_target(definition: Attribute | Item, pointer: str) -> None:
    if definition.target and definition.type not in TARGETED:
        raise ModelRefused("goes with the types xid, uri and url only.", place=f"{pointer}/target")
    if definition.target and TARGET.match(definition.target) is None:
        raise ModelRefused("is /GROUPS, /GROUPS/RESOURCES with /versions or [/versions].", place=f"{pointer}/target")


def _check_aspects(attribute: Attribute, pointer: str, level: Level) -> None:
    if attribute.name == "*" and (attribute.ifvalues or attribute.required or attribute.readonly):
        raise ModelRefused("'*' cannot have ifvalues, required or readonly.", place=pointer)
    if not attribute.matchversions:
        return
    if not level.versioned or attribute.name == "*" or attribute.type not in SCALAR_TYPES:
        raise ModelRefused(
            "goes with named scalar attributes of Versions only, not in arrays, maps or ifvalues.",
            place=f"{pointer}/matchversions",
        )


def _check_values(attribute: Attribute, pointer: str) -> None:
    # The text has enums on scalars only; the published models have them on arrays, and mean the items.
    scalar = attribute.item.type if attribute.item is not None else attribute.type
    if attribute.enum and scalar not in SCALAR_TYPES:
        raise ModelRefused("goes with scalar types, and arrays and maps of those, only.", place=f"{pointer}/enum")
    for value in attribute.enum:
        if error := scalar_error(scalar, value):
            raise ModelRefused(f"{value!r} {error}.", place=f"{pointer}/enum")
    if attribute.default is not None:
        _check_default(attribute, pointer)


def _check_default(attribute: Attribute, pointer: str) -> None:
    name = attribute.name
    if attribute.type not in SCALAR_TYPES:
        raise ModelRefused("only scalars have defaults.", problem="model_scalar_default", name=name, place=pointer)
    if not attribute.required:
        raise ModelRefused("a default needs required: true.", problem="model_required_true", name=name, place=pointer)
    if error := scalar_error(attribute.type, attribute.default):
        raise ModelRefused(f"{attribute.default!r} {error}.", place=f"{pointer}/default")
    if attribute.enum and attribute.strict and not is_among(attribute.default, attribute.enum):
        raise ModelRefused("must be one of the allowed values.", place=f"{pointer}/default")


def _check_ifvalues(attribute: Attribute, pointer: str, level: Level) -> None:
    if attribute.ifvalues and attribute.type not in SCALAR_TYPES:
        raise ModelRefused("goes with scalar types only.", place=f"{pointer}/ifvalues")
    allowed = {ifvalue_key(value) for value in attribute.enum} if attribute.strict else set()
    seen: set[str] = set()
    for key, clause in attribute.ifvalues.items():
        if not key or key.startswith("^") or key.casefold() in seen:
            raise ModelRefused(f"{key!r} is empty, starts with '^' or is there twice.", place=f"{pointer}/ifvalues")
        if allowed and key.casefold() not in allowed:
            raise ModelRefused(f"{key!r} is not one of the allowed values.", place=f"{pointer}/ifvalues")
        seen.add(key.casefold())
        clash = next((name for name in clause.siblingattributes if name in level.beside), None)
        if clash:
            raise ModelRefused(f"{clash!r} is defined beside the attribute already.", place=f"{pointer}/ifvalues/{key}")
        _check_level(clause.siblingattributes, f"{pointer}/ifvalues/{key}/siblingattributes", level)
