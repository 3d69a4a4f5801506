"""Inventing values that fit an Avro type."""

from __future__ import annotations

import random
import string
import struct
import uuid
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.avro import types
from postroom.formats.avro.codec.binary_writer import ChosenBranch
from postroom.formats.avro.logical_types import logical_decoder, logical_encoder

# From here on, records end as soon as they can.
_DEEP = 3
_LONGEST_FIXED = 2**20
_MOST_VALUES = 100_000
_FIRST_DAY = (date(2026, 1, 1) - date(1970, 1, 1)).days
_PER_SECOND = {"millis": 1_000, "micros": 1_000_000, "nanos": 1_000_000_000}

# A step from a value to one inside it: the name of a field, the number of a branch, the symbol of an enum, or 0 for an
# item of a list or map.
Step = str | int


def sample(schema: types.AvroType, rng: random.Random) -> Any:
    """A value, as reading would give it; SchemaRefused when the type has none."""
    return bare(_SampleGenerator(rng).value(schema, (), 0))


def sample_along_path(schema: types.AvroType, steps: Sequence[Step], rng: random.Random) -> Any:
    """A value that has something at the end of the steps; branches of unions are `ChosenBranch`."""
    return _SampleGenerator(rng).value(schema, tuple(steps), 0)


def bare(value: Any) -> Any:
    """A value without the marks of chosen branches."""
    if isinstance(value, ChosenBranch):
        return bare(value.value)
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items()}
    return [bare(item) for item in value] if isinstance(value, list) else value


class _SampleGenerator:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._heights: dict[int, float] = {}
        self._left = _MOST_VALUES

    def value(self, schema: types.AvroType, steps: tuple[Step, ...], depth: int) -> Any:
        """A value, along the steps as far as they go."""
        self._left -= 1
        if self._left < 0:
            raise SchemaRefused("every value of this schema is too large for invented data.")
        step, rest = (steps[0], steps[1:]) if steps else (None, ())
        if isinstance(schema, types.UnionType):
            index = step if isinstance(step, int) else self._branch(schema, depth)
            return ChosenBranch(index, self.value(schema.branches[index], rest, depth))
        if isinstance(schema, types.RecordType):
            return self._record(schema, step, rest, depth)
        if isinstance(schema, types.ArrayType | types.MapType):
            return self._collection(schema, step, rest, depth)
        if isinstance(schema, types.EnumType):
            if not schema.symbols:
                raise _no_value()
            return step if isinstance(step, str) else self._rng.choice(schema.symbols)
        return self._leaf(schema)

    def _record(self, schema: types.RecordType, step: Step | None, rest: tuple[Step, ...], depth: int) -> Any:
        if self._height(schema) == _ENDLESS:
            raise _no_value()
        return {
            field.name: self.value(field.type, rest if field.name == step else (), depth + 1) for field in schema.fields
        }

    def _collection(
        self, schema: types.ArrayType | types.MapType, step: Step | None, rest: tuple[Step, ...], depth: int
    ) -> Any:
        inner = schema.items if isinstance(schema, types.ArrayType) else schema.values
        most = 0 if depth >= _DEEP or self._height(inner) == _ENDLESS else 2
        count = max(self._rng.randint(0, most), 0 if step is None else 1)
        items = [self.value(inner, rest if index == 0 else (), depth + 1) for index in range(count)]
        if isinstance(schema, types.ArrayType):
            return items
        return {f"{self._text()}{index}": item for index, item in enumerate(items)}

    def _branch(self, schema: types.UnionType, depth: int) -> int:
        heights = [self._height(branch) for branch in schema.branches]
        lowest = min(heights, default=_ENDLESS)
        if lowest == _ENDLESS:
            raise _no_value()
        fitting = [i for i, height in enumerate(heights) if height == lowest or (depth < _DEEP and height < _ENDLESS)]
        return self._rng.choice(fitting)

    def _height(self, schema: types.AvroType) -> float:
        """How many records the lowest value of a type has in each other."""
        if id(schema) not in self._heights:
            _measure_heights(schema, self._heights)
        return self._heights[id(schema)]

    def _leaf(self, schema: types.PrimitiveType | types.FixedType) -> Any:
        if schema.logical is not None:
            return self._logical(schema.logical, schema)
        if isinstance(schema, types.FixedType):
            if schema.size > _LONGEST_FIXED:
                raise SchemaRefused(f"{schema.name!r} is too large for invented data.", place=schema.at)
            return self._rng.randbytes(schema.size)
        return self._primitive(schema.type_name)

    def _primitive(self, type_name: str) -> Any:
        rng = self._rng
        if type_name in ("int", "long"):
            return rng.randint(0, 1000)
        if type_name in ("float", "double"):
            number = round(rng.uniform(0, 1000), 2)
            return struct.unpack("<f", struct.pack("<f", number))[0] if type_name == "float" else number
        if type_name == "boolean":
            return rng.random() < 0.5
        if type_name == "bytes":
            return rng.randbytes(rng.randint(0, 8))
        return self._text() if type_name == "string" else None

    def _text(self) -> str:
        return "".join(self._rng.choices(string.ascii_lowercase, k=8))

    def _logical(self, logical: types.LogicalType, schema: types.PrimitiveType | types.FixedType) -> Any:
        size = schema.size if isinstance(schema, types.FixedType) else 0
        return logical_decoder(logical, schema.type_name)(
            logical_encoder(logical, schema.type_name, size)(self._raw(logical, schema))
        )

    def _raw(self, logical: types.LogicalType, schema: types.PrimitiveType | types.FixedType) -> Any:
        rng, (name, _, unit) = self._rng, logical.name.rpartition("-")
        if logical.name == "decimal":
            unscaled = rng.randrange(10 ** min(logical.precision, 6))
            return unscaled.to_bytes(schema.size if isinstance(schema, types.FixedType) else 4, "big", signed=True)
        if logical.name == "big-decimal":
            return f"{rng.randrange(1000)}.{rng.randrange(100):02}"
        if logical.name == "uuid":
            return str(uuid.UUID(int=rng.getrandbits(128), version=4))
        if logical.name == "duration":
            return rng.randbytes(12)
        if logical.name == "date":
            return _FIRST_DAY + rng.randrange(300)
        seconds = rng.randrange(86_400)
        if name != "time":
            seconds += int(timedelta(days=_FIRST_DAY + rng.randrange(300)).total_seconds())
        return seconds * _PER_SECOND[unit] + rng.randrange(1_000)


