"""The model as frozen values: attributes, Group types, Resource types."""

from __future__ import annotations

from typing import Any

import msgspec

SCALAR_TYPES = frozenset(
    {
        "boolean",
        "decimal",
        "integer",
        "string",
        "timestamp",
        "uinteger",
        "uri",
        "uriabsolute",
        "urirelative",
        "uritemplate",
        "url",
        "urlabsolute",
        "urlrelative",
        "xid",
        "xidtype",
    }
)
ALL_TYPES = SCALAR_TYPES | {"any", "array", "map", "object"}


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The type of the members of an array or a map."""

    type: str
    target: str = ""
    namecharset: str = ""
    attributes: dict[str, Attribute] = {}
    item: Item | None = None


class IfValue(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The sibling attributes that one value of an attribute adds."""

    siblingattributes: dict[str, Attribute] = {}


class Attribute(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The definition of one attribute, with the aspects that model.md names."""

    name: str
    type: str
    target: str = ""
    namecharset: str = ""
    description: str = ""
    enum: tuple[Any, ...] = ()
    strict: bool = True
    matchversions: bool = False
    readonly: bool = False
    immutable: bool = False
    required: bool = False
    default: Any = None
    attributes: dict[str, Attribute] = {}
    item: Item | None = None
    ifvalues: dict[str, IfValue] = {}


Attributes = dict[str, Attribute]


class GroupConstraint(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a Group type demands of an attribute of its Resources (model.md, constraints)."""

    default: Any = None
    enum: tuple[Any, ...] = ()
    equals: str = ""


class _EntityType(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    plural: str
    singular: str
    description: str = ""
    documentation: str = ""
    icon: str = ""
    labels: dict[str, str] = {}
    modelversion: str = ""
    modelcompatiblewith: str = ""


class ResourceType(_EntityType, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Resource type: how its Versions behave and which attributes they, the Resource and its meta have."""

    maxversions: int = 0
    setversionid: bool = True
    hasdocument: bool = True
    versionmode: str = "manual"
    singleversionroot: bool = False
    validateformat: bool = False
    validatecompatibility: bool = False
    strictvalidation: bool = False
    typemap: dict[str, str] = {}
    attributes: Attributes = {}
    resourceattributes: Attributes = {}
    metaattributes: Attributes = {}
    origin: str = ""
    """JSON pointer to its definition: an imported type has that of the original (RES-060)."""


class GroupType(_EntityType, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Group type with its attributes, constraints and Resource types."""

    attributes: Attributes = {}
    constraints: dict[str, GroupConstraint] = {}
    resources: dict[str, ResourceType] = {}


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The full model: everything the specification defines and everything the user added."""

    description: str = ""
    documentation: str = ""
    labels: dict[str, str] = {}
    attributes: Attributes = {}
    groups: dict[str, GroupType] = {}
