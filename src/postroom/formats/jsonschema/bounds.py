"""How much work a schema may cause: the number of subschemas that judge along one path of a payload.

Schemas that judge the same value many times over (`allOf` of references to `allOf` of references …) grow
exponentially; they are refused before a payload meets them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.jsonschema.addresses import REFERENCES, Located
from postroom.formats.jsonschema.documents import Documents
from postroom.formats.jsonschema.keywords import parts, same_value

MOST_JUDGEMENTS = 1_000_000
_BRANCHES = ("anyOf", "oneOf", "propertyNames", "contains")


class Work(msgspec.Struct, frozen=True):
    """Judgements along one path, and how often a recursive schema enters itself there."""

    judgements: int
    entries: int = 0


_LEAF = Work(1)
_AGAIN = Work(1, 1)


def work_of(documents: Documents, start: Located) -> Work:
    """The work of a schema; SchemaRefused when it is too much."""
    meter = _Meter(documents)
    pending = [start]
    while pending:
        # By hand, not by recursion: chains of references have no natural end.
        pending.extend(meter.step(pending))
    return meter.known(start[0])


def extent(documents: Documents) -> tuple[int, bool]:
    """How many values the documents hold, and whether there are alternatives in them."""
    size, branches = 0, False
    stack = list(documents.roots())
    while stack:
        node = stack.pop()
        size += 1
        if isinstance(node, dict):
            branches = branches or not node.keys().isdisjoint(_BRANCHES)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return size, branches


class _Meter:
    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.works: dict[int, Work] = {}
        self.opened: dict[int, tuple[list[Located], list[Located]]] = {}
        # Keeps what was looked up alive, so that an id() stays the name of one object.
        self.kept: list[Any] = []

    def known(self, schema: Any) -> Work:
        return self.works.get(id(schema), _AGAIN) if isinstance(schema, dict) else _LEAF

    def step(self, pending: list[Located]) -> list[Located]:
        """Open the newest pending schema, or close it when all it depends on is known."""
        schema, base = pending[-1]
        if not isinstance(schema, dict) or id(schema) in self.works:
            pending.pop()
            return []
        if id(schema) in self.opened:
            pending.pop()
            self.works[id(schema)] = self._closed(*self.opened[id(schema)])
            return []
        self.kept.append(schema)
        same, below = self._parts(*self.documents.enter(schema, base))
        self.opened[id(schema)] = same, below
        return [part for part in (*same, *below) if id(part[0]) not in self.opened]

    def _parts(self, schema: dict[str, Any], base: str) -> tuple[list[Located], list[Located]]:
        same = [(part, base) for part in same_value(schema)]
        targets = (self.documents.follow(schema[name], base) for name in REFERENCES if name in schema)
        same.extend(target for target in targets if target is not None)
        return same, [(part, base) for part in parts(schema)]

    def _closed(self, same: list[Located], below: list[Located]) -> Work:
        here = [self.known(schema) for schema, _ in same]
        inside = [self.known(schema) for schema, _ in below]
        found = Work(
            1 + sum(work.judgements for work in here) + max((work.judgements for work in inside), default=0),
            sum(work.entries for work in here) + max((work.entries for work in inside), default=0),
        )
        if found.judgements > MOST_JUDGEMENTS:
            raise SchemaRefused(f"one payload could cause more than {MOST_JUDGEMENTS:,} judgements with this schema.")
        return found
