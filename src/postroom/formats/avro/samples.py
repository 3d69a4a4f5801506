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
from postroom.formats.avro.codec.binary_writer import Chosen
from postroom.formats.avro.logical_types import meaning, plain
from postroom.formats.avro.types import Array, AvroType, Enum, Fixed, Logical, Map, Primitive, Record, Union

# From here on, records end as soon as they can.
_DEEP = 3
_LONGEST_FIXED = 2**20
_MOST_VALUES = 100_000
_FIRST_DAY = (date(2026, 1, 1) - date(1970, 1, 1)).days
_PER_SECOND = {"millis": 1_000, "micros": 1_000_000, "nanos": 1_000_000_000}

# A step from a value to one inside it: the name of a field, the number of a branch, the symbol of an enum, or 0 for an
# item of a list or map.
Step = str | int


def sample(kind: AvroType, rng: random.Random) -> Any:
    """A value, as reading would give it; SchemaRefused when the type has none."""
    return bare(_Inventor(rng).value(kind, (), 0))


def sample_through(kind: AvroType, steps: Sequence[Step], rng: random.Random) -> Any:
    """A value that has something at the end of the steps; branches of unions are `Chosen`."""
    return _Inventor(rng).value(kind, tuple(steps), 0)


def bare(value: Any) -> Any:
    """A value without the marks of chosen branches."""
    if isinstance(value, Chosen):
        return bare(value.value)
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items()}
    return [bare(item) for item in value] if isinstance(value, list) else value


class _Inventor:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._heights: dict[int, float] = {}
        self._left = _MOST_VALUES

    def value(self, kind: AvroType, steps: tuple[Step, ...], depth: int) -> Any:
        """A value, along the steps as far as they go."""
        self._left -= 1
        if self._left < 0:
            raise SchemaRefused("every value of this schema is too large for invented data.")
        step, rest = (steps[0], steps[1:]) if steps else (None, ())
        if isinstance(kind, Union):
            index = step if isinstance(step, int) else self._branch(kind, depth)
            return Chosen(index, self.value(kind.branches[index], rest, depth))
        if isinstance(kind, Record):
            return self._record(kind, step, rest, depth)
        if isinstance(kind, Array | Map):
            return self._collection(kind, step, rest, depth)
        if isinstance(kind, Enum):
            if not kind.symbols:
                raise _no_value()
            return step if isinstance(step, str) else self._rng.choice(kind.symbols)
        return self._leaf(kind)

    def _record(self, kind: Record, step: Step | None, rest: tuple[Step, ...], depth: int) -> Any:
        if self._height(kind) == _ENDLESS:
            raise _no_value()
        return {
            field.name: self.value(field.type, rest if field.name == step else (), depth + 1) for field in kind.fields
        }

    def _collection(self, kind: Array | Map, step: Step | None, rest: tuple[Step, ...], depth: int) -> Any:
        inner = kind.items if isinstance(kind, Array) else kind.values
        most = 0 if depth >= _DEEP or self._height(inner) == _ENDLESS else 2
        count = max(self._rng.randint(0, most), 0 if step is None else 1)
        items = [self.value(inner, rest if index == 0 else (), depth + 1) for index in range(count)]
        if isinstance(kind, Array):
            return items
        return {f"{self._text()}{index}": item for index, item in enumerate(items)}

    def _branch(self, kind: Union, depth: int) -> int:
        heights = [self._height(branch) for branch in kind.branches]
        lowest = min(heights, default=_ENDLESS)
        if lowest == _ENDLESS:
            raise _no_value()
        fitting = [i for i, height in enumerate(heights) if height == lowest or (depth < _DEEP and height < _ENDLESS)]
        return self._rng.choice(fitting)

    def _height(self, kind: AvroType) -> float:
        """How many records the lowest value of a type has in each other."""
        if id(kind) not in self._heights:
            _measure_heights(kind, self._heights)
        return self._heights[id(kind)]

    def _leaf(self, kind: Primitive | Fixed) -> Any:
        if kind.logical is not None:
            return self._logical(kind.logical, kind)
        if isinstance(kind, Fixed):
            if kind.size > _LONGEST_FIXED:
                raise SchemaRefused(f"{kind.name!r} is too large for invented data.", place=kind.at)
            return self._rng.randbytes(kind.size)
        return self._primitive(kind.kind)

    def _primitive(self, kind: str) -> Any:
        rng = self._rng
        if kind in ("int", "long"):
            return rng.randint(0, 1000)
        if kind in ("float", "double"):
            number = round(rng.uniform(0, 1000), 2)
            return struct.unpack("<f", struct.pack("<f", number))[0] if kind == "float" else number
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "bytes":
            return rng.randbytes(rng.randint(0, 8))
        return self._text() if kind == "string" else None

    def _text(self) -> str:
        return "".join(self._rng.choices(string.ascii_lowercase, k=8))

    def _logical(self, logical: Logical, kind: Primitive | Fixed) -> Any:
        size = kind.size if isinstance(kind, Fixed) else 0
        return meaning(logical, kind.kind)(plain(logical, kind.kind, size)(self._raw(logical, kind)))

    def _raw(self, logical: Logical, kind: Primitive | Fixed) -> Any:
        rng, (name, _, unit) = self._rng, logical.name.rpartition("-")
        if logical.name == "decimal":
            unscaled = rng.randrange(10 ** min(logical.precision, 6))
            return unscaled.to_bytes(kind.size if isinstance(kind, Fixed) else 4, "big", signed=True)
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


def _measure_heights(kind: AvroType, heights: dict[int, float]) -> None:
    """The least fixpoint of heights over all types that a type reaches."""
    reached = {id(found): found for found in reached_types(kind)}
    heights.update(dict.fromkeys(reached, _ENDLESS))
    changed = True
    while changed:
        changed = False
        for identity, found in reached.items():
            height = _height(found, heights)
            if height < heights[identity]:
                heights[identity] = height
                changed = True


def _height(kind: AvroType, heights: dict[int, float]) -> float:
    if isinstance(kind, Record):
        return 1 + max((heights[id(field.type)] for field in kind.fields), default=0)
    if isinstance(kind, Union):
        return min((heights[id(branch)] for branch in kind.branches), default=_ENDLESS)
    return _ENDLESS if isinstance(kind, Enum) and not kind.symbols else 0


def reached_types(kind: AvroType) -> list[AvroType]:
    """A type and all types inside it, each once."""
    reached: dict[int, AvroType] = {}
    waiting = [kind]
    while waiting:
        found = waiting.pop()
        if id(found) not in reached:
            reached[id(found)] = found
            waiting.extend(inner_types(found))
    return list(reached.values())


def inner_types(kind: AvroType) -> list[AvroType]:
    """The types a type is made of."""
    if isinstance(kind, Record):
        return [field.type for field in kind.fields]
    if isinstance(kind, Union):
        return list(kind.branches)
    if isinstance(kind, Array):
        return [kind.items]
    return [kind.values] if isinstance(kind, Map) else []


def _no_value() -> SchemaRefused:
    return SchemaRefused("no fitting data could be invented for this schema.", remedy="Give your own with --data.")
