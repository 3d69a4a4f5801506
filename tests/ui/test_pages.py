"""Pages in a real browser: what people come for is there, by click and by keyboard, also without scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Response, expect

from tests.ui.conftest import POSITION, wait_for_parts

Visit = Callable[..., Page]

SCHEMA = "/schemagroups/fleet.schemas/schemas/tyres"
PATHS = (
    "/ui/",
    "/ui/messagegroups",
    "/ui/messagegroups/fleet.telemetry",
    f"/ui{POSITION}",
    "/ui/schemagroups/bicycles.schemas/schemas/repair",
    f"/ui{SCHEMA}",
    f"/ui{SCHEMA}/versions/1",
    "/ui/endpoints/fleet.kafka",
    "/ui/-/search?q=vehicle",
    "/ui/-/fields",
    "/ui/-/graph",
    f"/ui/-/graph?xid={SCHEMA}",
    "/ui/-/changes",
    "/ui/-/subscriptions",
    "/ui/-/account",
    "/ui/-/model",
    "/ui/-/settings",
    "/ui/-/api",
)
SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""
MOST_SHIFTED = 0.1
"""How much of a page may move while it loads, as browsers count it: more is what people notice."""
FORMS = ("/ui/-/try", f"/ui/-/compare?xid={SCHEMA}")


def test_from_the_first_page_to_an_example_by_click(visit: Visit) -> None:
    page = visit("/ui/")
    page.click("text=Vehicle telemetry")
    page.click("main >> text=Position")
    assert page.inner_text("h1") == "Position"
    record = page.locator("load-part pre").first
    assert '"ce_type": "com.harbour-mobility.vehicle.position"' in record.inner_text()
    page.fill("input[name='value.vin']", "WVW-77")
    with page.expect_response(lambda answer: "value.vin=WVW-77" in answer.url):
        page.press("input[name='value.vin']", "Enter")
    page.wait_for_selector("load-part pre:has-text('/vehicles/WVW-77')")
    assert urlsplit(page.url).path == f"/ui{POSITION}"


def test_another_example_is_another_one(visit: Visit) -> None:
    page = visit(f"/ui{POSITION}")
    before = page.locator("load-part pre").first.inner_text()
    with page.expect_response(lambda answer: "seed=2" in answer.url):
        page.click("text=Another one")
    expect(page.locator("load-part pre").first).not_to_have_text(before)


def test_a_definition_says_which_base_demands_what(visit: Visit) -> None:
    page = visit(f"/ui{POSITION}")
    rows = {row.locator("th").inner_text(): row.inner_text() for row in page.locator(".constraints tbody tr").all()}
    assert "/fleet/{depot}/vehicles/{vin}" in rows["source"]
    assert "vehicle.message" in rows["source"]
    assert "this definition" in rows["type"]
    assert "CloudEvents" in rows["specversion"]
    page.click(".constraints >> text=vehicle.message >> nth=0")
    assert page.inner_text("h1") == "Any message of a vehicle"
    page.click("aside >> text=Trip ended")
    assert page.inner_text("h1") == "Trip ended"


def test_the_members_of_a_payload_with_what_they_may_be(visit: Visit) -> None:
    page = visit(f"/ui{SCHEMA}")
    row = page.locator("[id='member-wheels.position']")
    assert "front-left" in row.inner_text()
    assert "required" in row.inner_text()
    assert "≥ 0.5" in page.locator("[id='member-wheels.pressure_bar']").inner_text()
    page.click("aside >> text=Tyre pressures")
    assert page.inner_text("h1") == "Tyre pressures"


def test_the_keyboard_leads_everywhere(visit: Visit) -> None:
    page = visit("/ui/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    link = page.locator("a.card", has_text="Vehicle telemetry")
    for _ in range(40):
        page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/messagegroups/fleet.telemetry")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_nothing_keeps_people_from_using_a_page_and_a_phone_shows_all_of_it(
    browser: Browser, pages: str, scheme: Any, width: int
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 844})
    page = context.new_page()
    for path in (*PATHS, *FORMS):
        page.goto(pages + path)
        wait_for_parts(page)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()


def test_a_first_visit_loads_little_from_nowhere_else_and_moves_nothing(browser: Browser, pages: str) -> None:
    for path in (*PATHS, *FORMS):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_init_script(SHIFTS)
        page = context.new_page()
        answers: list[Response] = []
        page.on("response", lambda answer, seen=answers: seen.append(answer))
        page.goto(pages + path)
        wait_for_parts(page)
        assert [one.url for one in answers if not one.url.startswith(pages + "/")] == [], path
        own = [one.request.sizes()["responseBodySize"] for one in answers if "/-/assets/" in one.url]
        assert 0 < sum(own) <= 100_000, path
        assert page.evaluate("window.shifted") < MOST_SHIFTED, path
        context.close()


def test_reading_needs_no_scripts(browser: Browser, pages: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{pages}/ui/")
    page.click("text=Vehicle telemetry")
    page.click("main >> text=Position")
    assert "speed_kmh" in page.inner_text("main")
    page.click("text=Make an example message")
    assert "com.harbour-mobility.vehicle.position" in page.inner_text("main")
    page.select_option("select[name=mode]", "structured")
    page.click("button[type=submit]")
    assert '"specversion"' in page.inner_text("main").replace("\\", "")
    context.close()


def test_the_graph_is_read_and_walked_without_scripts(browser: Browser, pages: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{pages}/ui/-/graph")
    page.click("[aria-label='Unfold Vehicle telemetry (6)']")
    expect(page.locator(".graph")).to_contain_text("Tyre pressures")
    page.get_by_label("Find in it").fill("position")
    page.click("main button:has-text('Find')")
    expect(page.locator(".graph .node.hit").first).to_contain_text("Position")
    page.click("text=The same as a list")
    page.locator(".outline a", has_text="Position").first.click()
    assert page.inner_text("h1") == "Position"
    context.close()


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_small_and_names_the_same_for_programs(pages: str, path: str) -> None:
    with httpx.Client(base_url=pages) as client:
        answer = client.get(path)
        names = {one.split('"')[0] for one in answer.text.split('"/ui/-/assets/')[1:]}
        sizes = [
            len(client.get(f"/ui/-/assets/{name}", headers={"accept-encoding": "identity"}).content) for name in names
        ]
        assert len(names) == 3
        assert sum(sizes) < 100_000
        twin = answer.text.split('type="application/json"')[0].rpartition('href="')[2].split('"')[0]
        assert client.get(twin).json() is not None
