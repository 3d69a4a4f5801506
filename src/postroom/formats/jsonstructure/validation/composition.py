"""Validating unions and conditional composition: several types are tried on one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.formats.jsonstructure.types import Conditional, Primitive, Record, Shape, Union, resolved
from postroom.formats.jsonstructure.validation.violations import Findings, Place

# Checks a value at a place, notes what is wrong, and returns what the value means.
Check = Callable[[Any, Place, Findings], Any]

_WRONG_KIND = ("payload_type", "null_not_allowed")


def fits(check: Check, value: Any, place: Place, found: Findings) -> tuple[bool, Any]:
    """Whether a value passes a check, and what it then means; nothing is noted."""
    tried = found.attempt()
    meaning = check(value, place, tried)
    found.settle(tried)
    return not tried.violations, meaning


def union(checks: list[Check], shape: Union) -> Check:
    """The first alternative that fits. If none does, what is wrong with the only one of the right JSON kind."""
    words = " or ".join(_word(alternative) for alternative in shape.alternatives)

    def check(value: Any, place: Place, found: Findings) -> Any:
        close: list[Findings] = []
        for alternative in checks:
            tried = found.attempt()
            meaning = alternative(value, place, tried)
            found.settle(tried)
            if not tried.violations:
                return meaning
            if not any(one.code in _WRONG_KIND and _is_here(one.at, place) for one in tried.violations):
                close.append(tried)
        if len(close) == 1:
            found.extend(close[0])
        else:
            found.add(place, "payload_type", words, value)
        return None

    return check


def _is_here(at: str, place: Place) -> bool:
    depth = 0
    while place is not None:
        place, depth = place[0], depth + 1
    return at.count("/") == depth


def _word(shape: Shape) -> str:
    found = resolved(shape)
    if isinstance(found, Primitive):
        return found.name
    return "an object" if isinstance(found, Record) else type(found).__name__.lower()


def conditional(shape: Conditional, check_of: Callable[[Shape], Check]) -> Check:
    """A type with conditions on top; what a value means is what its type says."""
    base = None if shape.base is None else check_of(shape.base)
    every = [check_of(part) for part in shape.all_of]
    some = [check_of(part) for part in shape.any_of]
    single = [check_of(part) for part in shape.one_of]
    forbidden = None if shape.forbidden is None else check_of(shape.forbidden)
    test = None if shape.test is None else check_of(shape.test)
    then = None if shape.then is None else check_of(shape.then)
    otherwise = None if shape.otherwise is None else check_of(shape.otherwise)

    def check(value: Any, place: Place, found: Findings) -> Any:
        meaning = value if base is None else base(value, place, found)
        for part in every:
            found.settle(found.attempt())
            part(value, place, found)
        if some and not any(fits(part, value, place, found)[0] for part in some):
            found.add(place, "payload_any_of", "valid under one of anyOf", value)
        if single:
            count = sum(fits(part, value, place, found)[0] for part in single)
            if count != 1:
                found.add(place, "payload_one_of", f"valid under exactly one of oneOf, not {count}", value)
        if forbidden is not None and fits(forbidden, value, place, found)[0]:
            found.add(place, "payload_not", "not valid under not", value)
        if test is not None:
            chosen = then if fits(test, value, place, found)[0] else otherwise
            if chosen is not None:
                chosen(value, place, found)
        return meaning

    return check
