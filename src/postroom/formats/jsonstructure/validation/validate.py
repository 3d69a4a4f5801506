"""Validating: each type becomes, once, a function that checks JSON values and says what they mean."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatchmethod
from typing import Any

from postroom.formats.jsonstructure.enum_values import canonical
from postroom.formats.jsonstructure.types import (
    Anything,
    Choice,
    Conditional,
    Listing,
    Mapping,
    Primitive,
    Record,
    Shape,
    Tuple,
    Union,
    resolved,
)
from postroom.formats.jsonstructure.validation import constraints
from postroom.formats.jsonstructure.validation.composition import Check, conditional, union
from postroom.formats.jsonstructure.validation.primitives import REFUSED, reader
from postroom.formats.jsonstructure.validation.violations import Findings, Place


class Checks:
    """The checks of a document's types, each made when it is first needed."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Shape, Check]] = {}

    def of(self, shape: Shape) -> Check:
        """The check of a type."""
        real = resolved(shape)
        made = self._made.get(id(real))
        if made is not None:
            return made[1]
        if real is not shape:
            return self._later(real)
        check = self._make(real)
        # The shape is kept beside its check so that its identity stays its own.
        self._made[id(real)] = (real, check)
        return check

    def _later(self, shape: Shape) -> Check:
        # Behind a reference only when a value leads there: types may refer to themselves, or far.
        def check(value: Any, place: Place, found: Findings) -> Any:
            return self.of(shape)(value, place, found)

        return check

    @singledispatchmethod
    def _make(self, shape: Any) -> Check:
        raise TypeError(f"no way to check {shape!r}")

    @_make.register
    def _(self, shape: Anything) -> Check:
        if shape.values is None:
            return lambda value, place, found: value
        is_listed, words = _listed(shape.values)

        def check_listed(value: Any, place: Place, found: Findings) -> Any:
            if not is_listed(value):
                found.add(place, "payload_enum", words, value)
            return value

        return check_listed

    @_make.register
    def _(self, shape: Primitive) -> Check:
        read, words = reader(shape.name, shape.rules)
        rules = constraints.of_primitive(shape.rules, shape.at)
        if shape.values is not None:
            is_listed, listed = _listed(shape.values)
            rules.insert(0, (lambda value, meaning: is_listed(value), "payload_enum", listed))

        def check(value: Any, place: Place, found: Findings) -> Any:
            meaning = read(value)
            if meaning is REFUSED:
                found.add(place, "payload_type", words, value)
                return None
            for holds, code, expected in rules:
                if not holds(value, meaning):
                    found.add(place, code, expected, value)
            return meaning

        return check

    @_make.register
    def _(self, shape: Record) -> Check:
        members = {name: self.of(member) for name, member in shape.members.items()}
        extra = self.of(shape.extra) if isinstance(shape.extra, Shape) else shape.extra
        required = sorted(shape.required)
        reserved = shape.reserved
        alternatives = shape.alternatives
        rules = constraints.of_members(shape.rules, self.of)

        def check(value: Any, place: Place, found: Findings) -> Any:
            if type(value) is not dict:
                found.add(place, "payload_type", "an object", value)
                return None
            meaning: dict[str, Any] = {}
            for name, member in value.items():
                known = members.get(name)
                if known is not None:
                    meaning[name] = known(member, (place, name), found)
                elif extra is True or name in reserved:
                    meaning[name] = member
                elif extra is False:
                    found.add((place, name), "payload_additional_properties", name, member)
                elif extra is not None:
                    meaning[name] = extra(member, (place, name), found)
            for name in required:
                if name not in value:
                    found.add(place, "payload_required", name, value)
            for group in alternatives:
                _check_alternatives(group, value, place, found)
            for rule in rules:
                rule(value, place, found)
            return meaning

        return check

    @_make.register
    def _(self, shape: Mapping) -> Check:
        inner = self.of(shape.values)
        rules = constraints.of_members(shape.rules, self.of)

        def check(value: Any, place: Place, found: Findings) -> Any:
            if type(value) is not dict:
                found.add(place, "payload_type", "an object", value)
                return None
            for rule in rules:
                rule(value, place, found)
            return {key: inner(item, (place, key), found) for key, item in value.items()}

        return check

    @_make.register
    def _(self, shape: Listing) -> Check:
        inner = self.of(shape.items)
        rules = constraints.of_items(shape.rules, shape.contains, self.of)
        unique = shape.unique

        def check(value: Any, place: Place, found: Findings) -> Any:
            if type(value) is not list:
                found.add(place, "payload_type", "an array", value)
                return None
            if unique:
                _check_unique(value, place, found)
            for rule in rules:
                rule(value, place, found)
            return [inner(item, (place, step), found) for step, item in enumerate(value)]

        return check

    @_make.register
    def _(self, shape: Tuple) -> Check:
        inner = [self.of(member) for _, member in shape.members]
        words = f"an array of {len(inner)}: " + ", ".join(name for name, _ in shape.members)[:200]

        def check(value: Any, place: Place, found: Findings) -> Any:
            if type(value) is not list or len(value) != len(inner):
                found.add(place, "payload_type" if type(value) is not list else "payload_tuple", words, value)
                return None
            return [
                check(item, (place, step), found) for step, (check, item) in enumerate(zip(inner, value, strict=True))
            ]

        return check

    @_make.register
    def _(self, shape: Choice) -> Check:
        choices = {name: self.of(choice) for name, choice in shape.choices.items()}
        words = "one of " + ", ".join(choices)[:200]
        return _tagged(choices, words) if shape.selector is None else _inline(shape, choices, words, self.of)

    @_make.register
    def _(self, shape: Union) -> Check:
        return union([self.of(alternative) for alternative in shape.alternatives], shape)

    @_make.register
    def _(self, shape: Conditional) -> Check:
        return conditional(shape, self.of)


