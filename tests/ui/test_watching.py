"""The log live, who is told of it, the model and the API: looking on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import DEMO_CATALOG
from tests.http.running_service import serving
from tests.ui.conftest import POSITION, Visitor, load

Visit = Callable[..., Page]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """A service that tests may change."""
    database = f"sqlite:///{tmp_path}/registry.db"
    load(database, DEMO_CATALOG)
    with serving(database, POSTROOM_SINK_HOSTS="127.0.0.1", POSTROOM_SINK_PRIVATE="true") as (_, url):
        yield url


def test_changes_show_as_they_happen_with_old_and_new_values(page: Page, service: str) -> None:
    visitor = Visitor(page, service)
    visitor.open("/ui/-/changes")
    expect(page.locator(".live")).to_have_text("New changes show as they happen.")
    assert httpx.patch(service + POSITION, json={"description": "Warm and wet."}).status_code == 200
    newest = page.locator(".fresh")
    expect(newest).to_contain_text("vehicle.telemetry.position")
    newest.locator("summary").click()
    expect(newest).to_contain_text("Where the vehicle is and how fast it moves.")
    expect(newest).to_contain_text("Warm and wet.")
    newest.locator("a").first.click()
    assert page.inner_text("h1") == "Position"
    visitor.check()


def test_history_tells_by_meaning_what_a_change_breaks_and_proves_it(page: Page, service: str) -> None:
    visitor = Visitor(page, service)
    body = {
        "envelopemetadata": {
            "type": {"value": "com.harbour-mobility.vehicle.position"},
            "subject": {"type": "uritemplate", "value": "trips/{trip}", "required": True},
        }
    }
    assert httpx.patch(service + POSITION, json=body).status_code == 200
    visitor.open(f"/ui{POSITION}")
    section = page.locator("section", has=page.locator("#history"))
    expect(section).to_contain_text("breaking for producers")
    expect(section).to_contain_text("A message that fitted before and does not fit now")
    expect(section).to_contain_text("/envelopemetadata/subject is missing")
    section.locator("select[name=from]").select_option("2")
    expect(section).to_contain_text("These are the same state.")
    visitor.check()


def test_older_changes_are_on_further_pages(visit: Visit) -> None:
    page = visit("/ui/-/changes")
    first = page.locator(".what code").first.inner_text()
    page.click("text=Older")
    expect(page.locator(".what code").first).not_to_have_text(first)
    page.click("text=Newest")
    expect(page.locator(".what code").first).to_have_text(first)


def test_a_deleted_entity_stays_in_the_log_and_its_page_is_not_there(page: Page, service: str) -> None:
    assert httpx.delete(service + POSITION).status_code == 204
    page.goto(f"{service}/ui/-/changes?xid={POSITION}")
    expect(page.locator(".what li").first).to_contain_text("deleted")
    answer = page.goto(f"{service}/ui{POSITION}")
    assert answer is not None
    assert answer.status == 404
    assert page.inner_text("h1") == "There is nothing here"


def test_subscriptions_and_their_deliveries(page: Page, service: str) -> None:
    visitor = Visitor(page, service)
    visitor.open("/ui/-/subscriptions")
    expect(page.locator("main")).to_contain_text("Nobody is told of changes yet.")
    hook = {"sink": "http://127.0.0.1:1/hook", "protocol": "HTTP"}
    assert httpx.post(f"{service}/subscriptions", json=hook).status_code == 201
    visitor.open("/ui/-/subscriptions")
    expect(page.locator(".rows")).to_contain_text("http://127.0.0.1:1/hook")
    expect(page.locator(".rows .badge").first).to_have_text("not agreed to yet")
    visitor.check()


def test_the_model_as_tables(visit: Visit) -> None:
    page = visit("/ui/-/model")
    section = page.locator("main section", has=page.locator("h2", has_text="/messagegroups/messages"))
    section.locator("summary").first.click()
    expect(page.locator("main")).to_contain_text("dataschemaxid")
    page.click("nav.tabs >> text=Settings")
    expect(page.locator("tr", has_text="POSTROOM_OIDC_CLIENT_SECRET")).to_contain_text("empty")


def test_an_operation_that_reads_is_tried(visit: Visit) -> None:
    page = visit("/ui/-/api")
    operation = page.locator("details.operation", has_text="/messagegroups/{messagegroupid}").first
    operation.locator("summary").click()
    operation.locator("input[name=messagegroupid]").fill("fleet.telemetry")
    operation.locator("button").click()
    expect(operation.locator("pre")).to_contain_text('"xid": "/messagegroups/fleet.telemetry"')
