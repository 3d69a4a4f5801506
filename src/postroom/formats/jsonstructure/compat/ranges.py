"""Comparison of primitive types: the JSON values each allows, as ranges of numbers, lengths and spellings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from postroom.formats.jsonstructure.compat.differences import TypeDifference, difference
from postroom.formats.jsonstructure.keyword_rules import number_of
from postroom.formats.jsonstructure.types import JsonPrimitiveType
from postroom.formats.jsonstructure.validation.primitives import FLOATS, INTEGERS, LONG_INTEGERS, NUMERIC, digits

_MOST_LISTED = 10_000
_MOST_COUNTED = 1000
_LONGEST = 5000
_LENGTHS = (("minLength", 0), ("maxLength", _LONGEST))
_ENDLESS = Fraction(10) ** 400
_UNSIGNED = ("uint64", "uint128")
# A low and a high end, and whether each end itself is left out.
Range = tuple[Fraction, Fraction, bool, bool]


def compare(
    writer: JsonPrimitiveType, reader: JsonPrimitiveType, accepts: Callable[[Any], bool]
) -> list[TypeDifference]:
    """The differences of two primitive types; `accepts` asks the reader about one value."""
    listed = _values(writer)
    if listed is not None:
        refused = [value for value in listed if not accepts(value)]
        return difference("the reader does not take every value", writer, reader, refused) if refused else []
    if reader.values is not None:
        return difference("the reader lists its values and the writer does not", writer, reader, edges(writer))
    reason = _named_type(writer, reader) or _numbers(writer, reader) or _strings(writer, reader)
    return difference(reason, writer, reader, edges(writer)) if reason else []


def _values(type_: JsonPrimitiveType) -> list[Any] | None:
    """All values of a type, where they can be counted."""
    if type_.values is not None:
        return type_.values if len(type_.values) <= _MOST_LISTED else None
    if type_.name == "boolean":
        return [True, False]
    if type_.name == "null":
        return [None]
    if type_.name in INTEGERS:
        low, high = _ends(type_)
        if high - low <= _MOST_COUNTED and "multipleOf" not in type_.rules:
            return list(range(low, high + 1))
    return None


def _named_type(writer: JsonPrimitiveType, reader: JsonPrimitiveType) -> str:
    """Why values of one type are not spelled as the other asks; "" when they are."""
    from_, to = writer.name, reader.name
    same = from_ == to or (
        (from_ in INTEGERS and (to in INTEGERS or to in FLOATS))
        or (from_ in FLOATS and to in FLOATS)
        or (from_ in LONG_INTEGERS and (to in LONG_INTEGERS or to == "decimal"))
    )
    if to == "string":
        same = from_ not in INTEGERS and from_ not in FLOATS and from_ not in ("boolean", "null")
    if not same:
        return f"the type {from_} is not read as {to}"
    if to in _UNSIGNED and from_ in LONG_INTEGERS and from_ not in _UNSIGNED and _ends(writer)[0] <= 0:
        return "the writer may write zero with a minus"
    encoding = writer.rules.get("contentEncoding", "base64"), reader.rules.get("contentEncoding", "base64")
    return "the bytes are encoded in another way" if to == "binary" and encoding[0] != encoding[1] else ""


def _numbers(writer: JsonPrimitiveType, reader: JsonPrimitiveType) -> str:
    if reader.name not in NUMERIC:
        return ""
    if reader.name == "decimal":
        reason = _digits(writer, reader)
        if reason:
            return reason
    low, high, low_open, high_open = _range(writer)
    least, most, least_open, most_open = _range(reader)
    if low < least or (low == least and least_open and not low_open):
        return "the writer allows smaller numbers"
    if high > most or (high == most and most_open and not high_open):
        return "the writer allows greater numbers"
    step, wanted = number_of(writer.rules.get("multipleOf")), number_of(reader.rules.get("multipleOf"))
    if wanted is None:
        return ""
    own = Fraction(str(step)) if step is not None else Fraction(1) if _is_whole(writer) else None
    ratio = None if own is None else own / Fraction(str(wanted))
    return "" if ratio is not None and ratio.denominator == 1 else "the writer allows other multiples"


def _is_whole(type_: JsonPrimitiveType) -> bool:
    return type_.name in INTEGERS or type_.name in LONG_INTEGERS


def _digits(writer: JsonPrimitiveType, reader: JsonPrimitiveType) -> str:
    total, before, behind = digits(reader.rules)
    if writer.name == "decimal":
        own_total, own_before, own_behind = digits(writer.rules)
        most = min(own_total, own_before + own_behind)
    else:
        own_before = own_total = most = len(str(max(abs(end) for end in LONG_INTEGERS[writer.name])))
        own_behind = 0
    fits = own_before <= before and own_behind <= behind and most <= total
    return "" if fits else "the writer allows more digits"


def _range(type_: JsonPrimitiveType) -> Range:
    if type_.name in INTEGERS or type_.name in LONG_INTEGERS:
        first, last = _ends(type_)
        return Fraction(first), Fraction(last), False, False
    most = FLOATS.get(type_.name, math.inf)
    end = _ENDLESS if most == math.inf else Fraction(most)
    low_end, high_end = _bounds(type_.rules)
    low, low_open = max(low_end, (-end, False))
    high, shut = min(high_end, (end, True))
    return low, high, low_open, not shut


def _bounds(rules: dict[str, Any]) -> tuple[tuple[Fraction, bool], tuple[Fraction, bool]]:
    """The bounds that rules set; the second of each pair orders open ends inside closed ones."""
    lows, highs = [(-_ENDLESS, False)], [(_ENDLESS, True)]
    for name, ends, orders_last in (
        ("minimum", lows, False),
        ("exclusiveMinimum", lows, True),
        ("maximum", highs, True),
        ("exclusiveMaximum", highs, False),
    ):
        bound = number_of(rules.get(name))
        if bound is not None:
            # Numbers are compared as floats are, bit by bit, and texts digit by digit.
            ends.append((Fraction(bound), orders_last))
    return max(lows), min(highs)


def _ends(type_: JsonPrimitiveType) -> tuple[int, int]:
    low, high = INTEGERS.get(type_.name) or LONG_INTEGERS[type_.name]
    (least, least_open), (most, most_shut) = _bounds(type_.rules)
    low = max(low, math.floor(least) + 1 if least_open else math.ceil(least))
    high = min(high, math.floor(most) if most_shut else math.ceil(most) - 1)
    return low, high


def _strings(writer: JsonPrimitiveType, reader: JsonPrimitiveType) -> str:
    if reader.name != "string":
        return ""
    rules, asked = (writer.rules if writer.name == "string" else {}), reader.rules
    if "maxLength" in asked and rules.get("maxLength", math.inf) > asked["maxLength"]:
        return "the writer allows longer texts"
    if rules.get("minLength", 0) < asked.get("minLength", 0):
        return "the writer allows shorter texts"
    for name in ("pattern", "format"):
        if name in asked and asked[name] != rules.get(name):
            return f"the reader asks for another {name}"
    return ""


def edges(type_: JsonPrimitiveType) -> list[Any]:
    """JSON values at the bounds of a type, where differences show; not all need fit."""
    if type_.values is not None:
        return type_.values[:8]
    if type_.name in INTEGERS or type_.name in LONG_INTEGERS:
        low, high = _ends(type_)
        found = [low, high, low + 1, high - 1, 0, 1, -1, 7]
        return found if type_.name in INTEGERS else [*(str(number) for number in found), "-0"]
    if type_.name in FLOATS:
        return list(_float_edges(type_))
    if type_.name == "decimal":
        return _decimal_edges(type_)
    if type_.name == "string":
        least, most = (min(type_.rules.get(name, limit), _LONGEST) for name, limit in _LENGTHS)
        return ["", "x" * least, "x" * most, "?! ~"]
    return _EDGES.get(type_.name, [])


def _float_edges(type_: JsonPrimitiveType) -> Iterator[float]:
    low, high, _, _ = _range(type_)
    for end in (low, high):
        if abs(end) < _ENDLESS:
            yield from (float(end), float(end) + 0.5, float(end) - 0.5)
    yield from (0.5, -0.5, 1e300, -1e300, 0, 1e10, -1e10)


def _decimal_edges(type_: JsonPrimitiveType) -> list[str]:
    total, before, behind = digits(type_.rules)
    # Longer numbers differ in the same way, and need not be written out.
    total, before, behind = (min(count, _LONGEST) for count in (total, before, behind))
    whole = "9" * max(min(before, total), 0) or "0"
    fraction = "9" * min(behind, total)
    both = "9" * max(total - behind, 0) or "0"
    found = [whole, f"-{whole}", f"{both}.{fraction}" if fraction else both, f"0.{fraction}" if fraction else "0"]
    return [*found, "0", "1", "-1", *(str(type_.rules[name]) for name in ("minimum", "maximum") if name in type_.rules)]


_EDGES: dict[str, list[Any]] = {
    "boolean": [True, False],
    "null": [None],
    "date": ["2026-01-31"],
    "datetime": ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.123456789+01:00"],
    "time": ["12:00:00", "12:00:00.5Z"],
    "duration": ["P1DT2H", "PT0.5S", "P3W"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
    "uri": ["https://example.com/a?b#c", "", "a/b"],
    "jsonpointer": ["", "/a~1b/0", "#/a"],
    "binary": ["", "AAECAwQ="],
}
