"""A store of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.store.interface import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/registry.db"
    url: str = request.getfixturevalue("postgres").registry()
    return url


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """A new registry."""
    with open_store(database) as opened:
        yield opened
