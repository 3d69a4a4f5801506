"""The constraint keywords as functions over values."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from postroom.formats.jsonstructure.keyword_rules import number_of
from postroom.formats.jsonstructure.types import JsonType
from postroom.formats.jsonstructure.validation.composition import Check, fits
from postroom.formats.jsonstructure.validation.patterns import FORMATS, full_matcher, has_format
from postroom.formats.jsonstructure.validation.violations import InstancePath, ViolationCollector

# Whether a JSON value and its decoded form satisfy a rule; the code of its violation; what was expected.
PrimitiveRule = tuple[Callable[[Any, Any], bool], str, str]
# A rule on a whole array or object.
Rule = Callable[[Any, InstancePath, ViolationCollector], None]


def of_primitive(rules: dict[str, Any], at: str) -> list[PrimitiveRule]:
    """The rules of a primitive type."""
    made: list[PrimitiveRule] = []
    for name, value in rules.items():
        make = _PRIMITIVE.get(name)
        if make is not None:
            made.append(make(value, at))
        elif name == "format" and value in FORMATS:
            matches = has_format(value)
            made.append((lambda text, _, m=matches: m(text), "payload_format", f"text in the format {value}"))  # type: ignore[misc]  # a default binds the loop's value
    return made


def as_number(decoded: Any) -> Any:
    """A number to compare with bounds: integers of 128 bits and wide decimals are kept as text."""
    return decimal.Decimal(decoded) if isinstance(decoded, str) else decoded


def is_multiple(number: Any, step: Any) -> bool:
    """Whether a number is a whole multiple of a step, both as they are written."""
    try:
        return (Fraction(str(number)) / Fraction(str(step))).denominator == 1
    except (ValueError, OverflowError):
        return False


def _bound(holds: Callable[[Any, Any], bool], code: str, words: str) -> Callable[[Any, str], PrimitiveRule]:
    def make(value: Any, at: str) -> PrimitiveRule:
        bound = number_of(value)
        return (lambda _, decoded: holds(as_number(decoded), bound)), code, f"{words} {value}"

    return make


def _pattern(value: str, at: str) -> PrimitiveRule:
    matches = full_matcher(value, f"{at}/pattern")
    return (lambda text, _: matches(text)), "payload_pattern", f"text like {value}"


_PRIMITIVE: dict[str, Callable[[Any, str], PrimitiveRule]] = {
    "maxLength": lambda most, at: (
        lambda text, _: len(text) <= most,
        "payload_max_length",
        f"text of at most {most} characters",
    ),
    "minLength": lambda least, at: (
        lambda text, _: len(text) >= least,
        "payload_min_length",
        f"text of at least {least} characters",
    ),
    "pattern": _pattern,
    "minimum": _bound(lambda number, bound: bool(number >= bound), "payload_minimum", "at least"),
    "maximum": _bound(lambda number, bound: bool(number <= bound), "payload_maximum", "at most"),
    "exclusiveMinimum": _bound(lambda number, bound: bool(number > bound), "payload_exclusive_minimum", "more than"),
    "exclusiveMaximum": _bound(lambda number, bound: bool(number < bound), "payload_exclusive_maximum", "less than"),
    "multipleOf": _bound(is_multiple, "payload_multiple_of", "a multiple of"),
}


def of_items(rules: dict[str, Any], contains: JsonType | None, check_of: Callable[[JsonType], Check]) -> list[Rule]:
    """The rules of an array or set."""
    made = [_least(rules["minItems"], "payload_min_items", "items")] if "minItems" in rules else []
    if "maxItems" in rules:
        made.append(_most(rules["maxItems"], "payload_max_items", "items"))
    if contains is not None:
        least, most = rules.get("minContains", 1), rules.get("maxContains")
        made.append(_contains(check_of(contains), least, most))
    return made


def of_members(rules: dict[str, Any], check_of: Callable[[JsonType], Check]) -> list[Rule]:
    """The rules of an object or a map."""
    made: list[Rule] = []
    for least, most, names, patterns in (
        ("minProperties", "maxProperties", "propertyNames", "patternProperties"),
        ("minEntries", "maxEntries", "keyNames", "patternKeys"),
    ):
        if least in rules:
            made.append(_least(rules[least], _code(least), "members"))
        if most in rules:
            made.append(_most(rules[most], _code(most), "members"))
        if names in rules:
            made.append(_names(check_of(rules[names]), _code(names)))
        for matches, type_ in rules.get(patterns, {}).values():
            made.append(_matching(matches, check_of(type_)))
    if "dependentRequired" in rules:
        made.append(_dependent(rules["dependentRequired"]))
    if "has" in rules:
        made.append(_has(check_of(rules["has"])))
    return made


def _code(keyword: str) -> str:
    return "payload_" + "".join(f"_{character.lower()}" if character.isupper() else character for character in keyword)


def _least(least: int, code: str, what: str) -> Rule:
    def check(value: Any, path: InstancePath, found: ViolationCollector) -> None:
        if len(value) < least:
            found.add(path, code, f"at least {least} {what}", value)

    return check


def _most(most: int, code: str, what: str) -> Rule:
    def check(value: Any, path: InstancePath, found: ViolationCollector) -> None:
        if len(value) > most:
            found.add(path, code, f"at most {most} {what}", value)

    return check


def _contains(inner: Check, least: int, most: int | None) -> Rule:
    words = f"an array with at least {least}" + (f" and at most {most}" if most is not None else "")

    def check(value: Any, path: InstancePath, found: ViolationCollector) -> None:
        count = sum(fits(inner, item, path, found)[0] for item in value)
        if count < least or (most is not None and count > most):
            found.add(path, "payload_contains", f"{words} items that fit contains, not {count}", value)

    return check


def _names(inner: Check, code: str) -> Rule:
    def check(value: Any, path: InstancePath, found: ViolationCollector) -> None:
        for name in value:
            if not fits(inner, name, path, found)[0]:
                found.add((path, name), code, "a name that is allowed here", name)

    return check


def _matching(matches: Callable[[str], bool], inner: Check) -> Rule:
    def check(value: Any, path: InstancePath, found: ViolationCollector) -> None:
        for name, item in value.items():
            if matches(name):
                inner(item, (path, name), found)

    return check


def _dependent(dependencies: dict[str, list[str]]) -> Rule:
    def check(value: Any, path: InstancePath, found: ViolationCollector) -> None:
        for name, needed in dependencies.items():
            for other in needed if name in value else ():
                if other not in value:
                    found.add(path, "payload_dependent_required", f"an object with {other}, as it has {name}", value)

    return check


def _has(inner: Check) -> Rule:
    def check(value: Any, path: InstancePath, found: ViolationCollector) -> None:
        if not any(fits(inner, item, path, found)[0] for item in value.values()):
            found.add(path, "payload_has", "an object with a value that fits has", value)

    return check
