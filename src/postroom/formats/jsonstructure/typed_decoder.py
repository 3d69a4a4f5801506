"""The typed decoder of a schema, with which a payload that fits costs little more than parsing it.

The decoder only ever accepts. What it cannot express is decoded freely and finished by the exact checks; whatever it
refuses is validated by them, from the start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from postroom.formats.jsonstructure import types
from postroom.formats.jsonstructure.enum_values import canonical
from postroom.formats.jsonstructure.keyword_rules import number_of
from postroom.formats.jsonstructure.validation import constraints
from postroom.formats.jsonstructure.validation.primitives import FLOATS, INTEGERS, REFUSED, reader
from postroom.formats.jsonstructure.validation.string_types import STRING_TYPES
from postroom.formats.jsonstructure.validation.validate import Checks
from postroom.formats.jsonstructure.validation.violations import ViolationCollector

# Finishes a decoded part, in place where it can; NeedsValidation when it does not fit.
Finish = Callable[[Any], Any]
# A type for the decoder, and the function that finishes its values, if one is needed.
DecoderType = tuple[Any, Finish | None]

_MOST_PARTS = 2000
_DEEPEST = 60
_MOST_LITERALS = 200
_BOUNDS = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}


class NeedsValidation(Exception):
    """The payload needs the exact checks."""


def build_decoder(root: types.JsonType, checks: Checks) -> Callable[[bytes], Any]:
    """A function that decodes payloads that fit; any exception means that the payload needs the exact checks."""
    type_hint, finish = _Planner(checks).plan(root, ())
    decode = msgspec.json.Decoder(type_hint).decode
    if finish is None:
        return decode
    complete = finish
    return lambda payload: complete(decode(payload))


def is_plain_object(type_: types.JsonObjectType) -> bool:
    """Whether the decoder can express an object."""
    return type_.extra is None and not type_.rules and not type_.alternatives


def is_plain_list(type_: types.JsonArrayType) -> bool:
    """Whether the decoder can express an array."""
    return not type_.unique and type_.contains is None


def is_plain_map(type_: types.JsonMapType) -> bool:
    """Whether the decoder can express a map."""
    return not type_.rules


class _Planner:
    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._parts = 0

    def plan(self, type_: types.JsonType, trail: tuple[int, ...]) -> DecoderType:
        real, nullable = types.unwrapped(type_)
        self._parts += 1
        # A recursive type has no finite decoder, and a deep one is better checked when it is needed.
        if id(real) in trail or len(trail) > _DEEPEST or self._parts > _MOST_PARTS:
            return self._exactly(type_)
        type_hint, finish = self._real(real, (*trail, id(real)))
        if not nullable:
            return type_hint, finish
        return (type_hint if type_hint is Any else type_hint | None), _optional(finish)

    def _exactly(self, type_: types.JsonType) -> DecoderType:
        check = self._checks.of(type_)

        def finish(value: Any) -> Any:
            found = ViolationCollector()
            decoded = check(value, None, found)
            if found.violations:
                raise NeedsValidation
            return decoded

        return Any, finish

    def _real(self, type_: types.JsonType, trail: tuple[int, ...]) -> DecoderType:
        if isinstance(type_, types.JsonAnyType) and type_.values is None:
            return Any, None
        if isinstance(type_, types.JsonPrimitiveType):
            return _primitive(type_) or (Any, _read(type_))
        if isinstance(type_, types.JsonObjectType) and is_plain_object(type_):
            return self._object(type_, trail)
        if isinstance(type_, types.JsonArrayType) and is_plain_list(type_):
            return self._listing(type_, trail)
        if isinstance(type_, types.JsonMapType) and is_plain_map(type_):
            type_hint, finish = self.plan(type_.values, trail)
            return dict[str, type_hint], None if finish is None else _each_value(finish)  # type: ignore[valid-type]  # made at run time
        return self._exactly(type_)

    def _object(self, type_: types.JsonObjectType, trail: tuple[int, ...]) -> DecoderType:
        members = {name: self.plan(member, trail) for name, member in type_.members.items()}
        # Members that every payload may have are part of the value, as in the exact checks.
        members.update({name: (Any, None) for name in type_.reserved if name not in members})
        annotations = {
            name: type_hint if name in type_.required else NotRequired[type_hint]
            for name, (type_hint, _) in members.items()
        }
        type_hint = TypedDict("Members", annotations)  # type: ignore[misc]  # made at run time
        finishing = [(name, finish) for name, (_, finish) in members.items() if finish is not None]
        return type_hint, _each_member(finishing) if finishing else None

    def _listing(self, type_: types.JsonArrayType, trail: tuple[int, ...]) -> DecoderType:
        type_hint, finish = self.plan(type_.items, trail)
        limits = {
            limit: type_.rules[name]
            for name, limit in (("minItems", "min_length"), ("maxItems", "max_length"))
            if name in type_.rules
        }
        listed: Any = list[type_hint]  # type: ignore[valid-type]  # made at run time
        if limits:
            listed = Annotated[listed, msgspec.Meta(**limits)]
        return listed, None if finish is None else _each_item(finish)


def _primitive(type_: types.JsonPrimitiveType) -> DecoderType | None:
    if type_.name in STRING_TYPES and type_.values is None:
        return str, _StringCheck(STRING_TYPES[type_.name][0])
    if type_.name == "string":
        return _string(type_)
    if type_.values is not None:
        return None
    if type_.name == "boolean":
        return bool, None
    if type_.name == "null":
        return None.__class__, None
    if type_.name in INTEGERS:
        return _number(int, type_.rules, dict(zip(("minimum", "maximum"), INTEGERS[type_.name], strict=True)))
    if type_.name in ("double", "float8"):
        return _number(float, type_.rules, {})
    if type_.name == "float":
        return _number(float, type_.rules, {"minimum": -FLOATS["float"], "maximum": FLOATS["float"]})
    return None


def _string(type_: types.JsonPrimitiveType) -> DecoderType | None:
    rules = type_.rules
    if type_.values is not None:
        # A literal holds no other rule, and very long ones are slow to compare.
        return (Literal[tuple(type_.values)], None) if not rules and len(type_.values) <= _MOST_LITERALS else None
    if not rules:
        return str, None
    if rules.keys() <= {"maxLength", "minLength"}:
        limits = {
            name: rules[key] for key, name in (("maxLength", "max_length"), ("minLength", "min_length")) if key in rules
        }
        return Annotated[str, msgspec.Meta(**limits)], None
    return None


def _number(type_hint: Any, rules: dict[str, Any], own: dict[str, Any]) -> DecoderType | None:
    if not rules.keys() <= _BOUNDS.keys() | {"precision", "scale"}:
        return None
    limits = dict(own)
    for name in _BOUNDS.keys() & rules.keys():
        bound = number_of(rules[name])
        if (isinstance(bound, float) and type_hint is int) or not isinstance(bound, int | float):
            return None
        if name in own and bound is not None:
            bound = max(bound, own[name]) if name == "minimum" else min(bound, own[name])
        limits[name] = bound
    if ("exclusiveMinimum" in limits and "minimum" in limits) or ("exclusiveMaximum" in limits and "maximum" in limits):
        return None
    if any(isinstance(bound, int) and abs(bound) >= 2**63 for bound in limits.values()):
        return None
    return (
        (Annotated[type_hint, msgspec.Meta(**{_BOUNDS[name]: bound for name, bound in limits.items()})], None)
        if limits
        else (type_hint, None)
    )


def _optional(finish: Finish | None) -> Finish | None:
    if finish is None or isinstance(finish, _StringCheck):
        return finish
    return lambda value: None if value is None else finish(value)


class _StringCheck:
    """A check of a string that leaves it as it is, so that its container need not store it again."""

    def __init__(self, is_one: Callable[[str], bool]) -> None:
        self.is_one = is_one

    def __call__(self, value: str | None) -> str | None:
        if value is not None and not self.is_one(value):
            raise NeedsValidation
        return value


def _read(type_: types.JsonPrimitiveType) -> Finish:
    """The exact check of a primitive type, without violations."""
    read = reader(type_.name, type_.rules)[0]
    rules = [holds for holds, _, _ in constraints.of_primitive(type_.rules, type_.at)]
    listed = None if type_.values is None else frozenset(map(canonical, type_.values))

    def finish(value: Any) -> Any:
        decoded = read(value)
        if decoded is REFUSED or (listed is not None and canonical(value) not in listed):
            raise NeedsValidation
        for holds in rules:
            if not holds(value, decoded):
                raise NeedsValidation
        return decoded

    return finish


def _each_member(finishing: list[tuple[str, Finish]]) -> Finish:
    texts = [(name, complete.is_one) for name, complete in finishing if isinstance(complete, _StringCheck)]
    others = [(name, complete) for name, complete in finishing if not isinstance(complete, _StringCheck)]

    def finish(value: dict[str, Any]) -> dict[str, Any]:
        for name, is_one in texts:
            text = value.get(name)
            if text is not None and not is_one(text):
                raise NeedsValidation
        for name, complete in others:
            if name in value:
                value[name] = complete(value[name])
        return value

    return finish


def _each_item(complete: Finish) -> Finish:
    return lambda value: [complete(item) for item in value]


def _each_value(complete: Finish) -> Finish:
    return lambda value: {key: complete(item) for key, item in value.items()}
