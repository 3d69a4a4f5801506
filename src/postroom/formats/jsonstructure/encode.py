"""Encodes Python values as the JSON of their type: the inverse of validating."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from postroom.formats.jsonstructure import types
from postroom.formats.jsonstructure.validation.primitives import FLOATS, INTEGERS
from postroom.formats.jsonstructure.validation.string_types import ENCODINGS
from postroom.formats.jsonstructure.validation.validate import Checks
from postroom.formats.jsonstructure.validation.violations import ViolationCollector

_NUMBERS = frozenset((*INTEGERS, *FLOATS))


def json_value(type_: types.JsonType, value: Any, checks: Checks) -> Any:
    """The JSON value of a Python value; what does not fit the type is passed on as it is."""
    real = types.resolved(type_)
    if isinstance(real, types.JsonConditionalType):
        return value if real.base is None else json_value(real.base, value, checks)
    if isinstance(real, types.JsonPrimitiveType):
        return _primitive(real, value)
    if isinstance(real, types.JsonUnionType):
        return _union(real, value, checks)
    if isinstance(value, dict):
        return {key: json_value(inner, item, checks) if inner else item for key, item, inner in _parts(real, value)}
    if isinstance(value, list | tuple) and isinstance(real, types.JsonArrayType):
        return [json_value(real.items, item, checks) for item in value]
    if isinstance(value, list | tuple) and isinstance(real, types.JsonTupleType) and len(value) == len(real.members):
        return [json_value(inner, item, checks) for (_, inner), item in zip(real.members, value, strict=True)]
    return value


def _parts(type_: types.JsonType, value: dict[str, Any]) -> list[tuple[str, Any, types.JsonType | None]]:
    members: dict[str, types.JsonType] = {}
    rest: types.JsonType | None = None
    if isinstance(type_, types.JsonObjectType):
        members, rest = type_.members, type_.extra if isinstance(type_.extra, types.JsonType) else None
    elif isinstance(type_, types.JsonMapType):
        rest = type_.values
    elif isinstance(type_, types.JsonChoiceType) and type_.selector is None:
        members = type_.choices
    elif isinstance(type_, types.JsonChoiceType) and type_.selector is not None:
        chosen = type_.choices.get(str(value.get(type_.selector)))
        real = None if chosen is None else types.resolved(chosen)
        if isinstance(real, types.JsonObjectType):
            return _parts(real, value)
    return [(key, item, members.get(key, rest)) for key, item in value.items()]


def _primitive(type_: types.JsonPrimitiveType, value: Any) -> Any:
    if isinstance(value, bytes):
        name = type_.rules.get("contentEncoding", "base64") if type_.name == "binary" else "base64"
        return ENCODINGS[name][1](value).decode("ascii")
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value) if type_.name in _NUMBERS else format(value, "f")
    if isinstance(value, int | float) and not isinstance(value, bool) and type_.name not in _NUMBERS:
        # Numbers of 64 bits and more, and decimals, travel as text.
        return format(decimal.Decimal(str(value)), "f") if type_.name == "decimal" else _long(type_, value)
    return value


def _long(type_: types.JsonPrimitiveType, value: int | float) -> Any:
    return str(value) if isinstance(value, int) and type_.name not in ("string", "boolean", "null") else value


def _union(type_: types.JsonUnionType, value: Any, checks: Checks) -> Any:
    """The first alternative whose JSON reads back as the value, else the first that is accepted at all."""
    accepted: list[Any] = []
    for alternative in type_.alternatives:
        written = json_value(alternative, value, checks)
        found = ViolationCollector()
        decoded = checks.of(type_)(written, None, found)
        if not found.violations:
            if type(decoded) is type(value) and decoded == value:
                return written
            accepted.append(written)
    return accepted[0] if accepted else value
