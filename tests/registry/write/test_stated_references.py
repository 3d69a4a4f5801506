"""Schemas that state what they refer to: the attribute `references` of a Version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.catalog import open_catalog
from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

GROUP = "/schemagroups/shop"
ADDRESS = {"type": "record", "name": "Address", "namespace": "com.acme", "fields": [{"name": "city", "type": "string"}]}
ZIPPED = {**ADDRESS, "fields": [*ADDRESS["fields"], {"name": "zip", "type": "string"}]}  # type: ignore[misc]
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "to", "type": "com.acme.Address"}]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as opened:
        yield opened


@pytest.fixture
def client(store: Store) -> AsgiClient:
    return AsgiClient(create_app(store, Settings()))


def put(client: AsgiClient, name: str, form: str, document: Any, *references: tuple[str, str], **more: Any) -> Any:
    stated = [{"name": name, "xid": xid} for name, xid in references]
    body = {"format": form, "schema": document, **({"references": stated} if stated else {}), **more}
    return client.ask("PUT", f"{GROUP}/schemas/{name}$details", body)


def test_a_reference_leads_to_the_version_that_it_names_whatever_that_is_called(client: AsgiClient) -> None:
    put(client, "places-value", "Avro/1.11", ADDRESS, versionid="1")
    put(client, "places-value/versions/2", "Avro/1.11", ZIPPED)
    old = f"{GROUP}/schemas/places-value/versions/1"
    made = put(client, "orders-value", "Avro/1.11", ORDER, ("com.acme.Address", old))
    assert made.status == 201, made.json
    assert made.json["formatvalidated"] is True
    assert made.json["references"] == [{"name": "com.acme.Address", "xid": old}]


@pytest.mark.parametrize(
    ("form", "referred", "referring", "name"),
    [
        ("Avro/1.11", ADDRESS, ORDER, "com.acme.Address"),
        (
            "Protobuf/3",
            'syntax = "proto3"; message Address { string city = 1; }',
            'syntax = "proto3"; import "acme/address.proto"; message Order { Address to = 1; }',
            "acme/address.proto",
        ),
        (
            "JsonSchema/draft-07",
            {"type": "object", "required": ["city"]},
            {"type": "object", "properties": {"to": {"$ref": "https://acme.example/address.json"}}},
            "https://acme.example/address.json",
        ),
    ],
)
def test_names_of_every_format_are_found_through_references(
    client: AsgiClient, form: str, referred: Any, referring: Any, name: str
) -> None:
    put(client, "thing-7", form, referred)
    made = put(client, "order", form, referring, (name, f"{GROUP}/schemas/thing-7"))
    assert made.status == 201, made.json
    assert made.json["formatvalidated"] is True


def test_references_are_followed_from_one_schema_to_the_next(client: AsgiClient) -> None:
    country = {"type": "enum", "name": "com.acme.Country", "symbols": ["DE", "NL"]}
    place = {**ADDRESS, "fields": [{"name": "country", "type": "com.acme.Country"}]}
    put(client, "c", "Avro/1.11", country)
    put(client, "p", "Avro/1.11", place, ("com.acme.Country", f"{GROUP}/schemas/c"))
    made = put(client, "o", "Avro/1.11", ORDER, ("com.acme.Address", f"{GROUP}/schemas/p"))
    assert made.json["formatvalidated"] is True, made.json


def test_each_version_is_compared_with_what_it_refers_to_itself(client: AsgiClient) -> None:
    """The document stays the same and refers to another version, in which a member without default appears."""
    put(client, "p", "Avro/1.11", ADDRESS, versionid="1")
    put(client, "p/versions/2", "Avro/1.11", ZIPPED)
    old, new = (("com.acme.Address", f"{GROUP}/schemas/p/versions/{number}") for number in "12")
    put(client, "o", "Avro/1.11", ORDER, old, versionid="1", meta={"compatibility": "backward"})
    refused = put(client, "o/versions/2", "Avro/1.11", ORDER, new)
    assert refused.status == 400
    assert refused.json["type"].endswith("#compatibility_violation"), refused.json
    assert put(client, "o/versions/2", "Avro/1.11", ORDER, old).status == 201


def test_a_compiled_catalog_follows_references_too(client: AsgiClient, tmp_path: Path) -> None:
    put(client, "p", "JsonSchema/draft-07", {"type": "object", "required": ["city"]})
    order = {"type": "object", "properties": {"to": {"$ref": "address.json"}}}
    put(client, "o", "JsonSchema/draft-07", order, ("address.json", f"{GROUP}/schemas/p"))
    event = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "order"}}}
    group = {"messages": {"order": {**event, "dataschemaxid": f"{GROUP}/schemas/o"}}}
    assert client.ask("PUT", "/messagegroups/shop", group).status == 201
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "order"}
    catalog = open_catalog(f"sqlite:///{tmp_path}/registry.db")
    assert [catalog.match({**event, "data": {"to": to}}).outcome for to in ({"city": "Ulm"}, {})] == [
        "landed",
        "invalid",
    ]
