"""Simple types: their facets, their columns, and the conversion between string and value."""

from __future__ import annotations

import base64
import decimal
import re
from collections.abc import Callable
from typing import Any

import msgspec

from postroom.formats.column_types import (
    BINARY,
    BOOLEAN,
    DATE_TEXT,
    DOUBLE,
    DURATION_TEXT,
    INT64,
    STRING,
    TIMESTAMP_TEXT,
    ColumnType,
    Decimal,
    ListOf,
)
from postroom.formats.xsd.schema_limits import KEPT_PATTERN
from postroom.formats.xsd.xml_names import XS, local_name, xs

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\Z")
_MOST_DIGITS = 38
_INT64 = (-(2**63), 2**63 - 1)
_SPACES = str.maketrans("\t\r\n", "   ")


class Bound(msgspec.Struct, frozen=True):
    """One end of a range."""

    value: Any
    inclusive: bool


class Facets(msgspec.Struct, frozen=True):
    """The facets of a simple type, of all steps of its derivation together.

    `builtin` is the nearest type of XML Schema itself, `primitive` the type without a base that it comes from. Each
    step's patterns are alternatives, and every step must fit.
    """

    variety: str
    builtin: str
    primitive: str
    is_integer: bool = False
    lower: Bound | None = None
    upper: Bound | None = None
    total_digits: int | None = None
    fraction_digits: int | None = None
    least_length: int = 0
    most_length: int | None = None
    patterns: tuple[tuple[str, ...], ...] = ()
    enumeration: tuple[str, ...] | None = None
    space: str = "preserve"
    item: Any = None
    members: tuple[Any, ...] = ()
    asserted: bool = False


class Codec(msgspec.Struct, frozen=True):
    """The codec of a simple type: its column, and the conversion between string and value."""

    column: ColumnType
    decode: Callable[[str], Any]
    encode: Callable[[Any], str]


def facts(xsd_type: Any) -> Facets:
    """The facets of a simple type."""
    steps = _steps(xsd_type)
    builtin = next((step.name for step in steps if (step.name or "").startswith(f"{{{XS}}}")), xs("anySimpleType"))
    # For xmlschema a union of lists is a list as well.
    variety = "union" if xsd_type.is_union() else "list" if xsd_type.is_list() else "atomic"
    names = [local_name(step.name) for step in steps if (step.name or "").startswith(f"{{{XS}}}")]
    collected: dict[str, Any] = {"patterns": [], "asserted": False}
    for step in steps:
        ours = not (step.name or "").startswith(f"{{{XS}}}")
        for name, facet in step.facets.items():
            # Patterns of XML Schema's own types only spell out what the name says.
            if name is not None and (ours or name != xs("pattern")):
                _collect_facet(collected, local_name(name), facet)
    is_integer = "integer" in names
    if is_integer:
        collected["fraction_digits"] = 0
    return Facets(
        variety,
        local_name(builtin),
        _primitive(names),
        is_integer,
        **{**collected, "patterns": tuple(collected["patterns"])},
        space=_space(xsd_type, variety),
        item=_item(steps) if variety == "list" else None,
        members=_members(steps) if variety == "union" else (),
    )


def _steps(xsd_type: Any) -> list[Any]:
    steps: list[Any] = []
    while xsd_type is not None and len(steps) < 200 and hasattr(xsd_type, "facets"):
        steps.append(xsd_type)
        xsd_type = xsd_type.base_type
    return steps


def _primitive(names: list[str]) -> str:
    known = [name for name in names if name not in ("anySimpleType", "anyAtomicType", "anyType")]
    return known[-1] if known else "anySimpleType"


def _space(xsd_type: Any, variety: str) -> str:
    return "collapse" if variety != "atomic" else str(xsd_type.white_space or "preserve")


def _item(steps: list[Any]) -> Any:
    return next(step.item_type for step in steps if getattr(step, "item_type", None) is not None)


def _members(steps: list[Any]) -> tuple[Any, ...]:
    return tuple(next(step.member_types for step in steps if getattr(step, "member_types", None)))


def _collect_facet(collected: dict[str, Any], name: str, facet: Any) -> None:
    if name in _BOUNDS:
        side, inclusive = _BOUNDS[name]
        bound = Bound(facet.value, inclusive)
        if side not in collected or _tighter(bound, collected[side], side):
            collected[side] = bound
    elif name in ("totalDigits", "fractionDigits"):
        key = "total_digits" if name == "totalDigits" else "fraction_digits"
        collected[key] = min(facet.value, collected.get(key, facet.value))
    elif name in ("length", "minLength", "maxLength"):
        if name != "maxLength":
            collected["least_length"] = max(facet.value, collected.get("least_length", 0))
        if name != "minLength":
            collected["most_length"] = min(facet.value, collected.get("most_length", facet.value))
    elif name == "pattern":
        # The outermost step comes first, and the rest of the derivation adds to it.
        collected["patterns"].append(tuple(str(e.get(KEPT_PATTERN) or e.get("value")) for e in facet))
    elif name == "enumeration" and "enumeration" not in collected:
        collected["enumeration"] = tuple(str(element.get("value")) for element in facet)
    elif name in ("assertion", "explicitTimezone"):
        collected["asserted"] = True


_BOUNDS = {
    "minInclusive": ("lower", True),
    "minExclusive": ("lower", False),
    "maxInclusive": ("upper", True),
    "maxExclusive": ("upper", False),
}


