"""The catalog over an empty registry, in this process."""

from __future__ import annotations

import pytest

from postroom.http.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.messagecatalog.desk import CatalogDesk


@pytest.fixture
def catalog(store: Store) -> CatalogDesk:
    return CatalogDesk(create_app(store, Settings()))
