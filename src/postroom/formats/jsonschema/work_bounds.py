"""Bounds on the work a schema may cause: the number of subschemas evaluated along one path of a payload.

Schemas that evaluate the same value many times over (`allOf` of references to `allOf` of references …) grow
exponentially; they are refused before the validator compiles them and before a payload meets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.jsonschema.keywords import CHOICES, EVERY, FOLLOWERS, SINGLE, UNEVALUATED, subschemas
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import Located

MOST_JUDGEMENTS = 1_000_000
# What the validator compiles for `unevaluated…` is a tree that shares nothing.
MOST_MARKS = 50_000
# A circle that can be left in few ways is walked in few ways.
_MOST_DETOURS = 6
_BRANCHES = ("anyOf", "oneOf", "propertyNames", "contains", *UNEVALUATED)

Cost = Callable[[dict[str, Any]], int]


class SchemaWork(msgspec.Struct, frozen=True):
    """The work for one value along one path: `judgements` of subschemas, `marks` more where `unevaluated…` evaluates
    them again, `tree` nodes for that, and `entries`, how often a recursive schema enters itself."""

    judgements: int
    entries: int = 0
    marks: int = 1
    tree: int = 1


class _Parts(msgspec.Struct, frozen=True):
    """The subschemas of a schema, by what they apply to: the same value (`choices` are evaluated again for
    `unevaluated…`), or members (of `single` one each, of `every` all)."""

    own: int
    choices: list[Located]
    followers: list[Located]
    single: list[Located]
    every: list[Located]
    unevaluated: bool

    def all(self) -> Iterable[Located]:
        return (*self.choices, *self.followers, *self.single, *self.every)


_LEAF = SchemaWork(1)
_AGAIN = SchemaWork(1, 1)


def work_of(documents: DocumentSet, start: Located, cost: Cost | None = None) -> SchemaWork:
    """The work of a schema; SchemaRefused when it is too much. With a `cost` of each subschema, the sum of those."""
    if cost is None and excess_cycles(documents, start) > _MOST_DETOURS:
        raise SchemaRefused(
            "its references lead one value around in too many circles.",
            remedy="Take out references that lead back to where they started without going into a member.",
        )
    meter = _Meter(documents, cost)
    pending = [start]
    while pending:
        # By hand, not by recursion: chains of references have no natural end.
        pending.extend(meter.step(pending))
    return meter.known(start[0])


def document_extent(documents: DocumentSet) -> tuple[int, bool]:
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
    def __init__(self, documents: DocumentSet, cost: Cost | None) -> None:
        self.documents = documents
        self.cost = cost
        self.works: dict[int, SchemaWork] = {}
        self.opened: dict[int, _Parts] = {}
        self.marks = 0
        # Keeps what was looked up alive, so that an id() stays the name of one object.
        self.kept: list[Any] = []

    def known(self, schema: Any) -> SchemaWork:
        return self.works.get(id(schema), _AGAIN) if isinstance(schema, dict) else _LEAF

    def step(self, pending: list[Located]) -> list[Located]:
        """Open the newest pending schema, or close it when all it depends on is known."""
        schema, base = pending[-1]
        if not isinstance(schema, dict) or id(schema) in self.works:
            pending.pop()
            return []
        if id(schema) in self.opened:
            pending.pop()
            self.works[id(schema)] = self._closed(self.opened[id(schema)])
            return []
        self.kept.append(schema)
        parts = self.opened[id(schema)] = self._parts(*self.documents.with_base(schema, base))
        return [part for part in parts.all() if id(part[0]) not in self.opened]

    def _parts(self, schema: dict[str, Any], base: str) -> _Parts:
        def located(names: tuple[str, ...]) -> list[Located]:
            return [(part, base) for part in subschemas(schema, names)]

        return _Parts(
            own=1 if self.cost is None else self.cost(schema),
            choices=located(CHOICES),
            followers=located(FOLLOWERS) + self.documents.targets(schema, base),
            single=located(SINGLE),
            every=located(EVERY),
            unevaluated=not schema.keys().isdisjoint(UNEVALUATED),
        )

    def _closed(self, parts: _Parts) -> SchemaWork:
        choices, followers, single, every = (
            [self.known(schema) for schema, _ in group]
            for group in (parts.choices, parts.followers, parts.single, parts.every)
        )
        inside = max((work.judgements for work in single), default=0) + sum(work.judgements for work in every)
        same = sum(work.judgements for work in (*choices, *followers))
        # Which members others have judged is found out by judging again with every choice, at every level.
        again = sum(work.judgements + work.marks for work in choices) + sum(work.marks for work in followers)
        marks = parts.own + again + (sum(work.judgements for work in every) if parts.unevaluated else 0)
        found = SchemaWork(
            parts.own + same + inside + (marks if parts.unevaluated else 0),
            sum(work.entries for work in (*choices, *followers, *every))
            + max((work.entries for work in single), default=0),
            marks,
            1 + sum(work.tree for work in (*choices, *followers)),
        )
        if self.cost is None:
            self._bound(found, parts.unevaluated)
        return found

    def _bound(self, found: SchemaWork, unevaluated: bool) -> None:
        if found.judgements > MOST_JUDGEMENTS:
            raise SchemaRefused(f"one payload could cause more than {MOST_JUDGEMENTS:,} judgements with this schema.")
        self.marks += found.tree if unevaluated else 0
        if self.marks > MOST_MARKS:
            raise SchemaRefused(
                f"its `unevaluatedProperties` and `unevaluatedItems` look at more than {MOST_MARKS:,} subschemas.",
                remedy="Use them once, at the outermost level.",
            )


def excess_cycles(documents: DocumentSet, start: Located) -> int:
    """How many more references than one cycle needs the worst group of mutually recursive subschemas has.

    The validator stops when it meets a subschema again that it is busy with, but tries every path there.
    """
    graph = _Graph(documents, start)
    worst = 0
    for group in graph.groups():
        inner = sum(follower in group for node in group for follower in graph.followers[node])
        worst = max(worst, inner - len(group))
    return worst


class _Graph:
    """All reachable subschemas, and which of them apply to the same value next."""

    def __init__(self, documents: DocumentSet, start: Located) -> None:
        self.followers: dict[int, list[int]] = {}
        self._kept: list[Any] = []
        pending = [start]
        while pending:
            schema, base = pending.pop()
            if not isinstance(schema, dict) or id(schema) in self.followers:
                continue
            self._kept.append(schema)
            _, base = documents.with_base(schema, base)
            same = [(part, base) for part in subschemas(schema, CHOICES + FOLLOWERS)]
            same += documents.targets(schema, base)
            self.followers[id(schema)] = [id(part) for part, _ in same if isinstance(part, dict)]
            pending += [*same, *((part, base) for part in subschemas(schema, SINGLE + EVERY))]

    def groups(self) -> list[set[int]]:
        """The subschemas that lead to each other (Tarjan's strongly connected components, by hand)."""
        found: list[set[int]] = []
        order: dict[int, int] = {}
        low: dict[int, int] = {}
        path: list[int] = []
        on_path: set[int] = set()
        for root in self.followers:
            work: list[tuple[int, Iterator[int]]] = [(root, iter(()))] if root not in order else []
            while work:
                node, rest = work.pop()
                if node not in order:
                    order[node] = low[node] = len(order)
                    path.append(node)
                    on_path.add(node)
                    rest = iter(self.followers[node])
                for follower in rest:
                    if follower not in order:
                        work += [(node, rest), (follower, iter(()))]
                        break
                    if follower in on_path:
                        low[node] = min(low[node], low[follower])
                else:
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[node])
                    if low[node] == order[node]:
                        found.append(_pop_group(path, node))
                        on_path -= found[-1]
        return found


def _pop_group(path: list[int], node: int) -> set[int]:
    group = {path.pop()}
    while node not in group:
        group.add(path.pop())
    return group
