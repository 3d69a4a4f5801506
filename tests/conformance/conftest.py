"""A registry of its own for each test, empty, spoken to in HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from tests.registry.http_client import Wire

FILES: dict[str, Any] = {"singular": "file", "attributes": {"*": {"type": "any"}}}
PAGES: dict[str, Any] = {"singular": "page", "hasdocument": False, "attributes": {"*": {"type": "any"}}}


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    with open_store(f"sqlite:///{tmp_path}/registry.db", "none") as store:
        opened = Wire(store)
        yield opened
        opened.close()


@pytest.fixture
def dirs(wire: Wire) -> Wire:
    """With `files`, that have documents, and `pages`, that have none."""
    wire.ok(
        "PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir", "resources": {"files": FILES, "pages": PAGES}}}}
    )
    return wire
