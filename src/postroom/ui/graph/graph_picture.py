"""Where the nodes of a graph in columns stand, so that edges cross little and are short."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from postroom.ui.graph.catalog_graph import GraphNode

NODE_WIDTH, NODE_HEIGHT = 180, 30
COLUMN_GAP, ROW_GAP = 56, 8
MARGIN = 4
HEADING = 34
SWEEPS = 4


class PlacedNode(msgspec.Struct, frozen=True):
    """A node with the corner where it begins."""

    node: GraphNode
    x: int
    y: int


class PlacedEdge(msgspec.Struct, frozen=True):
    """An edge as a curve, with what it counts and where that is written."""

    start: str
    end: str
    path: str
    count: int | None
    x: int
    y: int


class GraphPicture(msgspec.Struct, frozen=True):
    """A graph as a picture: the columns that it has with the places of their headings, its nodes and its edges."""

    columns: list[tuple[int, int]]
    nodes: list[PlacedNode]
    edges: list[PlacedEdge]
    width: int
    height: int


def lay_out(nodes: Iterable[GraphNode], edges: Mapping[tuple[str, str], int | None]) -> GraphPicture:
    """Place nodes column by column: in each of them by the mean of what they are connected with."""
    columns: dict[int, list[GraphNode]] = defaultdict(list)
    for node in sorted(nodes, key=lambda one: one.label.casefold()):
        columns[node.column].append(node)
    neighbours: dict[str, list[str]] = defaultdict(list)
    for start, end in edges:
        neighbours[start].append(end)
        neighbours[end].append(start)
    ranks = sorted(columns)
    _order(columns, ranks, neighbours)
    heights = _heights(columns, ranks, neighbours)
    lefts = {rank: MARGIN + position * (NODE_WIDTH + COLUMN_GAP) for position, rank in enumerate(ranks)}
    placed = [PlacedNode(node, lefts[rank], heights[node.id]) for rank in ranks for node in columns[rank]]
    where = {one.node.id: one for one in placed}
    return GraphPicture(
        [(rank, lefts[rank]) for rank in ranks],
        placed,
        [_edge(where[start], where[end], count) for (start, end), count in edges.items()],
        MARGIN + len(ranks) * (NODE_WIDTH + COLUMN_GAP) - COLUMN_GAP + MARGIN if ranks else 0,
        max(heights.values(), default=0) + NODE_HEIGHT + MARGIN,
    )


def _order(columns: dict[int, list[GraphNode]], ranks: list[int], neighbours: Mapping[str, list[str]]) -> None:
    """Bring nodes near to what they are connected with, from left to right and back."""
    for sweep in range(SWEEPS):
        for rank in ranks if sweep % 2 == 0 else ranks[::-1]:
            places = {node.id: place / len(column) for column in columns.values() for place, node in enumerate(column)}
            columns[rank].sort(key=lambda node: _mean([places[one] for one in neighbours[node.id]], places[node.id]))


def _heights(
    columns: dict[int, list[GraphNode]], ranks: list[int], neighbours: Mapping[str, list[str]]
) -> dict[str, int]:
    """The longest column goes from top to bottom; the others follow it, from the near ones to the far ones."""
    heights: dict[str, int] = {}
    if not ranks:
        return heights
    longest = max(ranks, key=lambda rank: len(columns[rank]))
    for rank in sorted(ranks, key=lambda one: abs(one - longest)):
        free = HEADING
        for node in columns[rank]:
            wanted = _mean([heights[one] for one in neighbours[node.id] if one in heights], free)
            heights[node.id] = free if rank == longest else max(free, round(wanted))
            free = heights[node.id] + NODE_HEIGHT + ROW_GAP
    return heights


def _mean(values: list[float] | list[int], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _edge(start: PlacedNode, end: PlacedNode, count: int | None) -> PlacedEdge:
    x1, y1 = start.x + NODE_WIDTH, start.y + NODE_HEIGHT // 2
    x2, y2 = end.x, end.y + NODE_HEIGHT // 2
    bend = (x2 - x1) // 2
    path = f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    return PlacedEdge(start.node.id, end.node.id, path, count, x2 - COLUMN_GAP // 2, y2 - 5)
