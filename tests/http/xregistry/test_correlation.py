"""Every write says by which id its events can be told."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

HEADER = "xregistry-xregcorrelationid"
OVEN = "/messagegroups/ovens"


@pytest.fixture
def asgi(store: Store) -> AsgiClient:
    return AsgiClient(create_app(store, Settings(correlation_header="always", cors_origins=("*",))))


@pytest.mark.feature("EVT-006", "EVT-007")
@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("PUT", OVEN, {}),
        ("PATCH", "/", {"name": "bakery"}),
        ("POST", "/", {"messagegroups": {"mixers": {}}}),
        ("POST", f"{OVEN}/messages/heated", {}),
        ("PUT", "/schemagroups/s/schemas/doc$details", {"format": "Avro/1.12.0", "schema": {"type": "string"}}),
        ("PUT", "/capabilities", {"pagination": True}),
        ("PUT", "/modelsource", {"groups": {"messagegroups": {"singular": "messagegroup"}}}),
    ],
)
def test_a_write_names_its_events(asgi: AsgiClient, store: Store, method: str, target: str, body: Any) -> None:
    with store.read() as tx:
        before = tx.last_change()
    reply = asgi.ask(method, target, body)
    assert reply.status in (200, 201), reply.json
    with store.read() as tx:
        rows = tx.changes(before.sequence if before else 0, 100)
    assert {row.correlation for row in rows} == {reply.headers[HEADER]}
    assert reply.headers[HEADER]


@pytest.mark.feature("EVT-006", "EVT-007")
def test_deleting_has_one_too_and_no_two_are_the_same(asgi: AsgiClient) -> None:
    ids = [asgi.ask("PUT", OVEN, {}).headers[HEADER], asgi.ask("DELETE", OVEN).headers[HEADER]]
    ids += [asgi.ask("PUT", OVEN, {}).headers[HEADER] for _ in range(20)]
    assert len({one.lower() for one in ids}) == len(ids)


def test_what_reads_or_fails_has_none_and_clients_cannot_choose_it(asgi: AsgiClient) -> None:
    assert HEADER not in asgi.ask("GET", "/").headers
    assert HEADER not in asgi.ask("PUT", OVEN, {"name": 5}).headers
    assert asgi.ask("PUT", OVEN, {}, {HEADER: "mine"}).problem == "extra_xregistry_header"


def test_pages_of_origins_that_may_write_may_see_it(store: Store) -> None:
    page = "https://ui.example"
    asgi = AsgiClient(create_app(store, Settings(correlation_header="always", cors_origins=(page,))))
    reply = asgi.ask("PUT", OVEN, {}, {"Origin": page})
    assert HEADER in reply.headers
    assert HEADER in reply.headers["access-control-expose-headers"].lower()
