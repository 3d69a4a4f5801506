"""The quick way: most of a schema as a typed decoder, so that a payload that fits costs little more than parsing it.

The decoder only ever accepts. What it cannot express is decoded freely and finished by the exact checks; whatever does
not go through is judged again by them, from the start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from postroom.formats.jsonstructure.enum_values import canonical
from postroom.formats.jsonstructure.keyword_rules import number_of
from postroom.formats.jsonstructure.types import Anything, Listing, Mapping, Primitive, Record, Shape, unwrapped
from postroom.formats.jsonstructure.validation import constraints
from postroom.formats.jsonstructure.validation.primitives import FLOATS, INTEGERS, REFUSED, reader
from postroom.formats.jsonstructure.validation.string_types import TEXT_FORMS
from postroom.formats.jsonstructure.validation.validate import Checks
from postroom.formats.jsonstructure.validation.violations import Findings

# Turns a decoded part into what it means, in place where it can; NotQuick when it does not fit.
Finish = Callable[[Any], Any]
# A type for the decoder and what is left to do; None when nothing is.
Quick = tuple[Any, Finish | None]

_MOST_PARTS = 2000
_DEEPEST = 60
_MOST_LITERALS = 200
_BOUNDS = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}


class NotQuick(Exception):
    """The payload needs the exact checks."""


def quick_decoder(root: Shape, checks: Checks) -> Callable[[bytes], Any]:
    """A function that decodes payloads that fit; any exception means that the exact checks must look."""
    kind, finish = _Planner(checks).plan(root, ())
    decode = msgspec.json.Decoder(kind).decode
    if finish is None:
        return decode
    complete = finish
    return lambda payload: complete(decode(payload))


def is_plain_record(shape: Record) -> bool:
    """Whether the decoder can express an object."""
    return shape.extra is None and not shape.rules and not shape.alternatives


def is_plain_list(shape: Listing) -> bool:
    """Whether the decoder can express an array."""
    return not shape.unique and shape.contains is None


def is_plain_map(shape: Mapping) -> bool:
    """Whether the decoder can express a map."""
    return not shape.rules


class _Planner:
    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._parts = 0

    def plan(self, shape: Shape, trail: tuple[int, ...]) -> Quick:
        real, nullable = unwrapped(shape)
        self._parts += 1
        # A type inside itself has no end as a decoder, and a long way to one is better walked when it is needed.
        if id(real) in trail or len(trail) > _DEEPEST or self._parts > _MOST_PARTS:
            return self._exactly(shape)
        kind, finish = self._real(real, (*trail, id(real)))
        if not nullable:
            return kind, finish
        return (kind if kind is Any else kind | None), _optional(finish)

    def _exactly(self, shape: Shape) -> Quick:
        check = self._checks.of(shape)

        def finish(value: Any) -> Any:
            found = Findings()
            meaning = check(value, None, found)
            if found.violations:
                raise NotQuick
            return meaning

        return Any, finish

    def _real(self, shape: Shape, trail: tuple[int, ...]) -> Quick:
        if isinstance(shape, Anything) and shape.values is None:
            return Any, None
        if isinstance(shape, Primitive):
            return _primitive(shape) or (Any, _read(shape))
        if isinstance(shape, Record) and is_plain_record(shape):
            return self._record(shape, trail)
        if isinstance(shape, Listing) and is_plain_list(shape):
            return self._listing(shape, trail)
        if isinstance(shape, Mapping) and is_plain_map(shape):
            kind, finish = self.plan(shape.values, trail)
            return dict[str, kind], None if finish is None else _each_value(finish)  # type: ignore[valid-type]  # made at run time
        return self._exactly(shape)

    def _record(self, shape: Record, trail: tuple[int, ...]) -> Quick:
        members = {name: self.plan(member, trail) for name, member in shape.members.items()}
        # Members that every payload may have are part of the value, as in the exact checks.
        members.update({name: (Any, None) for name in shape.reserved if name not in members})
        annotations = {
            name: kind if name in shape.required else NotRequired[kind] for name, (kind, _) in members.items()
        }
        kind = TypedDict("Members", annotations)  # type: ignore[misc]  # made at run time
        finishing = [(name, finish) for name, (_, finish) in members.items() if finish is not None]
        return kind, _each_member(finishing) if finishing else None

    def _listing(self, shape: Listing, trail: tuple[int, ...]) -> Quick:
        kind, finish = self.plan(shape.items, trail)
        limits = {
            limit: shape.rules[name]
            for name, limit in (("minItems", "min_length"), ("maxItems", "max_length"))
            if name in shape.rules
        }
        listed: Any = list[kind]  # type: ignore[valid-type]  # made at run time
        if limits:
            listed = Annotated[listed, msgspec.Meta(**limits)]
        return listed, None if finish is None else _each_item(finish)


def _primitive(shape: Primitive) -> Quick | None:
    if shape.name in TEXT_FORMS and shape.values is None:
        return str, _TextForm(TEXT_FORMS[shape.name][0])
    if shape.name == "string":
        return _string(shape)
    if shape.values is not None:
        return None
    if shape.name == "boolean":
        return bool, None
    if shape.name == "null":
        return None.__class__, None
    if shape.name in INTEGERS:
        return _number(int, shape.rules, dict(zip(("minimum", "maximum"), INTEGERS[shape.name], strict=True)))
    if shape.name in ("double", "float8"):
        return _number(float, shape.rules, {})
    if shape.name == "float":
        return _number(float, shape.rules, {"minimum": -FLOATS["float"], "maximum": FLOATS["float"]})
    return None


def _string(shape: Primitive) -> Quick | None:
    rules = shape.rules
    if shape.values is not None:
        # A literal holds no other rule, and very long ones are slow to compare.
        return (Literal[tuple(shape.values)], None) if not rules and len(shape.values) <= _MOST_LITERALS else None
    if not rules:
        return str, None
    if rules.keys() <= {"maxLength", "minLength"}:
        limits = {
            name: rules[key] for key, name in (("maxLength", "max_length"), ("minLength", "min_length")) if key in rules
        }
        return Annotated[str, msgspec.Meta(**limits)], None
    return None


def _number(kind: Any, rules: dict[str, Any], own: dict[str, Any]) -> Quick | None:
    if not rules.keys() <= _BOUNDS.keys() | {"precision", "scale"}:
        return None
    limits = dict(own)
    for name in _BOUNDS.keys() & rules.keys():
        bound = number_of(rules[name])
        if (isinstance(bound, float) and kind is int) or not isinstance(bound, int | float):
            return None
        if name in own and bound is not None:
            bound = max(bound, own[name]) if name == "minimum" else min(bound, own[name])
        limits[name] = bound
    if ("exclusiveMinimum" in limits and "minimum" in limits) or ("exclusiveMaximum" in limits and "maximum" in limits):
        return None
    if any(isinstance(bound, int) and abs(bound) >= 2**63 for bound in limits.values()):
        return None
    return (
        (Annotated[kind, msgspec.Meta(**{_BOUNDS[name]: bound for name, bound in limits.items()})], None)
        if limits
        else (kind, None)
    )


def _optional(finish: Finish | None) -> Finish | None:
    if finish is None or isinstance(finish, _TextForm):
        return finish
    return lambda value: None if value is None else finish(value)


class _TextForm:
    """A text that is only looked at, so that its container need not store it again."""

    def __init__(self, is_one: Callable[[str], bool]) -> None:
        self.is_one = is_one

    def __call__(self, value: str | None) -> str | None:
        if value is not None and not self.is_one(value):
            raise NotQuick
        return value


def _read(shape: Primitive) -> Finish:
    """The exact check of a primitive type, without a word about what is wrong."""
    read = reader(shape.name, shape.rules)[0]
    rules = [holds for holds, _, _ in constraints.of_primitive(shape.rules, shape.at)]
    listed = None if shape.values is None else frozenset(map(canonical, shape.values))

    def finish(value: Any) -> Any:
        meaning = read(value)
        if meaning is REFUSED or (listed is not None and canonical(value) not in listed):
            raise NotQuick
        for holds in rules:
            if not holds(value, meaning):
                raise NotQuick
        return meaning

    return finish


def _each_member(finishing: list[tuple[str, Finish]]) -> Finish:
    texts = [(name, complete.is_one) for name, complete in finishing if isinstance(complete, _TextForm)]
    others = [(name, complete) for name, complete in finishing if not isinstance(complete, _TextForm)]

    def finish(value: dict[str, Any]) -> dict[str, Any]:
        for name, is_one in texts:
            text = value.get(name)
            if text is not None and not is_one(text):
                raise NotQuick
        for name, complete in others:
            if name in value:
                value[name] = complete(value[name])
        return value

    return finish


def _each_item(complete: Finish) -> Finish:
    return lambda value: [complete(item) for item in value]


def _each_value(complete: Finish) -> Finish:
    return lambda value: {key: complete(item) for key, item in value.items()}
