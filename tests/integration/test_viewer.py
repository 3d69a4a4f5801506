"""The requests of a catalog browser that runs as a page of another origin, as xregistry/viewer does.

It reads /model and /capabilities, then collections with filters and pages, then entities; segments of paths are encoded
as `encodeURIComponent` does it. A browser shows a page only what CORS lets it see: `Browser` below is as strict.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from postroom.cli.main import execute
from tests.http.running_service import serving

PAGE = "https://viewer.example"
ALWAYS_SEEN = {"cache-control", "content-language", "content-length", "content-type", "expires", "last-modified"}
ODD = "dock:status@1~a"


def segment(text: str) -> str:
    """As encodeURIComponent has it."""
    return quote(text, safe="!'()*-._~")


class Browser:
    """Sends simple GETs from a page, and keeps from it what a browser would keep."""

    def __init__(self, url: str) -> None:
        self.client = httpx.Client(
            base_url=url, headers={"Origin": PAGE, "Accept": "application/json, text/plain, */*"}
        )

    def ask(self, path: str, status: int = 200, method: str = "GET") -> httpx.Response:
        reply = self.client.request(method, path, follow_redirects=True)
        assert reply.status_code == status, (path, reply.text)
        assert reply.headers["access-control-allow-origin"] in ("*", PAGE), path
        seen = ALWAYS_SEEN | {one.strip().lower() for one in reply.headers["access-control-expose-headers"].split(",")}
        reply.headers = httpx.Headers([(name, value) for name, value in reply.headers.multi_items() if name in seen])
        return reply

    def pages(self, path: str) -> Iterator[dict[str, object]]:
        while path:
            reply = self.ask(path)
            yield reply.json()
            path = reply.links.get("next", {}).get("url", "")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    database = f"sqlite:///{tmp_path_factory.mktemp('viewer')}/registry.db"
    assert execute(["load", str(Path(__file__).parents[2] / "demo" / "catalog"), "--to", database]) == 0
    with serving(database, POSTROOM_CORS_ORIGINS=PAGE) as (_, url):
        httpx.put(f"{url}/messagegroups/{segment(ODD)}", json={"name": "Odd (1)"}).raise_for_status()
        yield Browser(url)


def test_the_address_is_tried_by_head_and_by_model(browser: Browser) -> None:
    browser.ask("/ping", 404, "HEAD")
    assert set(browser.ask("/model").json()["groups"]) == {"messagegroups", "schemagroups", "endpoints"}
    assert browser.ask("/capabilities").json()["pagination"] is False


def test_all_pages_from_the_model_down_to_the_document_are_there(browser: Browser) -> None:
    visited = 0
    for plural, kind in browser.ask("/model").json()["groups"].items():
        for group_id, group in browser.ask(f"/{plural}").json().items():
            assert group[kind["singular"] + "id"] == group_id
            home = f"/{plural}/{segment(group_id)}"
            assert browser.ask(home).json()["xid"] == f"/{plural}/{group_id}"
            for resources, resource_kind in kind["resources"].items():
                for resource_id in browser.ask(f"{home}/{resources}").json():
                    visit(browser, f"{home}/{resources}/{segment(resource_id)}", resource_kind)
                    visited += 1
    assert visited >= 30


def visit(browser: Browser, path: str, kind: dict[str, object]) -> None:
    """The page of a resource: its attributes, its Versions, each of them, and the document."""
    ending = "$details" if kind["hasdocument"] else ""
    shown = browser.ask(path + ending).json()
    versions = browser.ask(f"{path}/versions").json()
    assert shown["versionid"] in versions
    for version in versions:
        assert browser.ask(f"{path}/versions/{segment(version)}{ending}").json()["versionid"] == version
    if kind["hasdocument"]:
        document = browser.ask(path)
        assert document.content
        assert {"content-type", "xregistry-versionid"} <= document.headers.keys()


@pytest.mark.parametrize(
    ("path", "expression", "found"),
    [
        ("/messagegroups", "name=station*", {"station.alarms"}),
        ("/messagegroups", "name=Odd (1)*", {ODD}),
        ("/messagegroups", r"name=Odd\*", set()),
        ("/messagegroups/fleet.telemetry/messages", "name=trip*", {"vehicle.trip.started", "vehicle.trip.ended"}),
        ("/messagegroups/fleet.telemetry/messages", "name=*ended*,messageid=*trip*", {"vehicle.trip.ended"}),
    ],
)
def test_a_search_is_a_filter_with_wildcards(browser: Browser, path: str, expression: str, found: set[str]) -> None:
    assert set(browser.ask(f"{path}?filter={segment(expression)}").json()) == found


def test_pages_are_followed_by_the_link_header(browser: Browser) -> None:
    url = str(browser.client.base_url).rstrip("/")
    httpx.patch(f"{url}/capabilities", json={"pagination": True}).raise_for_status()
    pages = list(browser.pages("/messagegroups/fleet.telemetry/messages?limit=2"))
    httpx.patch(f"{url}/capabilities", json={"pagination": False}).raise_for_status()
    assert len(pages) == 3
    whole = browser.ask("/messagegroups/fleet.telemetry/messages").json()
    assert json.dumps({name: value for page in pages for name, value in page.items()}) == json.dumps(whole)


def test_nothing_is_seen_by_pages_that_no_setting_names(browser: Browser) -> None:
    reply = browser.client.get("/model", headers={"Origin": "https://other.example"})
    assert "access-control-allow-origin" not in reply.headers
