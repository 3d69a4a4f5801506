"""Validation of a value against its attribute definitions, and its normal form: defaults, no nulls, times in UTC."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from postroom.model.json_pointers import pointer
from postroom.model.names import SCALAR_LENGTH, is_attribute_name, is_map_key
from postroom.model.same_object import SameObject
from postroom.model.scalar_types import CHECKS, is_among, normal_timestamp, scalar_error
from postroom.model.types import Attribute, Attributes, IfValue, Item, Model
from postroom.model.xids import is_xidtype, xid_error

Path = tuple[str | int, ...]
_MOST_BYTES = 4
"""Of a character in UTF-8."""


class AttributeViolation(msgspec.Struct, frozen=True):
    """One way in which a value does not conform, and the path to the wrong member."""

    type: Literal["unknown", "invalid", "missing"]
    path: Path
    detail: str

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer."""
        return pointer(self.path)

    @property
    def dotted(self) -> str:
        """The path in dot notation, as error arguments name it."""
        dotted = ""
        for step in self.path:
            dotted += f"[{step}]" if isinstance(step, int) else f".{step}" if dotted else step
        return dotted


def conform(
    model: Model, attributes: Attributes, value: dict[str, Any]
) -> tuple[dict[str, Any], list[AttributeViolation]]:
    """The normal form of an entity's value, and every violation in it."""
    walker = _Walker(model)
    return walker.members(attributes, value, (), charset=""), walker.violations


class _Aspects(msgspec.Struct, frozen=True):
    """What is asked of the attributes of an object time and again."""

    defaults: tuple[tuple[str, Any], ...]
    required: tuple[str, ...]
    conditional: tuple[tuple[Attribute, dict[str, IfValue]], ...]
    """Attributes whose values add others, and their `ifvalues` by keys in lower case; of two alike the first counts."""


@functools.lru_cache(maxsize=1024)
def _aspects(attributes: SameObject[Attributes]) -> _Aspects:
    known = attributes.value
    return _Aspects(
        defaults=tuple((name, one.default) for name, one in known.items() if one.default is not None),
        required=tuple(name for name, one in known.items() if one.required),
        conditional=tuple((one, _clauses(one)) for one in known.values() if one.ifvalues),
    )


def _clauses(attribute: Attribute) -> dict[str, IfValue]:
    return {key.casefold(): clause for key, clause in reversed(attribute.ifvalues.items())}


def active_attributes(attributes: Attributes, value: dict[str, Any]) -> tuple[Attributes, str]:
    """The attributes of an object with those that `ifvalues` add, and the name that is defined twice, if any."""
    active = attributes
    waiting = list(_aspects(SameObject(attributes)).conditional)
    while waiting:
        attribute, clauses = waiting.pop()
        current = value.get(attribute.name)
        clause = clauses.get(ifvalue_key(current)) if current is not None else None
        if clause is None or not clause.siblingattributes:
            continue
        if active is attributes:
            active = dict(attributes)
        for name, sibling in clause.siblingattributes.items():
            if name in active:
                return active, name
            active[name] = sibling
            if sibling.ifvalues:
                waiting.append((sibling, _clauses(sibling)))
            if value.get(name) is None and sibling.default is not None:
                value[name] = sibling.default
    return active, ""


