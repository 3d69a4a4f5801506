from __future__ import annotations

import pytest

from tests.http.requests import AsgiClient
from tests.http.v0_5.requests import EVENT, JSON_SCHEMA, TEXT_SCHEMA, V05Client


@pytest.fixture
def v0_5(asgi: AsgiClient) -> V05Client:
    return V05Client(asgi)


@pytest.fixture
def ovens(v0_5: V05Client) -> V05Client:
    """A group of definitions with one in it."""
    group = {"id": "ovens", "name": "Ovens", "format": "CloudEvents/1.0"}
    assert v0_5.post("/definitionGroups", group).status == 201
    assert v0_5.post("/definitionGroups/ovens/definitions", {"id": "oven.hot", **EVENT}).status == 201
    return v0_5


@pytest.fixture
def notes(v0_5: V05Client) -> V05Client:
    """A group of schemas with one in it."""
    assert v0_5.post("/schemaGroups", {"id": "payloads", "name": "Payloads"}).status == 201
    made = v0_5.ask("POST", "/schemaGroups/payloads/schemas", TEXT_SCHEMA, {"Registry-id": "note", **JSON_SCHEMA})
    assert made.status == 201, made.body
    return v0_5
