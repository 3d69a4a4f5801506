"""Local assertions: the keywords of a subschema that hold no other schemas, validated one subschema at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from postroom.formats.jsonschema.compile_validator import ValidatorCompiler
from postroom.formats.jsonschema.validation_cost import division_cost
from postroom.formats.jsonschema.violations import gave_up
from postroom.formats.regex_cost import backtracks, states

_KEYWORDS = frozenset(
    (
        *("type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
        *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties"),
        *("required", "dependentRequired", "format", "contentEncoding", "contentMediaType"),
    )
)
# They look into members and items; all others need to know no more than how many there are, and their names.
_DEEP = frozenset(("enum", "const", "uniqueItems"))
_COMPILING = 20
_NANOSECONDS_OF_A_STEP = 2_000
# Members times keywords, of which all errors are asked for.
_MOST_ERRORS = 100_000


Spend = Callable[[int], None]


class PatternGaveUp(Exception):
    """A pattern hit its backtracking limit: the payload counts as invalid, wherever that was."""

    def __init__(self, kind: Any, text: str) -> None:
        super().__init__()
        self.kind = kind
        self.text = text


class LocalAssertions:
    """Validates values by the local keywords of subschemas; the cost is passed to `spend`. Threads may share it."""

    def __init__(self, compiler: ValidatorCompiler) -> None:
        self._compiler = compiler
        self._known: dict[int, tuple[dict[str, Any], Any]] = {}
        self._patterns: dict[str, Any] = {}

    def errors(self, schema: dict[str, Any], value: Any, spend: Spend) -> list[Any]:
        """The validator's errors of a value."""
        plain, validator = self._known.get(id(schema)) or self._compiled(schema, spend)
        if validator is None:
            return []
        spend(_steps(plain, value))
        hard = isinstance(value, str) and backtracks(str(plain.get("pattern", "")))
        fits = _timed(validator, value, spend) if hard else validator.is_valid(value)
        return [] if fits else _errors(validator, plain, value)

    def matches(self, pattern: str, name: str, spend: Spend) -> bool:
        """Whether a name fits a pattern."""
        if pattern not in self._patterns:
            self._patterns[pattern] = self._compiler.compile_assertions({"pattern": pattern})
        validator = self._patterns[pattern]
        spend(1 + _pattern_steps(pattern, name))
        if not backtracks(pattern):
            return bool(validator.is_valid(name))
        found = _timed(validator, name, spend)
        if not found:
            _errors(validator, {}, name)
        return found

    def _compiled(self, schema: dict[str, Any], spend: Spend) -> tuple[dict[str, Any], Any]:
        spend(_COMPILING)
        plain = dict(_plain(schema))
        found = self._known[id(schema)] = plain, self._compiler.compile_assertions(plain) if plain else None
        return found


def _timed(validator: Any, text: str, spend: Spend) -> bool:
    """Match a pattern of unpredictable cost, and spend the time it took."""
    began = time.thread_time_ns()
    found = bool(validator.is_valid(text))
    spend((time.thread_time_ns() - began) // _NANOSECONDS_OF_A_STEP)
    return found


def _plain(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in schema.items():
        if name in _KEYWORDS:
            yield name, value
        elif name == "dependencies" and isinstance(value, dict):
            lists = {key: wanted for key, wanted in value.items() if isinstance(wanted, list)}
            if lists:
                yield name, lists


def _errors(validator: Any, plain: dict[str, Any], value: Any) -> list[Any]:
    # Each error holds a copy of the value.
    copied = value if not plain.keys().isdisjoint(_DEEP) else _outline(value)
    length = len(value) if isinstance(value, dict | list) else 1
    wanted = sum(len(listed) for listed in plain.values() if isinstance(listed, list | dict))
    errors = validator.iter_errors(copied)
    found = list(errors) if length * wanted <= _MOST_ERRORS else [next(iter(errors))]
    for error in found:
        if gave_up(error.kind):
            raise PatternGaveUp(error.kind, value)
    return found


def _outline(value: Any) -> Any:
    if isinstance(value, dict):
        return dict.fromkeys(value)
    return [None] * len(value) if isinstance(value, list) else value


def _steps(plain: dict[str, Any], value: Any) -> int:
    if isinstance(value, str):
        return _pattern_steps(plain["pattern"], value) if "pattern" in plain else len(value) // 10_000
    if isinstance(value, list):
        large = sum(isinstance(item, int) and item.bit_length() > 60 for item in value) if "uniqueItems" in plain else 0
        return len(value) // 100 + large * large // 4
    if isinstance(value, int | float):
        digits = (value.bit_length() // 500) ** 2 if isinstance(value, int) else 0
        return digits + division_cost(plain.get("multipleOf")) // 40
    return len(plain["required"]) // 50 if isinstance(value, dict) and "required" in plain else 0


def _pattern_steps(pattern: str, text: str) -> int:
    return len(text) * (1 + states(pattern)) // 40
