"""Inventing values that fit a JSON Schema."""

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeGuard

from postroom.errors import SchemaRefused
from postroom.formats.jsonschema.columns import follow
from postroom.formats.patterns import sample_text

_TRIES = 25
_DEEPEST = 8
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def sample(document: Any, rng: random.Random, is_valid: Callable[[Any], bool]) -> Any:
    """A value the validator accepts, within a bounded number of tries."""
    inventor = _Inventor(document, rng)
    for _ in range(_TRIES):
        value = inventor.value(document, 0)
        if is_valid(value):
            return value
    raise SchemaRefused("no fitting data could be invented for this schema.", remedy="Give your own with --data.")


class _Inventor:
    def __init__(self, root: Any, rng: random.Random) -> None:
        self.root = root
        self.rng = rng

    def value(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict):
            return None if schema is False else "anything"
        if "$ref" in schema:
            return self.value(follow(self.root, schema["$ref"]) or {}, depth + 1)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self.rng.choice(schema["enum"])
        for name in ("oneOf", "anyOf"):
            if isinstance(schema.get(name), list) and schema[name]:
                rest = {key: value for key, value in schema.items() if key != name}
                return self.value(_merged(rest, self.rng.choice(schema[name])), depth + 1)
        if isinstance(schema.get("allOf"), list):
            merged = {key: value for key, value in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                merged = _merged(merged, follow(self.root, part["$ref"]) if "$ref" in part else part)
            return self.value(merged, depth + 1)
        return self._typed(schema, depth)

    def _typed(self, schema: dict[str, Any], depth: int) -> Any:
        stated = schema.get("type")
        kinds = stated if isinstance(stated, list) else [stated] if stated else []
        real = [kind for kind in kinds if kind != "null"]
        kind = (
            self.rng.choice(real) if real else ("null" if kinds else "object" if "properties" in schema else "string")
        )
        makers: dict[str, Callable[[dict[str, Any], int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda _schema, _depth: self.rng.random() < 0.5,
        }
        return makers[kind](schema, depth) if kind in makers else None

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        required = set(schema.get("required") or ())
        properties = schema.get("properties") or {}
        chosen = {
            name: self.value(member, depth + 1)
            for name, member in properties.items()
            if name in required or (depth < _DEEPEST and self.rng.random() < 0.8)
        }
        for name in sorted(required - set(properties)):
            extra = schema.get("additionalProperties")
            chosen[name] = self.value(extra if isinstance(extra, dict) else {}, depth + 1)
        return chosen

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        least = schema.get("minItems", 1 if depth < _DEEPEST else 0)
        most = min(schema.get("maxItems", least + 2), least + 2)
        return [
            self.value(schema.get("items", {}), depth + 1) for _ in range(self.rng.randint(least, max(least, most)))
        ]

    def _string(self, schema: dict[str, Any], depth: int) -> str:
        if isinstance(schema.get("pattern"), str):
            return sample_text(schema["pattern"], self.rng)
        made = _FORMATS.get(schema.get("format", ""))
        if made is not None:
            return made(self.rng)
        least = schema.get("minLength", 0)
        length = max(least, min(schema.get("maxLength", 12), max(least, 8)))
        return "".join(self.rng.choices(string.ascii_lowercase, k=length))

    def _integer(self, schema: dict[str, Any], depth: int) -> int:
        low, high = self._bounds(schema, 1)
        step = schema.get("multipleOf", 1)
        picked = self.rng.randint(int(-(-low // 1)), int(high // 1))
        return int(-(-picked // step) * step) if step > 1 else picked

    def _number(self, schema: dict[str, Any], depth: int) -> float:
        low, high = self._bounds(schema, 0.001)
        picked = round(self.rng.uniform(low, high), 3)
        return min(max(picked, low), high)

    def _bounds(self, schema: dict[str, Any], margin: float) -> tuple[float, float]:
        low = schema.get("minimum")
        high = schema.get("maximum")
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        # Draft 4 writes booleans here, later drafts numbers.
        if _is_number(above):
            low = max(above + margin, low if low is not None else above + margin)
        elif above is True and low is not None:
            low = low + margin
        if _is_number(below):
            high = min(below - margin, high if high is not None else below - margin)
        elif below is True and high is not None:
            high = high - margin
        if low is None:
            low = 0 if high is None or high >= 0 else high - 100
        return low, low + 100 if high is None else high


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _merged(first: dict[str, Any], second: Any) -> dict[str, Any]:
    if not isinstance(second, dict):
        return first
    merged = {**first, **second}
    if "properties" in first and "properties" in second:
        merged["properties"] = {**first["properties"], **second["properties"]}
    if "required" in first and "required" in second:
        merged["required"] = [*first["required"], *second["required"]]
    return merged


def _instant(rng: random.Random) -> datetime:
    return _EPOCH + timedelta(seconds=rng.randrange(0, 300 * 86400))


def _date(rng: random.Random) -> str:
    found: date = _instant(rng).date()
    return found.isoformat()


_FORMATS: dict[str, Callable[[random.Random], str]] = {
    "date-time": lambda rng: _instant(rng).isoformat().replace("+00:00", "Z"),
    "date": _date,
    "time": lambda rng: _instant(rng).strftime("%H:%M:%SZ"),
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "email": lambda rng: f"{rng.choice(('ada', 'linus', 'grace'))}@example.com",
    "uri": lambda rng: f"https://example.com/{rng.randrange(10_000)}",
    "uri-reference": lambda rng: f"/items/{rng.randrange(10_000)}",
    "hostname": lambda rng: f"host{rng.randrange(100)}.example.com",
    "ipv4": lambda rng: f"192.0.2.{rng.randrange(1, 255)}",
    "ipv6": lambda rng: f"2001:db8::{rng.randrange(1, 65535):x}",
}
