"""The message catalog's own change events (REPL-008, REPL-009)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.replication.changes.events import catalog_events_of, events_of
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient
from tests.replication.change_pages import read_changes

OVENS, HEATED = "/messagecatalog/ovens", "/messagecatalog/ovens/messagedefinitions/heated"
UPDATED, DELETED = (f"io.cloudevents.messagecatalog.{kind}.v1" for kind in ("updated", "deleted"))
NATIVE = "/messagegroups/ovens/messages/heated"


class Catalog(AsgiClient):
    """A service with a message catalog, whose events since the last time can be asked for."""

    def __init__(self, store: Store) -> None:
        super().__init__(create_app(store, Settings()))
        self.store = store
        self.seen = read_changes(store, "last", 1).cursor

    def events(self) -> list[dict[str, Any]]:
        page = read_changes(self.store, self.seen, 1000)
        self.seen = page.cursor
        with self.store.read() as tx:
            return [event for _, event in catalog_events_of(tx, page.changes, "https://source.example.com")]

    def told(self) -> list[tuple[str, str]]:
        return [(event["type"], event["subject"]) for event in self.events()]

    def post(self, celsius: str) -> None:
        document = {"attributes": {"type": "heated", "subject": celsius}}
        reply = self.ask("POST", HEATED, document, {"Content-Type": "application/json"})
        assert reply.status in (200, 201), reply.body


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        catalog = Catalog(store)
        assert catalog.ask("PUT", OVENS, {"format": "CloudEvents"}).status in (200, 201)
        yield catalog


@pytest.mark.feature("REPL-008")
def test_groups_definitions_and_versions_are_told(catalog: Catalog) -> None:
    assert catalog.told() == [(UPDATED, OVENS)]
    catalog.post("{celsius}")
    assert catalog.told() == [(UPDATED, OVENS), (UPDATED, HEATED), (UPDATED, f"{HEATED}/versions/1")]
    catalog.post("{fahrenheit}")
    assert catalog.told() == [(UPDATED, HEATED), (UPDATED, f"{HEATED}/versions/2")]
    catalog.ask("PATCH", NATIVE, {"description": "by another way"})
    assert catalog.told() == [(UPDATED, HEATED), (UPDATED, f"{HEATED}/versions/3")]
    for path in (OVENS, HEATED, f"{HEATED}/versions/3"):
        assert catalog.ask("GET", path).status == 200


@pytest.mark.feature("REPL-008")
def test_what_an_event_has_and_has_not(catalog: Catalog) -> None:
    catalog.post("{celsius}")
    events = catalog.events()
    for event in events:
        assert event["specversion"] == "1.0"
        assert event["source"] == "https://source.example.com"
        assert "data" not in event
        assert set(event) == {"specversion", "type", "source", "subject", "id", "time"}
    ids = {event["id"] for event in events}
    assert len(ids) == len(events)
    with catalog.store.read() as tx:
        native = {event["id"] for _, event in events_of(tx, tx.changes(0, 1000), "https://source.example.com")}
    assert native
    assert ids.isdisjoint(native)
    catalog.seen = ""
    assert catalog.events() == events


@pytest.mark.feature("REPL-008")
def test_the_time_is_the_one_that_is_recorded(catalog: Catalog) -> None:
    catalog.events()
    catalog.post("{celsius}")
    chosen = "2031-02-03T04:05:06Z"
    catalog.ask("PATCH", NATIVE, {"name": "n", "modifiedat": chosen})
    catalog.ask("PATCH", "/messagegroups/ovens", {"name": "n", "modifiedat": chosen})
    catalog.post("{fahrenheit}")
    by_subject: dict[str, list[str]] = {}
    for event in catalog.events():
        by_subject.setdefault(event["subject"], []).append(event["time"])
    assert by_subject[HEATED][1] == by_subject[f"{HEATED}/versions/2"][0] == by_subject[OVENS][-1] == chosen
    shown = catalog.ask("GET", HEATED).headers
    times = [value for name, value in shown.items() if "updatedtimeutc" in name]
    assert times == [by_subject[HEATED][-1]]


@pytest.mark.feature("REPL-009")
def test_what_goes_is_told_once(catalog: Catalog) -> None:
    catalog.post("{celsius}")
    catalog.post("{fahrenheit}")
    catalog.events()
    catalog.ask("DELETE", HEATED)
    events = catalog.events()
    assert [(event["type"], event["subject"]) for event in events] == [(DELETED, HEATED), (UPDATED, OVENS)]
    assert events[0]["time"] == events[1]["time"]
    assert "data" not in events[0]
    catalog.ask("DELETE", OVENS)
    assert catalog.told() == [(DELETED, OVENS)]


@pytest.mark.feature("REPL-008", "REPL-009")
def test_events_of_what_is_gone_do_not_borrow_from_what_has_its_name_now(catalog: Catalog) -> None:
    catalog.events()
    catalog.post("{celsius}")
    first = catalog.seen
    catalog.ask("DELETE", HEATED)
    catalog.post("{kelvin}")
    catalog.seen = first
    told = catalog.told()
    assert told.count((UPDATED, f"{HEATED}/versions/1")) == 1
    assert told.count((UPDATED, HEATED)) == 2


def test_nothing_else_is_of_the_catalog(catalog: Catalog) -> None:
    catalog.events()
    catalog.ask("PATCH", "/", {"name": "bakery"})
    catalog.ask("PUT", "/endpoints/e1", {"usage": ["producer"], "messages": {"own": {}}})
    catalog.ask("PATCH", "/messagegroups/ovens", {"deprecated": {}})
    assert catalog.told() == [(UPDATED, OVENS)]
