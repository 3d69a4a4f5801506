"""The graph: what leads where, in columns that do not overlap, bounded, and the same as a list."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page, expect

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.ui.entities.catalog_index import index_of
from postroom.ui.graph.catalog_graph import MOST_NODES, CatalogGraph
from postroom.ui.graph.graph_picture import NODE_HEIGHT, NODE_WIDTH, lay_out
from tests.ui.conftest import POSITION

Visit = Callable[..., Page]

FLEET = "/messagegroups/fleet.telemetry"
SCHEMA = "/schemagroups/fleet.schemas/schemas/position"


def graph_of(catalog: Catalog) -> CatalogGraph:
    return CatalogGraph(catalog.tree, index_of(catalog))


@pytest.mark.parametrize("xid", [POSITION, SCHEMA])
def test_around_a_thing_is_what_leads_to_it_and_from_it(demo_catalog: Catalog, xid: str) -> None:
    graph = graph_of(demo_catalog)
    assert graph.around(xid)
    assert set(graph.edges) == {("/endpoints/fleet.kafka", FLEET), (FLEET, POSITION), (POSITION, SCHEMA)}


def test_a_group_and_its_endpoint_have_the_same_messages_around_them(demo_catalog: Catalog) -> None:
    of_group, of_endpoint = graph_of(demo_catalog), graph_of(demo_catalog)
    assert of_group.around(FLEET)
    assert of_endpoint.around("/endpoints/fleet.kafka")
    assert set(of_group.edges) == set(of_endpoint.edges)
    assert len(of_group.nodes) == 13


@pytest.mark.parametrize(
    "xid", ["/messagegroups/none", "/", "x", f"{FLEET}/messages/none", "/schemagroups/a/schemas/b"]
)
def test_around_nothing_is_nothing(demo_catalog: Catalog, xid: str) -> None:
    assert not graph_of(demo_catalog).around(xid)


def test_folded_groups_lead_to_groups_of_schemas_and_unfolded_ones_to_messages(demo_catalog: Catalog) -> None:
    folded, unfolded = graph_of(demo_catalog), graph_of(demo_catalog)
    folded.everything([])
    assert (FLEET, "/schemagroups/fleet.schemas") in folded.edges
    assert folded.nodes[FLEET].folds
    unfolded.everything([FLEET])
    assert (FLEET, "/schemagroups/fleet.schemas") not in unfolded.edges
    assert {(FLEET, POSITION), (POSITION, SCHEMA)} <= set(unfolded.edges)
    assert not unfolded.nodes[FLEET].folds


def test_a_large_group_is_shown_in_part(tmp_path: Path) -> None:
    messages: dict[str, Any] = {f"m{number}": {"messageid": f"m{number}"} for number in range(1_000)}
    groups = {"large": {"messagegroupid": "large", "messages": messages}}
    file = tmp_path / "large.json"
    file.write_bytes(msgspec.json.encode({"specversion": "1.0-rc4", "messagegroups": groups}))
    graph = graph_of(open_catalog(str(file)))
    assert graph.around("/messagegroups/large")
    assert (len(graph.nodes), graph.more) == (MOST_NODES, 1_001 - MOST_NODES)


def test_no_node_is_on_another_one_and_all_are_in_the_picture(demo_catalog: Catalog) -> None:
    graph = graph_of(demo_catalog)
    graph.everything([FLEET, "/messagegroups/shop.orders"])
    picture = lay_out(graph.nodes.values(), graph.edges)
    places = sorted((one.x, one.y) for one in picture.nodes)
    assert all(b[0] != a[0] or b[1] - a[1] >= NODE_HEIGHT for a, b in itertools.pairwise(places))
    assert max(x for x, _ in places) + NODE_WIDTH <= picture.width
    assert max(y for _, y in places) + NODE_HEIGHT <= picture.height


def test_nothing_has_an_empty_picture() -> None:
    assert lay_out([], {}).nodes == []


def test_groups_unfold_and_nodes_lead_on_by_click(visit: Visit) -> None:
    page = visit("/ui/-/graph")
    expect(page.locator(".graph")).not_to_contain_text("Tyre pressures")
    page.click("[aria-label='Unfold Vehicle telemetry (6)']")
    expect(page.locator(".graph")).to_contain_text("Tyre pressures")
    page.click("[aria-label='Fold Vehicle telemetry (6)']")
    expect(page.locator(".graph")).not_to_contain_text("Tyre pressures")
    page.locator(".graph rect + text", has_text="The telemetry topic").click()
    expect(page.locator(".graph .focus")).to_contain_text("The telemetry topic")
    page.click(".graph .focus rect")
    assert page.inner_text("h1") == "The telemetry topic"


def test_the_graph_is_searched_and_walked_by_keyboard(visit: Visit) -> None:
    page = visit("/ui/-/graph")
    page.get_by_label("Find in it").fill("position")
    page.keyboard.press("Enter")
    hit = page.locator(".graph .node.hit", has_text="Position").first
    expect(hit).to_be_visible()
    hit.locator("a").first.focus()
    expect(page.locator(".graph .node.on", has_text="The telemetry topic")).to_be_visible()
    expect(page.locator(".graph .node.on", has_text="The order web hook")).to_have_count(0)
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/-/graph?xid=*vehicle.telemetry.position")


def test_the_list_has_what_the_picture_has(visit: Visit) -> None:
    page = visit(f"/ui/-/graph?xid={FLEET}")
    page.click("text=The same as a list")
    shown = {one.split(" · ")[0].partition(" (")[0] for one in page.locator(".graph title").all_text_contents()}
    assert set(page.locator(".outline a").all_inner_texts()) == shown
