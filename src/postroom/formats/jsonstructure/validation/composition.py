"""Validation of unions and conditional composition: several types are tried on one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.formats.jsonstructure import types
from postroom.formats.jsonstructure.validation.violations import InstancePath, ViolationCollector

# Checks a value at a path, adds violations, and returns the decoded value.
Check = Callable[[Any, InstancePath, ViolationCollector], Any]

_WRONG_TYPE = ("payload_type", "null_not_allowed")
# What violations call types that are not primitive.
_WORDS: dict[type[types.JsonType], str] = {
    types.JsonAnyType: "anything",
    types.JsonObjectType: "an object",
    types.JsonArrayType: "listing",
    types.JsonMapType: "mapping",
    types.JsonTupleType: "tuple",
    types.JsonChoiceType: "choice",
    types.JsonConditionalType: "conditional",
}


def fits(check: Check, value: Any, path: InstancePath, found: ViolationCollector) -> tuple[bool, Any]:
    """Whether a value passes a check, and the decoded value; no violations are added."""
    tried = found.attempt()
    decoded = check(value, path, tried)
    found.settle(tried)
    return not tried.violations, decoded


def union(checks: list[Check], type_: types.JsonUnionType) -> Check:
    """The first alternative that fits. If none does, the violations of the only one of the right JSON type."""
    words = " or ".join(_word(alternative) for alternative in type_.alternatives)

    def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
        close: list[ViolationCollector] = []
        for alternative in checks:
            tried = found.attempt()
            decoded = alternative(value, path, tried)
            found.settle(tried)
            if not tried.violations:
                return decoded
            if not any(one.code in _WRONG_TYPE and _is_here(one.at, path) for one in tried.violations):
                close.append(tried)
        if len(close) == 1:
            found.extend(close[0])
        else:
            found.add(path, "payload_type", words, value)
        return None

    return check


def _is_here(at: str, path: InstancePath) -> bool:
    depth = 0
    while path is not None:
        path, depth = path[0], depth + 1
    return at.count("/") == depth


def _word(type_: types.JsonType) -> str:
    found = types.resolved(type_)
    if isinstance(found, types.JsonPrimitiveType):
        return found.name
    return _WORDS.get(type(found), "union")


def conditional(type_: types.JsonConditionalType, check_of: Callable[[types.JsonType], Check]) -> Check:
    """A type with conditions on top; values are decoded by the type."""
    base = None if type_.base is None else check_of(type_.base)
    every = [check_of(part) for part in type_.all_of]
    some = [check_of(part) for part in type_.any_of]
    single = [check_of(part) for part in type_.one_of]
    forbidden = None if type_.forbidden is None else check_of(type_.forbidden)
    test = None if type_.test is None else check_of(type_.test)
    then = None if type_.then is None else check_of(type_.then)
    otherwise = None if type_.otherwise is None else check_of(type_.otherwise)

    def check(value: Any, path: InstancePath, found: ViolationCollector) -> Any:
        decoded = value if base is None else base(value, path, found)
        for part in every:
            found.settle(found.attempt())
            part(value, path, found)
        if some and not any(fits(part, value, path, found)[0] for part in some):
            found.add(path, "payload_any_of", "valid under one of anyOf", value)
        if single:
            count = sum(fits(part, value, path, found)[0] for part in single)
            if count != 1:
                found.add(path, "payload_one_of", f"valid under exactly one of oneOf, not {count}", value)
        if forbidden is not None and fits(forbidden, value, path, found)[0]:
            found.add(path, "payload_not", "not valid under not", value)
        if test is not None:
            chosen = then if fits(test, value, path, found)[0] else otherwise
            if chosen is not None:
                chosen(value, path, found)
        return decoded

    return check
