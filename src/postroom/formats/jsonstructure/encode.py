"""Python values to the JSON that a type asks for: the inverse of judging."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from postroom.formats.jsonstructure.types import (
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
from postroom.formats.jsonstructure.validation.primitives import FLOATS, INTEGERS
from postroom.formats.jsonstructure.validation.string_types import ENCODINGS
from postroom.formats.jsonstructure.validation.validate import Checks
from postroom.formats.jsonstructure.validation.violations import Findings

_NUMBERS = frozenset((*INTEGERS, *FLOATS))


def json_value(shape: Shape, value: Any, checks: Checks) -> Any:
    """The JSON value of a Python value; what does not fit the type is passed on as it is."""
    real = resolved(shape)
    if isinstance(real, Conditional):
        return value if real.base is None else json_value(real.base, value, checks)
    if isinstance(real, Primitive):
        return _primitive(real, value)
    if isinstance(real, Union):
        return _union(real, value, checks)
    if isinstance(value, dict):
        return {key: json_value(inner, item, checks) if inner else item for key, item, inner in _parts(real, value)}
    if isinstance(value, list | tuple) and isinstance(real, Listing):
        return [json_value(real.items, item, checks) for item in value]
    if isinstance(value, list | tuple) and isinstance(real, Tuple) and len(value) == len(real.members):
        return [json_value(inner, item, checks) for (_, inner), item in zip(real.members, value, strict=True)]
    return value


def _parts(shape: Shape, value: dict[str, Any]) -> list[tuple[str, Any, Shape | None]]:
    members: dict[str, Shape] = {}
    rest: Shape | None = None
    if isinstance(shape, Record):
        members, rest = shape.members, shape.extra if isinstance(shape.extra, Shape) else None
    elif isinstance(shape, Mapping):
        rest = shape.values
    elif isinstance(shape, Choice) and shape.selector is None:
        members = shape.choices
    elif isinstance(shape, Choice) and shape.selector is not None:
        chosen = shape.choices.get(str(value.get(shape.selector)))
        real = None if chosen is None else resolved(chosen)
        if isinstance(real, Record):
            return _parts(real, value)
    return [(key, item, members.get(key, rest)) for key, item in value.items()]


def _primitive(shape: Primitive, value: Any) -> Any:
    if isinstance(value, bytes):
        name = shape.rules.get("contentEncoding", "base64") if shape.name == "binary" else "base64"
        return ENCODINGS[name][1](value).decode("ascii")
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value) if shape.name in _NUMBERS else format(value, "f")
    if isinstance(value, int | float) and not isinstance(value, bool) and shape.name not in _NUMBERS:
        # Numbers of 64 bits and more, and decimals, travel as text.
        return format(decimal.Decimal(str(value)), "f") if shape.name == "decimal" else _long(shape, value)
    return value


def _long(shape: Primitive, value: int | float) -> Any:
    return str(value) if isinstance(value, int) and shape.name not in ("string", "boolean", "null") else value


def _union(shape: Union, value: Any, checks: Checks) -> Any:
    """The first alternative whose JSON reads back as the value, else the first that is accepted at all."""
    accepted: list[Any] = []
    for alternative in shape.alternatives:
        written = json_value(alternative, value, checks)
        found = Findings()
        meaning = checks.of(shape)(written, None, found)
        if not found.violations:
            if type(meaning) is type(value) and meaning == value:
                return written
            accepted.append(written)
    return accepted[0] if accepted else value
