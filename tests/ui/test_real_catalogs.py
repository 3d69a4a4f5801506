"""Catalogs that others wrote: their pages are there, and what people come for works on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.http.running_service import serving
from tests.ui.conftest import Visitor, load

CATALOGS = (
    "derived/google-cloudevents.xreg.json",
    "real-time-sources/digitraffic_maritime.xreg.json",
    "forza-telemetry-bridge/xregistry/forza-telemetry.xreg.json",
)
VESSEL = "/messagegroups/fi.digitraffic.marine.ais/messages/fi.digitraffic.marine.ais.VesselLocation"
CHANNEL = "/messagegroups/ForzaMotorsport.Telemetry/messages/ForzaMotorsport.Telemetry.Channel"
ARCHIVED = "/messagegroups/google.events.cloud.storage.v1/messages/google.cloud.storage.object.v1.archived"


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    database = f"sqlite:///{tmp_path_factory.mktemp('real')}/registry.db"
    load(database, *(shared / "catalogs" / name for name in CATALOGS))
    with serving(database) as (_, url):
        yield url


@pytest.fixture
def visit_real(page: Page, real: str) -> Iterator[Callable[..., Page]]:
    visitor = Visitor(page, real)
    yield visitor.open
    visitor.check()


@pytest.mark.parametrize(("xid", "member"), [(VESSEL, "mmsi"), (CHANNEL, "ChannelId"), (ARCHIVED, "contentType")])
def test_a_message_is_found_explained_and_made(visit_real: Callable[..., Page], xid: str, member: str) -> None:
    page = visit_real("/ui/")
    page.keyboard.press("/")
    page.keyboard.type(xid.rpartition("/")[2])
    page.keyboard.press("Enter")
    page.locator(f"#results a[href$='{xid}']").first.click()
    page.wait_for_url(f"**{xid}")
    expect(page.locator("table.members")).to_contain_text(member)
    expect(page.locator("load-part pre").first).to_contain_text("protocol", timeout=20_000)


def test_an_example_is_tried_and_fits(visit_real: Callable[..., Page]) -> None:
    page = visit_real(f"/ui{VESSEL}")
    record = page.locator("load-part pre").first.inner_text()
    page.click("nav >> text=Try it")
    page.fill("#messages", record)
    page.click("button.main")
    expect(page.locator(".judged .badge").first).to_have_text("landed")


def test_the_graph_shows_who_carries_what(visit_real: Callable[..., Page]) -> None:
    page = visit_real(f"/ui{VESSEL}")
    page.click("text=Show in the graph")
    expect(page.locator(".graph .focus")).to_be_visible()
    assert page.locator(".graph .node").count() >= 4


@pytest.mark.parametrize("width", [1440, 390])
def test_every_page_fits_the_screen(page: Page, real: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    groups = [
        f"/ui/{plural}/{one}"
        for plural in ("endpoints", "messagegroups")
        for one in httpx.get(f"{real}/{plural}").json()
    ]
    for path in (
        "/ui/",
        "/ui/-/graph",
        "/ui/-/fields",
        *groups[::12],
        f"/ui{VESSEL}",
        f"/ui{CHANNEL}",
        f"/ui{ARCHIVED}",
    ):
        page.goto(real + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
