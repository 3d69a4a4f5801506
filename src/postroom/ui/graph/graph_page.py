"""The page of the graph: around one thing, or the whole catalog as groups that unfold."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem
from postroom.ui.entities.catalog_index import index_of
from postroom.ui.graph.catalog_graph import ENDPOINT, GROUP, TABLE, CatalogGraph, GraphNode
from postroom.ui.graph.graph_picture import NODE_HEIGHT, NODE_WIDTH, PlacedNode, lay_out
from postroom.ui.lake.lake_commands import LakeUnreadable, ask_lake
from postroom.ui.page import PageRequest

HERE = "/-/graph"
LONGEST_LABEL = 23
MOST_OPEN = 20


def answer_graph(page: PageRequest) -> Response:
    """The graph as a picture, and the same as nested lists."""
    xid, words = page.query.get("xid", ""), page.query.get("q", "").strip()
    opened = list(dict.fromkeys(page.query.get("open", "").split()))[:MOST_OPEN]
    catalog = page.catalog
    graph = CatalogGraph(catalog.tree, index_of(catalog), _tables(page))
    if xid and not graph.around(xid):
        raise RegistryProblem("not_found", xid)
    if not xid:
        if words:
            opened = list(dict.fromkeys([*opened, *graph.owners_of(words)]))[:MOST_OPEN]
        graph.everything(opened)
    picture = lay_out(graph.nodes.values(), graph.edges)
    hits = {one.id for one in graph.nodes.values() if words and _is_hit(one, words)}
    on_path = _path(xid, graph.edges) if xid else set()
    query = page.request.query
    return page.render(
        "graph.html",
        here=HERE,
        xid=xid,
        words=words,
        opened=" ".join(opened),
        picture=picture,
        nodes=[_shown(page, one, opened, xid, hits, on_path) for one in picture.nodes],
        outline=_outline(page, graph),
        hit_count=len(hits),
        more=graph.more,
        width=NODE_WIDTH,
        height=NODE_HEIGHT,
        json_url=page.links.api(f"{xid}$details" if "/schemas/" in xid else xid or "/"),
        kept=not page.settings.lake and not query,
    )


def _tables(page: PageRequest) -> list[dict[str, Any]]:
    """The tables of the lake, for those who may see it; the graph has one column less without."""
    if not page.settings.lake or not page.request.permissions.sees_lake:
        return []
    try:
        (tables,) = ask_lake(page, ("tables",))
    except LakeUnreadable:
        return []
    return list(tables)


def _shown(
    page: PageRequest, placed: PlacedNode, opened: list[str], focus: str, hits: set[str], on_path: set[str]
) -> dict[str, Any]:
    node = placed.node
    size = f" ({node.size:,})" if node.size is not None else ""
    label = node.label + size
    classes = [name for name, holds in (("focus", node.id == focus), ("hit", node.id in hits)) if holds]
    if focus and node.id in on_path:
        classes.append("on")
    return {
        "id": node.id,
        "x": placed.x,
        "y": placed.y,
        "label": _shortened(node.label, LONGEST_LABEL - len(size) - 2 * (node.size is not None)) + size,
        "title": f"{label} · {node.id}",
        "url": _url(page, node, focus),
        "unfold": page.links.page(HERE, open=" ".join([*opened, node.id])) if node.folds else "",
        "fold": page.links.page(HERE, open=" ".join(one for one in opened if one != node.id))
        if node.id in opened
        else "",
        "classes": " ".join(classes),
    }


def _shortened(label: str, most: int) -> str:
    """The beginning of a name in words, and the end of one with dots: that is where those of a group differ."""
    if len(label) <= most:
        return label
    return label[: most - 1] + "…" if " " in label else "…" + label[1 - most :]


def _url(page: PageRequest, node: GraphNode, focus: str) -> str:
    if node.column == TABLE:
        return page.links.page("/-/lake/table", folder=node.id)
    return page.links.page(node.id) if node.id == focus else page.links.page(HERE, xid=node.id)


def _is_hit(node: GraphNode, words: str) -> bool:
    wanted = words.casefold()
    return wanted in node.label.casefold() or wanted in node.id.rpartition("/")[2].casefold()


def _path(focus: str, edges: dict[tuple[str, str], int | None]) -> set[str]:
    """What leads to a node, and what it leads to."""
    found = {focus}
    for forward in (True, False):
        following: dict[str, list[str]] = defaultdict(list)
        for start, end in edges:
            following[start if forward else end].append(end if forward else start)
        waiting = [focus]
        while waiting:
            for one in following[waiting.pop()]:
                if one not in found:
                    found.add(one)
                    waiting.append(one)
    return found


def _outline(page: PageRequest, graph: CatalogGraph) -> list[dict[str, Any]]:
    """The graph as nested lists: what each node leads to is below it, where it is first met."""
    below: dict[str, list[tuple[str, int | None]]] = defaultdict(list)
    has_parent = set()
    for (start, end), count in graph.edges.items():
        below[start].append((end, count))
        has_parent.add(end)

    def outlined(node_id: str, count: int | None) -> dict[str, Any]:
        node = graph.nodes[node_id]
        return {
            "url": page.links.page("/-/lake/table", folder=node_id)
            if node.column == TABLE
            else page.links.page(node_id),
            "label": node.label,
            "column": node.column,
            "count": count,
            "below": [outlined(*one) for one in below[node_id]],
        }

    roots = [one for one in graph.nodes.values() if one.id not in has_parent]
    roots.sort(key=lambda one: (one.column not in (ENDPOINT, GROUP), one.column, one.label.casefold()))
    return [outlined(one.id, None) for one in roots]