def _tagged(choices: dict[str, Check], words: str) -> Check:
    def check(value: Any, place: Place, found: Findings) -> Any:
        if type(value) is not dict:
            found.add(place, "payload_type", f"an object with one member, {words}", value)
            return None
        name = next(iter(value), None)
        if len(value) != 1 or name not in choices:
            found.add(place, "payload_choice", f"an object with one member, {words}", value)
            return None
        return {name: choices[name](value[name], (place, name), found)}

    return check


def _inline(shape: Choice, choices: dict[str, Check], words: str, check_of: Callable[[Shape], Check]) -> Check:
    selector = shape.selector or ""
    # A variant that declares the selector as a member of its own checks it too.
    declares = {name: _declares(choice, selector) for name, choice in shape.choices.items()}

    def check(value: Any, place: Place, found: Findings) -> Any:
        if type(value) is not dict:
            found.add(place, "payload_type", "an object", value)
            return None
        name = value.get(selector)
        if type(name) is not str or name not in choices:
            found.add((place, selector), "payload_choice", words, name)
            return None
        rest = value if declares[name] else {key: item for key, item in value.items() if key != selector}
        meaning = choices[name](rest, place, found)
        return {selector: name, **meaning} if isinstance(meaning, dict) else meaning

    return check


def _declares(shape: Shape, selector: str) -> bool:
    real = resolved(shape)
    return isinstance(real, Record) and selector in real.members


def _check_alternatives(
    group: tuple[frozenset[str], ...], value: dict[str, Any], place: Place, found: Findings
) -> None:
    if sum(names <= value.keys() for names in group) != 1:
        words = " or ".join("+".join(sorted(names)) for names in group)
        found.add(place, "payload_required_alternatives", f"an object with exactly one of {words}"[:200], value)


def _check_unique(value: list[Any], place: Place, found: Findings) -> None:
    seen: set[Any] = set()
    for step, item in enumerate(value):
        key = canonical(item)
        if key in seen:
            found.add((place, step), "payload_unique_items", "unlike the items before it", item)
            return
        seen.add(key)


def _listed(values: list[Any]) -> tuple[Callable[[Any], bool], str]:
    known = frozenset(canonical(value) for value in values)
    shown = ", ".join(str(value) for value in values[:12])
    more = f" and {len(values) - 12} more" if len(values) > 12 else ""
    return (lambda value: canonical(value) in known), f"one of {shown[:300]}{more}"
