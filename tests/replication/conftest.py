"""A registry of directories, as the specification's samples have it, and the events that its changes give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.replication.changes.events import events_of
from postroom.store.interface import Store
from tests.registry.conftest import RegistryClient
from tests.replication.change_pages import read_changes

MODEL = {"groups": {"dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}}}}


class Office(RegistryClient):
    """A registry client whose last unit of work can be asked for its events."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.seen = ""
        self.events()

    def events(self) -> list[dict[str, Any]]:
        """What happened since this was asked last."""
        page = read_changes(self.store, self.seen, 10_000)
        self.seen = page.cursor
        with self.store.read() as tx:
            return [event for _, event in events_of(tx, page.changes, "https://office.example")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db", "none") as opened:
        yield opened


@pytest.fixture
def office(store: Store) -> Office:
    office = Office(store)
    office.put("/", {"modelsource": MODEL})
    office.events()
    return office
