"""Validation: each type becomes, once, a function that checks JSON values and decodes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatchmethod
from typing import Any

from postroom.formats.jsonstructure import types
from postroom.formats.jsonstructure.enum_values import canonical
from postroom.formats.jsonstructure.validation import constraints
from postroom.formats.jsonstructure.validation.composition import Check, conditional, union
from postroom.formats.jsonstructure.validation.primitives import REFUSED, reader
from postroom.formats.jsonstructure.validation.violations import InstancePath, ViolationCollector


class Checks:
    """The checks of a document's types, each made when it is first needed."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[types.JsonType, Check]] = {}

    def of(self, type_: types.JsonType) -> Check:
        """The check of a type."""
        real = types.resolved(type_)
        made = self._made.get(id(real))
        if made is not None:
            return made[1]
        if real is not type_:
            return self._deferred(real)
        check = self._make(real)
        # The type is kept beside its check so that its id() stays unique.
        self._made[id(real)] = (real, check)
        return check

    def _deferred(self, type_: types.JsonType) -> Check:
        # Behind a reference only when a value leads there: types may refer to themselves, or far.
        def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
            return self.of(type_)(value, path, found)

        return check

    @singledispatchmethod
    def _make(self, type_: Any) -> Check:
        raise TypeError(f"no check for {type_!r}")

    @_make.register
    def _(self, type_: types.JsonAnyType) -> Check:
        if type_.values is None:
            return lambda value, path, found: value
        is_listed, words = _listed(type_.values)

        def check_listed(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
            if not is_listed(value):
                found.add(path, "payload_enum", words, value)
            return value

        return check_listed

    @_make.register
    def _(self, type_: types.JsonPrimitiveType) -> Check:
        read, words = reader(type_.name, type_.rules)
        rules = constraints.of_primitive(type_.rules, type_.at)
        if type_.values is not None:
            is_listed, listed = _listed(type_.values)
            rules.insert(0, (lambda value, decoded: is_listed(value), "payload_enum", listed))

        def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
            decoded = read(value)
            if decoded is REFUSED:
                found.add(path, "payload_type", words, value)
                return None
            for holds, code, expected in rules:
                if not holds(value, decoded):
                    found.add(path, code, expected, value)
            return decoded

        return check

    @_make.register
    def _(self, type_: types.JsonObjectType) -> Check:
        members = {name: self.of(member) for name, member in type_.members.items()}
        extra = self.of(type_.extra) if isinstance(type_.extra, types.JsonType) else type_.extra
        required = sorted(type_.required)
        reserved = type_.reserved
        alternatives = type_.alternatives
        rules = constraints.of_members(type_.rules, self.of)

        def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
            if type(value) is not dict:
                found.add(path, "payload_type", "an object", value)
                return None
            decoded: dict[str, Any] = {}
            for name, member in value.items():
                known = members.get(name)
                if known is not None:
                    decoded[name] = known(member, (path, name), found)
                elif extra is True or name in reserved:
                    decoded[name] = member
                elif extra is False:
                    found.add((path, name), "payload_additional_properties", name, member)
                elif extra is not None:
                    decoded[name] = extra(member, (path, name), found)
            for name in required:
                if name not in value:
                    found.add(path, "payload_required", name, value)
            for group in alternatives:
                _check_alternatives(group, value, path, found)
            for rule in rules:
                rule(value, path, found)
            return decoded

        return check

    @_make.register
    def _(self, type_: types.JsonMapType) -> Check:
        inner = self.of(type_.values)
        rules = constraints.of_members(type_.rules, self.of)

        def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
            if type(value) is not dict:
                found.add(path, "payload_type", "an object", value)
                return None
            for rule in rules:
                rule(value, path, found)
            return {key: inner(item, (path, key), found) for key, item in value.items()}

        return check

    @_make.register
    def _(self, type_: types.JsonArrayType) -> Check:
        inner = self.of(type_.items)
        rules = constraints.of_items(type_.rules, type_.contains, self.of)
        unique = type_.unique

        def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
            if type(value) is not list:
                found.add(path, "payload_type", "an array", value)
                return None
            if unique:
                _check_unique(value, path, found)
            for rule in rules:
                rule(value, path, found)
            return [inner(item, (path, step), found) for step, item in enumerate(value)]

        return check

    @_make.register
    def _(self, type_: types.JsonTupleType) -> Check:
        inner = [self.of(member) for _, member in type_.members]
        words = f"an array of {len(inner)}: " + ", ".join(name for name, _ in type_.members)[:200]

        def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
            if type(value) is not list or len(value) != len(inner):
                found.add(path, "payload_type" if type(value) is not list else "payload_tuple", words, value)
                return None
            return [
                check(item, (path, step), found) for step, (check, item) in enumerate(zip(inner, value, strict=True))
            ]

        return check

    @_make.register
    def _(self, type_: types.JsonChoiceType) -> Check:
        choices = {name: self.of(choice) for name, choice in type_.choices.items()}
        words = "one of " + ", ".join(choices)[:200]
        return _tagged(choices, words) if type_.selector is None else _inline(type_, choices, words, self.of)

    @_make.register
    def _(self, type_: types.JsonUnionType) -> Check:
        return union([self.of(alternative) for alternative in type_.alternatives], type_)

    @_make.register
    def _(self, type_: types.JsonConditionalType) -> Check:
        return conditional(type_, self.of)


def _tagged(choices: dict[str, Check], words: str) -> Check:
    def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
        if type(value) is not dict:
            found.add(path, "payload_type", f"an object with one member, {words}", value)
            return None
        name = next(iter(value), None)
        if len(value) != 1 or name not in choices:
            found.add(path, "payload_choice", f"an object with one member, {words}", value)
            return None
        return {name: choices[name](value[name], (path, name), found)}

    return check


def _inline(
    type_: types.JsonChoiceType, choices: dict[str, Check], words: str, check_of: Callable[[types.JsonType], Check]
) -> Check:
    selector = type_.selector or ""
    # A variant that declares the selector as a member of its own checks it too.
    declares = {name: _declares(choice, selector) for name, choice in type_.choices.items()}

    def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
        if type(value) is not dict:
            found.add(path, "payload_type", "an object", value)
            return None
        name = value.get(selector)
        if type(name) is not str or name not in choices:
            found.add((path, selector), "payload_choice", words, name)
            return None
        rest = value if declares[name] else {key: item for key, item in value.items() if key != selector}
        decoded = choices[name](rest, path, found)
        return {selector: name, **decoded} if isinstance(decoded, dict) else decoded

    return check


def _declares(type_: types.JsonType, selector: str) -> bool:
    real = types.resolved(type_)
    return isinstance(real, types.JsonObjectType) and selector in real.members


def _check_alternatives(
    group: tuple[frozenset[str], ...], value: dict[str, Any], path: InstancePath, found: ViolationCollector
) -> None:
    if sum(names <= value.keys() for names in group) != 1:
        words = " or ".join("+".join(sorted(names)) for names in group)
        found.add(path, "payload_required_alternatives", f"an object with exactly one of {words}"[:200], value)


def _check_unique(value: list[Any], path: InstancePath, found: ViolationCollector) -> None:
    seen: set[Any] = set()
    for step, item in enumerate(value):
        key = canonical(item)
        if key in seen:
            found.add((path, step), "payload_unique_items", "unlike the items before it", item)
            return
        seen.add(key)


def _listed(values: list[Any]) -> tuple[Callable[[Any], bool], str]:
    known = frozenset(canonical(value) for value in values)
    shown = ", ".join(str(value) for value in values[:12])
    more = f" and {len(values) - 12} more" if len(values) > 12 else ""
    return (lambda value: canonical(value) in known), f"one of {shown[:300]}{more}"
