"""The catalog in this process, over one registry for the tests of a module; each test finds it empty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.settings import Settings
from tests.http.messagecatalog.requests import CatalogClient


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CatalogClient]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('catalog')}/registry.db") as store:
        yield CatalogClient(create_app(store, Settings(allowed_hosts=("example.com",))))


@pytest.fixture
def catalog(opened: CatalogClient) -> CatalogClient:
    for kind in ("messagegroups", "schemagroups"):
        if opened.ask("GET", f"/{kind}").json:
            assert opened.ask("DELETE", f"/{kind}").status == 204
    return opened