def _tighter(bound: Bound, than: Bound, side: str) -> bool:
    try:
        if bound.value == than.value:
            return not bound.inclusive
        return bool(bound.value > than.value if side == "lower" else bound.value < than.value)
    except TypeError:
        return False


def column(of: Facets) -> ColumnType:
    """The column of a simple type."""
    if of.variety == "list":
        return ListOf(column(facts(of.item)))
    if of.variety == "union":
        return STRING
    if of.is_integer:
        return _integer_column(of)
    if of.primitive == "decimal":
        return _decimal_column(of)
    # Years and months have no length that is the same for all of them.
    return STRING if of.builtin == "yearMonthDuration" else _COLUMNS.get(of.primitive, STRING)


_COLUMNS: dict[str, ColumnType] = {
    "boolean": BOOLEAN,
    "float": DOUBLE,
    "double": DOUBLE,
    "hexBinary": BINARY,
    "base64Binary": BINARY,
    "dateTime": TIMESTAMP_TEXT,
    "date": DATE_TEXT,
    "duration": DURATION_TEXT,
}


def _integer_column(of: Facets) -> ColumnType:
    lowest = None if of.lower is None else int(of.lower.value)
    highest = None if of.upper is None else int(of.upper.value)
    if of.total_digits is not None and of.total_digits <= 18:
        return INT64
    if lowest is not None and highest is not None:
        if lowest >= _INT64[0] and highest <= _INT64[1]:
            return INT64
        if lowest >= 0 and highest < 2**64:
            return Decimal(20, 0)
    return Decimal(_MOST_DIGITS, 0)


def _decimal_column(of: Facets) -> ColumnType:
    if of.fraction_digits is None:
        return STRING
    # totalDigits counts all digits: eight of them may all stand before the point.
    before = [of.total_digits] if of.total_digits is not None else []
    if of.lower is not None and of.upper is not None:
        before.append(max(len(str(abs(int(bound.value)))) for bound in (of.lower, of.upper)))
    precision = min(before) + of.fraction_digits if before else _MOST_DIGITS + 1
    return Decimal(precision, of.fraction_digits) if precision <= _MOST_DIGITS else STRING


def normalise(text: str, space: str) -> str:
    """The text with its white space treated as the type says."""
    if space == "collapse":
        return " ".join(text.translate(_SPACES).split(" ")).strip(" ") if "  " not in text else _collapsed(text)
    return text.translate(_SPACES) if space == "replace" else text


def _collapsed(text: str) -> str:
    return " ".join(piece for piece in text.translate(_SPACES).split(" ") if piece)


def codec(xsd_type: Any) -> Codec:
    """The codec of a simple type."""
    of = facts(xsd_type)
    fits = column(of)
    if of.variety == "list":
        item = codec(of.item)
        return Codec(
            fits,
            lambda text: [item.decode(piece) for piece in text.split()],
            lambda value: " ".join(item.encode(piece) for piece in value),
        )
    decode: Callable[[str], Any]
    encode: Callable[[Any], str] = str
    if isinstance(fits, Decimal):
        decode, encode = _decimal, _decimal_text
    elif fits == INT64:
        decode = _integer
    elif fits == BOOLEAN:
        decode, encode = _BOOLEANS.__getitem__, lambda value: "true" if value else "false"
    elif fits == DOUBLE:
        decode, encode = float, _float_text
    elif fits == BINARY:
        is_hex = of.primitive == "hexBinary"
        decode = _bytes_of_hex if is_hex else _bytes_of_base64
        encode = _hex_text if is_hex else _base64_text
    elif of.primitive == "decimal":
        decode = _decimal_digits
    else:
        space = of.space
        decode = str if space == "preserve" else lambda text: normalise(text, space)
    return Codec(fits, decode, encode)


def _integer(text: str) -> int:
    _refuse_python_digits(text)
    return int(text)


def _decimal(text: str) -> decimal.Decimal:
    _refuse_python_digits(text)
    return decimal.Decimal(text)


def _decimal_digits(text: str) -> str:
    """The digits of a decimal for which there is no column of numbers."""
    found = normalise(text, "collapse")
    if not _DECIMAL.match(found):
        raise ValueError(f"{text!r} is no decimal")
    return found


def _refuse_python_digits(text: str) -> None:
    """Refuse what Python takes for a number and XML Schema does not; xmlschema, which asks Python, lets it pass."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is no number")


def _decimal_text(value: Any) -> str:
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


class _Booleans(dict[str, bool]):
    """What texts of a boolean mean; those with white space around are not listed."""

    def __missing__(self, text: str) -> bool:
        return text.strip() in ("true", "1")


_BOOLEANS = _Booleans({"true": True, "1": True, "false": False, "0": False})


def _float_text(value: Any) -> str:
    number = float(value)
    if number != number:
        return "NaN"
    return repr(number) if abs(number) != float("inf") else "INF" if number > 0 else "-INF"


def _bytes_of_hex(text: str) -> bytes:
    return bytes.fromhex(text.strip())


def _bytes_of_base64(text: str) -> bytes:
    return base64.b64decode("".join(text.split()))


def _hex_text(value: Any) -> str:
    return value.hex().upper() if isinstance(value, bytes) else str(value)


def _base64_text(value: Any) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
