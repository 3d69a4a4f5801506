"""Reading the JSON encoding, and the plainer JSON that many producers send by an Avro schema.

Where both are possible Avro's own encoding wins: a union's value is first looked for under the name of a branch. What
is not written so is plain JSON: the value itself, dates, times and long integers as text, numbers for decimals, and
members that have a default, or may be null, left out.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from postroom.formats.avro.codec.binary_reader import DEEPEST
from postroom.formats.avro.codec.binary_writer import write
from postroom.formats.avro.logical_types import meaning, plain
from postroom.formats.avro.types import (
    NO_DEFAULT,
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Union,
    branch_name,
    nullable,
    tagged_branch,
)
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.schema import Violation
from postroom.formats.show_value import show_value

_MOST_VIOLATIONS = 20
_STEPS = 200_000
_STEPS_PER_BYTE = 4
_DECIMALS = ("decimal", "big-decimal")
# Digits alone are bytes, as Avro's encoding has it; only what can hardly be bytes is a number.
_NUMBER = re.compile(r"-?\d+\.\d+\Z")
# Producers protect integers of 64 bits from readers that keep 53.
_DIGITS = re.compile(r"-?\d{1,19}\Z")
_EXACT = {"int": int, "long": int, "float": float, "double": float, "string": str, "boolean": bool}


class _Misfits(Exception):
    def __init__(self, found: list[Misfit]) -> None:
        super().__init__(found)
        self.found = found


class _Missing(Exception):
    pass


class _Tangled(Exception):
    pass


class _TooDeep(Exception):
    pass


def read_json(kind: AvroType, payload: bytes) -> tuple[Any, list[Violation]]:
    """The value in a JSON payload, or the payload and what does not fit."""
    try:
        document = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, [Violation("", "payload_not_json", "JSON", str(error).splitlines()[0])]
    except RecursionError:
        return None, [_TOO_DEEP]
    try:
        return _Reader(_STEPS + _STEPS_PER_BYTE * len(payload)).value(kind, document, False, 0), []
    except (Misfit, _Misfits) as error:
        # With the document as it came, which may fit once nulls are taken for absent.
        return document, [misfit.violation() for misfit in _all(error)[:_MOST_VIOLATIONS]]
    except (RecursionError, _TooDeep):
        return None, [_TOO_DEEP]
    except _Tangled:
        found = "one with too many possibilities"
        return None, [Violation("", "payload_union", "a value whose unions can be told apart", found)]


_TOO_DEEP = Violation("", "payload_depth", f"nested at most {DEEPEST} deep", "deeper")


def _all(error: Misfit | _Misfits) -> list[Misfit]:
    return error.found if isinstance(error, _Misfits) else [error]


class _Reader:
    """Reads one document. `left` bounds the steps, for unions in unions can be tried in exponentially many ways."""

    def __init__(self, left: int) -> None:
        self._left = left

    def value(self, kind: AvroType, value: Any, exactly: bool, depth: int) -> Any:
        """The value that JSON stands for; `exactly` leaves no room for plainer JSON."""
        self._left -= 1
        if self._left < 0:
            raise _Tangled
        if isinstance(kind, Union):
            return self._union(kind, value, exactly, depth)
        if value is None and kind.kind != "null":
            raise Misfit("null_not_allowed", branch_name(kind), "null")
        if isinstance(kind, Record):
            return self._record(kind, value, exactly, depth)
        if isinstance(kind, Array):
            return self._array(kind, value, exactly, depth)
        if isinstance(kind, Map):
            return self._map(kind, value, exactly, depth)
        if isinstance(kind, Enum):
            if not isinstance(value, str) or value not in kind.numbers:
                raise Misfit("payload_enum", _symbols(kind), show_value(value))
            return value
        return _leaf(kind, value, exactly)

    def _record(self, kind: Record, value: Any, exactly: bool, depth: int) -> Any:
        _require(isinstance(value, dict), f"the record {kind.name}", value)
        if depth >= DEEPEST:
            raise _TooDeep
        values: dict[str, Any] = {}
        found: list[Misfit] = []
        for field in kind.fields:
            try:
                values[field.name] = self._member(field, value, exactly, depth + kind.is_recursive)
            except (Misfit, _Misfits) as error:
                found += _below(error, field.name)
            except _Missing:
                found.append(Misfit("payload_required", field.name, "missing"))
        extra = [str(name) for name in value if name not in kind.names]
        if extra:
            found.append(Misfit("payload_additional_properties", ", ".join(extra[:20])[:200], show_value(value)))
        if found:
            raise _Misfits(found[:_MOST_VIOLATIONS])
        return values

    def _member(self, field: Field, value: dict[str, Any], exactly: bool, depth: int) -> Any:
        if field.name in value:
            return self.value(field.type, value[field.name], exactly, depth)
        if field.default is not NO_DEFAULT:
            return self.value(field.type, field.default, False, depth)
        if isinstance(field.type, Union) and any(branch.kind == "null" for branch in field.type.branches):
            return None
        raise _Missing

    def _array(self, kind: Array, value: Any, exactly: bool, depth: int) -> Any:
        _require(isinstance(value, list), "a list", value)
        return [item for _, item in self._items(kind.items, enumerate(value), exactly, depth)]

    def _map(self, kind: Map, value: Any, exactly: bool, depth: int) -> Any:
        _require(isinstance(value, dict), "a map", value)
        return dict(self._items(kind.values, value.items(), exactly, depth))

    def _items(self, kind: AvroType, items: Any, exactly: bool, depth: int) -> list[tuple[Any, Any]]:
        values = []
        found: list[Misfit] = []
        for step, item in items:
            try:
                values.append((step, self.value(kind, item, exactly, depth)))
            except (Misfit, _Misfits) as error:
                found += _below(error, step)
                if len(found) >= _MOST_VIOLATIONS:
                    break
        if found:
            raise _Misfits(found)
        return values

    def _union(self, kind: Union, value: Any, exactly: bool, depth: int) -> Any:
        if value is None:
            if any(branch.kind == "null" for branch in kind.branches):
                return None
            raise Misfit("null_not_allowed", _branches(kind), "null")
        why: Misfit | _Misfits | None = None
        tagged = tagged_branch(kind, value)
        if tagged is not None:
            try:
                return self.value(tagged, next(iter(value.values())), exactly, depth)
            except (Misfit, _Misfits) as error:
                for misfit in _all(error):
                    misfit.steps.append(branch_name(tagged))
                why = error
        only = nullable(kind)
        for strictly in (True,) if exactly else (True, False):
            for branch in kind.branches:
                try:
                    return self.value(branch, value, strictly, depth)
                except (Misfit, _Misfits) as error:
                    why = why or (error if branch is only and not strictly else None)
        raise why or Misfit("payload_union", _branches(kind), show_value(value))


def _below(error: Misfit | _Misfits, step: str | int) -> list[Misfit]:
    found = _all(error)
    for misfit in found:
        misfit.steps.append(step)
    return found


def _leaf(kind: Primitive | Fixed, value: Any, exactly: bool) -> Any:
    if exactly and kind.logical is None:
        fitting = _EXACT.get(kind.kind)
        _require(fitting is None or type(value) is fitting, kind.kind, value)
    _require(not (exactly and kind.kind in ("bytes", "fixed")), kind.kind, value)
    logical = kind.logical
    if logical is None:
        return _checked(kind, value)
    if logical.name == "timestamp-millis" and isinstance(value, str):
        # The column holds microseconds, so those that a text has are kept.
        logical = Logical("timestamp-micros")
    _require(not exactly or isinstance(value, str) == (kind.kind == "string"), logical.name, value)
    if logical.name in _DECIMALS and isinstance(value, str) and _NUMBER.match(value) is None:
        raw = _latin(value, logical.name)
    else:
        raw = plain(logical, kind.kind, kind.size if isinstance(kind, Fixed) else 0)(value)
    return meaning(logical, kind.kind)(_checked(_bare(kind), raw))


def _bare(kind: Primitive | Fixed) -> Primitive | Fixed:
    return Fixed(kind.name, kind.size, kind.at) if isinstance(kind, Fixed) else Primitive(kind.kind, kind.at)


def _checked(kind: Primitive | Fixed, value: Any) -> Any:
    """A plain value, known to fit: what can be written."""
    if kind.kind == "long" and isinstance(value, str) and _DIGITS.match(value):
        value = int(value)
    write(kind, value)
    if kind.kind in ("bytes", "fixed"):
        return _latin(value, kind.kind) if isinstance(value, str) else value
    if kind.kind in ("int", "long"):
        return int(value)
    return float(value) if kind.kind in ("float", "double") else value


def _latin(value: str, expected: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        raise Misfit("payload_type", f"{expected}, as text with a character for each byte", show_value(value)) from None


def _require(holds: bool, expected: str, value: Any) -> None:
    if not holds:
        raise Misfit("payload_type", expected, show_value(value))


def _symbols(kind: Enum) -> str:
    text = "one of " + ", ".join(kind.symbols[:20])
    return text + (", …" if len(kind.symbols) > 20 else "")


def _branches(kind: Union) -> str:
    return "one of " + ", ".join(map(branch_name, kind.branches))
