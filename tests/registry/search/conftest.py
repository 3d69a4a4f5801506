"""A catalog of a shipping company in a store of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.registry.operations import import_document
from postroom.registry.search.field_list import FieldsPage, FieldsRequest, list_fields
from postroom.registry.search.search import SearchRequest, SearchResult, search
from postroom.store.interface import Store
from tests.registry.conftest import RegistryClient

CUSTOMER = {"type": "object", "properties": {"email": {"type": "string"}, "name": {"type": "string"}}}
ORDER = {"type": "object", "properties": {"total": {"type": "number"}, "customer": CUSTOMER}}
LINES = {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}}
PARCEL = {"type": "object", "properties": {"weight": {"type": "integer"}, "total": {"type": "string"}, "lines": LINES}}
CATALOG: dict[str, Any] = {
    "messagegroups": {
        "shop": {
            "name": "Shop",
            "description": "Events of the web shop",
            "messages": {
                "OrderPlaced": {
                    "name": "Order placed",
                    "description": "A customer in Zürich has placed an order",
                    "labels": {"team": "checkout", "tier": "gold"},
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {"type": {"value": "com.example.OrderPlaced"}, "tenantid": {"type": "string"}},
                    "dataschemaformat": "JsonSchema/draft-07",
                    "dataschemauri": "/schemagroups/shop/schemas/order",
                },
                "order.cancelled": {
                    "name": "Order cancelled",
                    "description": "Placed in error, order by order",
                    "dataschemaxid": "/schemagroups/shop/schemas/order/versions/1",
                },
            },
        },
        "depot": {
            "messages": {
                "parcel.packed": {
                    "name": "小包 packed",
                    "protocol": "KAFKA",
                    "protocoloptions": {"topic": "parcels"},
                    "dataschemaformat": "JsonSchema/draft-07",
                    "dataschema": {"type": "object", "properties": {"barcode": {"type": "string"}}},
                }
            }
        },
    },
    "schemagroups": {
        "shop": {
            "schemas": {
                "order": {"format": "JsonSchema/draft-07", "schema": ORDER},
                "parcel": {"format": "JsonSchema/draft-07", "schema": PARCEL},
            }
        }
    },
}
PLACED, CANCELLED = "/messagegroups/shop/messages/OrderPlaced", "/messagegroups/shop/messages/order.cancelled"
PACKED, SHOP = "/messagegroups/depot/messages/parcel.packed", "/messagegroups/shop"
ORDER_SCHEMA, PARCEL_SCHEMA = "/schemagroups/shop/schemas/order", "/schemagroups/shop/schemas/parcel"


class Searched(RegistryClient):
    """A registry that is searched."""

    def search(self, q: str = "", limit: int = 20, offset: int = 0, **facets: str) -> SearchResult:
        with self.store.read() as tx:
            return search(tx, SearchRequest(q=q, facets=facets, limit=limit, offset=offset))

    def find(self, q: str, **facets: str) -> list[str]:
        return [hit.xid for hit in self.search(q, **facets).hits]

    def fields(self, q: str = "", is_shared: bool = False, after: str = "", limit: int = 50) -> FieldsPage:
        with self.store.read() as tx:
            return list_fields(tx, FieldsRequest(q=q, is_shared=is_shared, after=after, limit=limit))


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    is_file = request.param == "sqlite"
    url = f"sqlite:///{tmp_path}/registry.db" if is_file else request.getfixturevalue("postgres").registry()
    with open_store(url) as opened:
        yield opened


@pytest.fixture
def registry(store: Store) -> Searched:
    with store.write() as tx:
        import_document(tx, CATALOG)
    return Searched(store)
