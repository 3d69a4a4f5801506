"""Circles of references that lead back to the same value: how many ways there are to walk around in them.

The validator stops when it meets a subschema again that it is busy with, but tries every way to get there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.formats.jsonschema.keywords import CHOICES, EVERY, FOLLOWERS, SINGLE, subschemas
from postroom.formats.jsonschema.referenced_documents import Documents
from postroom.formats.jsonschema.schema_addresses import Located


def same_value_circles(documents: Documents, start: Located) -> int:
    """By how many references the worst group of subschemas has more than it needs to be one circle."""
    graph = _Graph(documents, start)
    worst = 0
    for group in graph.groups():
        inner = sum(follower in group for node in group for follower in graph.followers[node])
        worst = max(worst, inner - len(group))
    return worst


class _Graph:
    """All subschemas that can be reached, and which of them judge the same value next."""

    def __init__(self, documents: Documents, start: Located) -> None:
        self.followers: dict[int, list[int]] = {}
        self._kept: list[Any] = []
        pending = [start]
        while pending:
            schema, base = pending.pop()
            if not isinstance(schema, dict) or id(schema) in self.followers:
                continue
            self._kept.append(schema)
            _, base = documents.enter(schema, base)
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
                        found.append(_taken_off(path, node))
                        on_path -= found[-1]
        return found


def _taken_off(path: list[int], node: int) -> set[int]:
    group = {path.pop()}
    while node not in group:
        group.add(path.pop())
    return group