_ENDLESS = float("inf")


def _measure_heights(schema: types.AvroType, heights: dict[int, float]) -> None:
    """The least fixpoint of heights over all types that a type reaches."""
    reached = {id(found): found for found in reached_types(schema)}
    heights.update(dict.fromkeys(reached, _ENDLESS))
    changed = True
    while changed:
        changed = False
        for identity, found in reached.items():
            height = _height(found, heights)
            if height < heights[identity]:
                heights[identity] = height
                changed = True


def _height(schema: types.AvroType, heights: dict[int, float]) -> float:
    if isinstance(schema, types.RecordType):
        return 1 + max((heights[id(field.type)] for field in schema.fields), default=0)
    if isinstance(schema, types.UnionType):
        return min((heights[id(branch)] for branch in schema.branches), default=_ENDLESS)
    return _ENDLESS if isinstance(schema, types.EnumType) and not schema.symbols else 0


def reached_types(schema: types.AvroType) -> list[types.AvroType]:
    """A type and all types inside it, each once."""
    reached: dict[int, types.AvroType] = {}
    waiting = [schema]
    while waiting:
        found = waiting.pop()
        if id(found) not in reached:
            reached[id(found)] = found
            waiting.extend(inner_types(found))
    return list(reached.values())


def inner_types(schema: types.AvroType) -> list[types.AvroType]:
    """The types a type is made of."""
    if isinstance(schema, types.RecordType):
        return [field.type for field in schema.fields]
    if isinstance(schema, types.UnionType):
        return list(schema.branches)
    if isinstance(schema, types.ArrayType):
        return [schema.items]
    return [schema.values] if isinstance(schema, types.MapType) else []


def _no_value() -> SchemaRefused:
    return SchemaRefused("no fitting data could be invented for this schema.", remedy="Give your own with --data.")