def ifvalue_key(value: Any) -> str:
    """A scalar as the string that keys of `ifvalues` are compared with, in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).casefold()


class _Walker:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.violations: list[AttributeViolation] = []

    def invalid(self, path: Path, detail: str) -> None:
        self.violations.append(AttributeViolation("invalid", path, detail))

    def members(self, attributes: Attributes, value: dict[str, Any], path: Path, charset: str) -> dict[str, Any]:
        filled, aspects = dict(value), _aspects(SameObject(attributes))
        for name, default in aspects.defaults:
            if filled.get(name) is None:
                filled[name] = default
        active, required = attributes, aspects.required
        if aspects.conditional:
            active, doubled = active_attributes(attributes, filled)
            if doubled:
                self.invalid((*path, doubled), "is defined by two attribute values at once")
            if active is not attributes:
                required = tuple(name for name, one in active.items() if one.required)
        kept: dict[str, Any] = {}
        for name, member in filled.items():
            here = (*path, name)
            found = active.get(name) if name != "*" else None
            found = found or self._undefined(active, name, here, charset)
            if found is None or member is None or (found.readonly and path):
                continue
            kept[name] = self.attribute(found, member, here)
        for name in required:
            if kept.get(name) is None:
                self.violations.append(AttributeViolation("missing", (*path, name), "is required"))
        return kept

    def _undefined(self, active: Attributes, name: str, path: Path, charset: str) -> Attribute | None:
        wildcard = active.get("*")
        if wildcard is None:
            self.violations.append(AttributeViolation("unknown", path, "is not known to the model"))
            return None
        if not is_attribute_name(name, charset):
            self.invalid(path, f"{name!r} is not a legal attribute name")
            return None
        return wildcard

    def attribute(self, attribute: Attribute, value: Any, path: Path) -> Any:
        if not (attribute.enum and attribute.strict):
            return self.value(attribute, value, path)
        before = len(self.violations)
        normal = self.value(attribute, value, path)
        if len(self.violations) == before:
            for here, scalar in _scalars(attribute, normal, path):
                if not is_among(scalar, attribute.enum):
                    allowed = ", ".join(str(one) for one in attribute.enum)
                    self.invalid(here, f"must be one of: {allowed}")
        return normal

    def value(self, definition: Attribute | Item, value: Any, path: Path) -> Any:
        if definition.type in CHECKS:
            return self._scalar(definition, value, path)
        match definition.type:
            case "any":
                return value
            case "object":
                return self._object(definition, value, path)
            case "map":
                return self._map(definition, value, path)
            case _:
                return self._array(definition, value, path)

    def _object(self, definition: Attribute | Item, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            self.invalid(path, "must be an object")
            return value
        return self.members(definition.attributes, value, path, definition.namecharset)

    def _map(self, definition: Attribute | Item, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            self.invalid(path, "must be a map")
            return value
        kept = {}
        for key, member in value.items():
            if not is_map_key(key):
                self.invalid((*path, key), f"{key!r} is not a legal map key")
            elif member is None:
                continue  # as everywhere, null means no value (core, Attributes)
            else:
                kept[key] = self.value(_item(definition), member, (*path, key))
        return kept

    def _array(self, definition: Attribute | Item, value: Any, path: Path) -> Any:
        if not isinstance(value, list):
            self.invalid(path, "must be an array")
            return value
        for position, member in enumerate(value):
            if member is None:
                self.invalid((*path, position), "must not be null")
                return value
        return [self.value(_item(definition), member, (*path, position)) for position, member in enumerate(value)]

    def _scalar(self, definition: Attribute | Item, value: Any, path: Path) -> Any:
        error = scalar_error(definition.type, value)
        if not error and isinstance(value, str):
            error = self._string_error(definition, value, path)
        if error:
            self.invalid(path, error)
            return value
        if definition.type == "timestamp":
            return normal_timestamp(value)
        return int(value) if definition.type in ("integer", "uinteger") else value

    def _string_error(self, definition: Attribute | Item, value: str, path: Path) -> str:
        name = str(path[-1])
        is_short = len(name) + len(value) <= SCALAR_LENGTH // _MOST_BYTES
        if not is_short and len(name) + len(value.encode()) > SCALAR_LENGTH:
            return f"is longer than {SCALAR_LENGTH} bytes"
        if definition.type == "xid":
            return xid_error(self.model, value, definition.target)
        if definition.type == "xidtype" and not is_xidtype(self.model, value):
            return "must name types that the model has"
        if definition.target and value.startswith("/"):
            return xid_error(self.model, value, definition.target)
        return ""


def _item(definition: Attribute | Item) -> Item:
    return definition.item or Item(type="any")


def _scalars(attribute: Attribute, value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """What the `enum` of an attribute is about: its value, or each item of an array or a map."""
    match attribute.type:
        case "array":
            yield from (((*path, position), item) for position, item in enumerate(value))
        case "map":
            yield from (((*path, key), item) for key, item in value.items())
        case _:
            yield path, value
