"""`/-/search` and `/-/fields` over HTTP: parameters, refusals, every write path."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from postroom.registry.operations import import_document
from postroom.store.interface import Store
from tests.http.requests import AsgiClient
from tests.registry.search.conftest import CATALOG, ORDER_SCHEMA, PLACED, SHOP


@pytest.fixture
def shop(asgi: AsgiClient, store: Store) -> AsgiClient:
    with store.write() as tx:
        import_document(tx, CATALOG)
    return asgi


def find(asgi: AsgiClient, q: str, **facets: str) -> list[str]:
    flags = "".join(f"&{name}={quote(value)}" for name, value in facets.items())
    return [hit["xid"] for hit in asgi.ask("GET", f"/-/search?q={quote(q)}{flags}").json["hits"]]


def test_hits_facets_and_highlights_are_json(shop: AsgiClient) -> None:
    found = shop.ask("GET", "/-/search?q=gold&kind=messages").json
    assert found["total"] == 1
    assert found["is_complete"] is True
    (hit,) = found["hits"]
    assert (hit["xid"], hit["name"], hit["envelope"]) == (PLACED, "Order placed", "CloudEvents/1.0")
    assert hit["highlights"] == [{"path": "labels.tier", "text": "gold", "marks": [[0, 4]], "is_property": False}]
    assert found["facets"]["group"] == [{"value": SHOP, "count": 1}]
    (field,) = shop.ask("GET", "/-/fields?shared=true&q=total").json["fields"]
    assert (field["path"], field["schemascount"], field["messagescount"]) == ("total", 2, 2)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("/-/search?q=a&colour=red", "colour is no parameter"),
        ("/-/search?q=a&limit=1000", "from 1 to 100"),
        ("/-/search?q=a&limit=-1", "must be a number"),
        ("/-/search?q=a&offset=x", "must be a number"),
        (f"/-/search?q={'a' * 2000}", "at most 1,000"),
        ("/-/fields?shared=perhaps", "true or false"),
        ("/-/fields?limit=1000", "from 1 to 200"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_reason(shop: AsgiClient, target: str, reason: str) -> None:
    refused = shop.ask("GET", target)
    assert refused.status == 400
    assert reason in refused.json["title"]


def test_only_get_and_only_below_the_dash(shop: AsgiClient) -> None:
    assert shop.ask("POST", "/-/search?q=a", {}).status == 405
    assert shop.ask("GET", "/search?q=a").status == 404
    assert shop.ask("GET", "/-/search?q=%FF%00%EF%BF%BF%F0%9F%9A%9A").status == 200
    assert shop.ask("GET", "/-/search").json["total"] == 8
    assert shop.ask("GET", "/-/search?q=%3Cscript%3E").json["hits"] == []


NATIVE: tuple[str, str, Any] = ("PUT", f"{SHOP}/messages/wombat", {"name": "Wombat seen"})
WRITES: list[tuple[str, str, Any]] = [
    NATIVE,
    ("PATCH", f"{SHOP}/messages/wombat", {"name": "Wombat seen"}),
    ("POST", f"{SHOP}/messages", {"wombat": {"name": "Wombat seen"}}),
    ("POST", "/", {"messagegroups": {"shop": {"messages": {"wombat": {}}}}}),
    ("PATCH", "/", {"messagegroups": {"shop": {"messages": {"wombat": {}}}}}),
    ("PUT", f"{SHOP}/messages/wombat/versions/7", {"name": "Wombat seen"}),
    ("PUT", f"{SHOP}/messages/wombat?specversion=1.0-rc3", {"name": "Wombat seen"}),
    ("POST", "/v0.5/definitionGroups", {"id": "wombat", "format": "CloudEvents/1.0"}),
    ("PUT", "/messagecatalog/wombat", {"format": "CloudEvents"}),
    ("POST", "/confluent/subjects/wombat-value/versions", {"schema": '{"type": "string"}'}),
    ("PUT", "/messagegroups/wombat", {}),
    ("PUT", "/schemagroups/shop/schemas/seen", '{"properties": {"wombat": {}}}'),
]


@pytest.mark.parametrize(("method", "target", "body"), WRITES, ids=lambda one: str(one)[:50])
def test_what_is_written_by_any_api_is_found_at_once(shop: AsgiClient, method: str, target: str, body: Any) -> None:
    if isinstance(body, str):
        target, body = f"{target}$details", {"format": "JsonSchema/draft-07", "schema": {"properties": {"wombat": {}}}}
    assert find(shop, "wombat") == []
    assert shop.ask(method, target, body).status in (200, 201)
    (found,) = find(shop, "wombat")
    assert shop.ask("GET", found).status == 200
    assert shop.ask("DELETE", found).status == 204
    assert find(shop, "wombat") == []


def test_a_kept_answer_is_not_given_after_a_write(shop: AsgiClient) -> None:
    for _ in range(3):
        assert find(shop, "wombat") == []
    shop.ask(*NATIVE)
    assert len(find(shop, "wombat")) == 1
    assert find(shop, "email") == [ORDER_SCHEMA]


def test_a_nul_is_stored_and_asked_for_on_every_database(shop: AsgiClient) -> None:
    schema = {"type": "object", "properties": {"wom\0bat": {"type": "string"}}}
    assert shop.ask("PUT", f"{SHOP}/messages/odd", {"name": "od\0d", "protocol": "Pigeon\0/1"}).status == 201
    assert shop.ask("PATCH", f"{SHOP}/messages/odd", {"dataschemaformat": "JsonSchema/draft-07"}).status == 200
    assert shop.ask("PATCH", f"{SHOP}/messages/odd", {"dataschema": schema}).status == 200
    assert find(shop, "odd", protocol="Pigeon\0/1") == [f"{SHOP}/messages/odd"]
    (field,) = shop.ask("GET", "/-/fields?q=wom&after=a%00").json["fields"]
    assert field["path"] == "wom\ufffdbat"
