"""The rules of model.md for one attribute: its name, type, values and the attributes its values switch on."""

from __future__ import annotations

import re

import msgspec

from postroom.model.conform import ifvalue_key, value_error
from postroom.model.model_refused import ModelRefused
from postroom.model.names import CHARSETS, is_attribute_name
from postroom.model.scalar_types import is_among
from postroom.model.types import ALL_TYPES, SCALAR_TYPES, Attribute, Attributes, Item, Model

TARGETED = frozenset({"xid", "uri", "url"})
TARGET = re.compile(r"/[a-z_][a-z0-9_]*(/[a-z_][a-z0-9_]*(/versions|\[/versions\])?)?\Z")


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """Where attributes stand: what they may be called, what is there already, whether Versions can be compared."""

    charset: str = ""
    beside: frozenset[str] = frozenset()
    versioned: bool = False
    implied: frozenset[str] = frozenset()


def check_attributes(
    model: Model, attributes: Attributes, place: str, implied: frozenset[str] = frozenset(), versioned: bool = False
) -> None:
    """Raise ModelRefused at the first rule that one of the attributes breaks.

    `implied` are names made of a type's own, which may be longer than other names (a singular of 63 and "id").
    """
    _check_level(model, attributes, place, Level(versioned=versioned, implied=implied))


def _check_level(model: Model, attributes: Attributes, place: str, level: Level) -> None:
    names = level.beside | attributes.keys()
    for name, attribute in attributes.items():
        if name != "*" and name not in level.implied and not is_attribute_name(name, level.charset):
            raise ModelRefused(f"{name!r} is not a legal attribute name.", place=f"{place}/{name}")
        here = f"{place}/{name}"
        _check_type(model, attribute, here, level.versioned and name != "*")
        _check_aspects(attribute, here, level)
        _check_values(model, attribute, here)
        _check_ifvalues(model, attribute, here, msgspec.structs.replace(level, beside=names, versioned=False))


def _check_type(model: Model, kind: Attribute | Item, place: str, versioned: bool) -> None:
    if kind.type not in ALL_TYPES:
        raise ModelRefused(f"{kind.type!r} is not a type.", place=f"{place}/type")
    if (kind.item is not None) != (kind.type in ("array", "map")):
        raise ModelRefused("item goes with the types array and map, and only with them.", place=f"{place}/item")
    if kind.type != "object" and (kind.attributes or kind.namecharset):
        raise ModelRefused("attributes and namecharset go with the type object only.", place=place)
    if kind.namecharset.lower() not in CHARSETS:
        raise ModelRefused(f"{kind.namecharset!r} is not a known character set.", place=f"{place}/namecharset")
    _check_target(kind, place)
    _check_level(
        model, kind.attributes, f"{place}/attributes", Level(charset=kind.namecharset.lower(), versioned=versioned)
    )
    if kind.item is not None:
        _check_type(model, kind.item, f"{place}/item", versioned=False)


def _check_target(kind: Attribute | Item, place: str) -> None:
    if kind.target and kind.type not in TARGETED:
        raise ModelRefused("goes with the types xid, uri and url only.", place=f"{place}/target")
    if kind.target and TARGET.match(kind.target) is None:
        raise ModelRefused("is /GROUPS, /GROUPS/RESOURCES with /versions or [/versions].", place=f"{place}/target")


def _check_aspects(attribute: Attribute, place: str, level: Level) -> None:
    if attribute.name == "*" and (attribute.ifvalues or attribute.required or attribute.readonly):
        raise ModelRefused("'*' cannot have ifvalues, required or readonly.", place=place)
    if not attribute.matchversions:
        return
    if not level.versioned or attribute.name == "*" or attribute.type not in SCALAR_TYPES:
        raise ModelRefused(
            "goes with named scalar attributes of Versions only, not in arrays, maps or ifvalues.",
            place=f"{place}/matchversions",
        )


def _check_values(model: Model, attribute: Attribute, place: str) -> None:
    if attribute.enum and attribute.type not in SCALAR_TYPES:
        raise ModelRefused("goes with scalar types only.", place=f"{place}/enum")
    for value in attribute.enum:
        if error := value_error(model, attribute, value):
            raise ModelRefused(f"{value!r} {error}.", place=f"{place}/enum")
    if attribute.default is not None:
        _check_default(model, attribute, place)


def _check_default(model: Model, attribute: Attribute, place: str) -> None:
    name = attribute.name
    if attribute.type not in SCALAR_TYPES:
        raise ModelRefused("only scalars have defaults.", problem="model_scalar_default", name=name, place=place)
    if not attribute.required:
        raise ModelRefused("a default needs required: true.", problem="model_required_true", name=name, place=place)
    if error := value_error(model, attribute, attribute.default):
        raise ModelRefused(f"{attribute.default!r} {error}.", place=f"{place}/default")
    if attribute.enum and attribute.strict and not is_among(attribute.default, attribute.enum):
        raise ModelRefused("must be one of the allowed values.", place=f"{place}/default")


def _check_ifvalues(model: Model, attribute: Attribute, place: str, level: Level) -> None:
    if attribute.ifvalues and attribute.type not in SCALAR_TYPES:
        raise ModelRefused("goes with scalar types only.", place=f"{place}/ifvalues")
    allowed = {ifvalue_key(value) for value in attribute.enum} if attribute.strict else set()
    seen: set[str] = set()
    for key, clause in attribute.ifvalues.items():
        if not key or key.startswith("^") or key.casefold() in seen:
            raise ModelRefused(f"{key!r} is empty, starts with '^' or is there twice.", place=f"{place}/ifvalues")
        if allowed and key.casefold() not in allowed:
            raise ModelRefused(f"{key!r} is not one of the allowed values.", place=f"{place}/ifvalues")
        seen.add(key.casefold())
        clash = next((name for name in clause.siblingattributes if name in level.beside), None)
        if clash:
            raise ModelRefused(f"{clash!r} is defined beside the attribute already.", place=f"{place}/ifvalues/{key}")
        _check_level(model, clause.siblingattributes, f"{place}/ifvalues/{key}/siblingattributes", level)
