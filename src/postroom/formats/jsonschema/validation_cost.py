"""The cost of validating a payload, estimated beforehand.

The validator holds the interpreter while it works, so that nothing else in the process goes on: how long that may last
is bounded here. A unit is about what one plain keyword takes, some 50 nanoseconds.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.jsonschema.unreadable_payloads import inside
from postroom.formats.jsonschema.work_bounds import SchemaWork, work_of
from postroom.formats.regex_cost import backtracks, repeats_groups, states

# What the validator may do in one go: about a second.
MOST_UNITS = 20_000_000
# Below this nothing is counted.
_FEW_UNITS = 1_000_000
# So few bytes that pairs of its items are few.
_FEW_PAIRS = 2_000
_BYTES_OF_A_UNIT = 16
# What a pattern with look-around or back references costs for a text, and what where it repeats groups, which it
# does in as many ways as we let it try.
_BACKTRACKING = 2_000
_REPEATING = 130_000
_LARGE_INTEGERS = re.compile(rb"\d{19,}")


class ValidationCost(msgspec.Struct, frozen=True):
    """The units that one value costs, how often the schema enters itself at every level, and whether items are compared
    in pairs."""

    units: int
    entries: int
    unique: bool

    @property
    def cheap_length(self) -> int:
        """The length up to which payloads cannot cost much, whatever is in them."""
        return min(_FEW_UNITS // self.units, _FEW_PAIRS if self.unique else _FEW_UNITS) if self.entries <= 1 else 0

    def affordable(self, payload: bytes, value: Any) -> bool:
        """Whether the validator may validate a payload in one go."""
        if len(payload) <= self.cheap_length:
            return True
        units = self.units * self._size(payload)
        return units <= MOST_UNITS and (self.entries <= 1 or self._shallow(units, value))

    def _size(self, payload: bytes) -> int:
        values = 1 + payload.count(b",") + payload.count(b"{") + payload.count(b"[")
        large = [len(digits) for digits in _LARGE_INTEGERS.findall(payload)]
        # Large integers are compared digit by digit, after a division for each; items that must differ, in pairs.
        digits = sum(length * length // 500 for length in large)
        pairs = 12 * len(large) ** 2 if self.unique else 0
        return values + len(payload) // _BYTES_OF_A_UNIT + digits + pairs

    def _shallow(self, units: int, value: Any) -> bool:
        """Whether all paths through a schema that enters itself several times are few enough."""
        level = [value]
        while units <= MOST_UNITS:
            level = inside(level)
            if not level:
                return True
            units *= self.entries
        return False


def estimate_cost(documents: DocumentSet, start: Located, work: SchemaWork) -> ValidationCost:
    """Estimate the cost of values with a schema whose work is known."""
    weights = [keyword_cost(node) for node in documents.nodes()]
    units = work.judgements if max(weights, default=1) == 1 else work_of(documents, start, keyword_cost).judgements
    return ValidationCost(units, work.entries, any(node.get("uniqueItems") is True for node in documents.nodes()))


def keyword_cost(schema: dict[str, Any]) -> int:
    """The units that the keywords of one subschema cost for each value, without its subschemas."""
    listed = sum(
        len(schema[name]) // 8
        for name in ("required", "enum", "properties", "dependentRequired")
        if isinstance(schema.get(name), list | dict)
    )
    patterns = schema.get("patternProperties")
    names = list(patterns) if isinstance(patterns, dict) else []
    texts = [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
    return (
        1
        + listed
        + len(names)
        + sum(_BYTES_OF_A_UNIT * states(text) + _backtracking(text) for text in (*names, *texts))
        + division_cost(schema.get("multipleOf"))
    )


def _backtracking(pattern: str) -> int:
    if not backtracks(pattern):
        return 0
    return _REPEATING if repeats_groups(pattern) else _BACKTRACKING


def division_cost(multiple: Any) -> int:
    """The units that dividing by a number costs: fractions are divided exactly."""
    if not isinstance(multiple, float) or multiple.is_integer():
        return 0
    return 40 if multiple > 1e-9 else 2_000
