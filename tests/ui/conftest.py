"""A service with the demonstration catalog and its pages, and a browser that notices what pages must not do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, expect

from postroom.catalog.open_store import open_store
from postroom.catalog.sources import read_source
from postroom.registry.operations import import_document
from postroom.settings import Settings
from tests.browser import browser, page
from tests.conftest import DEMO_CATALOG
from tests.http.running_service import locate, serving

__all__ = ["browser", "page"]

POSITION = "/messagegroups/fleet.telemetry/messages/vehicle.telemetry.position"


def load(database: str, *sources: Path) -> None:
    """Put catalogs into a registry that is not served yet."""
    with open_store(locate(database)) as store, store.write() as tx:
        for source in sources:
            import_document(tx, read_source(str(source), Settings()))


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a service that nobody changes."""
    database = f"sqlite:///{tmp_path_factory.mktemp('pages')}/registry.db"
    load(database, DEMO_CATALOG)
    with serving(database) as (_, url):
        yield url


def wait_for_parts(page: Page) -> None:
    """Wait until what loads on its own is there."""
    page.wait_for_load_state("load")
    expect(page.locator("[aria-busy]")).to_have_count(0, timeout=20_000)


class Visitor:
    """Somebody with a browser, who sees to it that pages load nothing of others and break no policy."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.complaints: list[str] = []
        self.requested: list[str] = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._asked)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, request: Request) -> None:
        self.requested.append(request.url)

    def open(self, path: str, status: int = 200) -> Page:
        """Go to a page, and wait until all of its parts are there."""
        answer = self.page.goto(self.base + path)
        assert answer is not None
        assert answer.status == status, path
        wait_for_parts(self.page)
        return self.page

    def check(self) -> None:
        """Nothing was loaded from elsewhere, and nothing was refused or failed."""
        assert self.complaints == []
        assert [url for url in self.requested if not url.startswith(self.base + "/")] == []


@pytest.fixture
def visit(page: Page, pages: str) -> Iterator[Callable[..., Page]]:
    """Opens pages; at the end of the test everything they did has to have been right."""
    visitor = Visitor(page, pages)
    yield visitor.open
    visitor.check()
